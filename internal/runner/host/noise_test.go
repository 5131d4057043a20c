package host

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"os"
	"os/exec"
	"runtime"
	"syscall"
	"testing"
	"testing/fstest"
	"time"

	"assay"
)

// stat is a line of /proc/PID/stat of a process of that name, flags and ticks.
func stat(name, flags, user, system string) string {
	return "42 (" + name + ") S 1 42 42 0 -1 " + flags + " 115 0 0 0 " + user + " " + system + " 0 0 20 0 1 0 117360\n"
}

const (
	plain  = "4194304"
	kernel = "69238848" // with PF_KTHREAD
)

func TestParseProcess(t *testing.T) {
	for _, test := range []struct {
		stat string
		want process
	}{
		{stat("cat", plain, "7", "5"), process{ticks: 12}},
		{stat("a b) R 1 2 (c", plain, "7", "5"), process{ticks: 12}},
		{stat("", plain, "0", "0"), process{}},
		{stat("new\nline)", plain, "1", "0"), process{ticks: 1}},
		{stat("kworker/0:1", kernel, "0", "9"), process{ticks: 9, kernel: true}},
	} {
		if got, err := parseProcess(test.stat); err != nil || got != test.want {
			t.Errorf("%q: got %+v, %v; want %+v", test.stat, got, err, test.want)
		}
	}
	for _, text := range []string{
		"", "42 (cat) S 1", "42 cat S 1 42 42 0 -1 0 115 0 0 0 7 5",
		stat("x", "?", "7", "5"), stat("x", plain, "-7", "5"), stat("x", plain, "7", "999999999999999999"),
	} {
		if got, err := parseProcess(text); err == nil {
			t.Errorf("%q: got %+v, want an error", text, got)
		}
	}
}

func TestParseUsage(t *testing.T) {
	got, err := parseUsage("cpu  100 20 30 1000 40 5 6 7 50 0\ncpu0 1 2 3\n")
	if want := (usage{total: 1208, processes: 150, steal: 7}); err != nil || got != want {
		t.Errorf("got %+v, %v; want %+v", got, err, want)
	}
	for _, text := range []string{"", "cpu 1 2 3", "cpu0 1 2 3 4 5 6 7 8", "cpu 1 2 x 4 5 6 7 8", "cpu 9223372036854775807 2 3 4 5 6 7 8"} {
		if got, err := parseUsage(text); err == nil {
			t.Errorf("%q: got %+v, want an error", text, got)
		}
	}
}

// Between the two states of this machine all cores pass 1000 ticks: 400 of
// processes, of which kernel threads used 100; 50 are stolen.
var (
	before = map[string]string{
		"proc/stat":    "cpu 1000 0 500 5000 10 20 30 40 0 0\n",
		"proc/2/stat":  stat("kthreadd", kernel, "0", "70"),
		"proc/9/stat":  stat("gone", kernel, "0", "0"),
		"proc/10/stat": stat("bash", plain, "500", "500"),
	}
	after = map[string]string{
		"proc/stat":      "cpu 1200 50 650 5500 20 40 50 90 0 0\n",
		"proc/2/stat":    stat("kthreadd", kernel, "0", "150"),
		"proc/3/stat":    stat("new", kernel, "0", "20"),
		"proc/10/stat":   stat("bash", plain, "800", "500"),
		"proc/11/stat":   "broken",
		"proc/self/stat": "not a number",
	}
)

func TestMeter(t *testing.T) {
	for _, test := range []struct {
		name string
		own  time.Duration
		want assay.Noise
	}{
		{"nothing is ours", 0, assay.Noise{Steal: 0.05, Foreign: 0.3}},
		{"some is ours", 2 * time.Second, assay.Noise{Steal: 0.05, Foreign: 0.1}},
		{"more than all is ours", time.Hour, assay.Noise{Steal: 0.05}},
	} {
		proc := files(before)
		m := start(proc)
		clear(proc)
		maps.Copy(proc, files(after))
		got := m.Stop(test.own)
		if math.Abs(got.Steal-test.want.Steal) > 1e-12 || math.Abs(got.Foreign-test.want.Foreign) > 1e-12 {
			t.Errorf("%s: got %+v, want %+v", test.name, got, test.want)
		}
	}
}

// A kernel's thread that ended takes its time with it: that is no time of other programs.
func TestMeterOfAThreadThatEnded(t *testing.T) {
	proc := files(map[string]string{"proc/stat": before["proc/stat"], "proc/2/stat": stat("kworker", kernel, "0", "70")})
	m := start(proc)
	delete(proc, "proc/2/stat")
	proc["proc/stat"] = files(after)["proc/stat"]
	if got := m.Stop(0); math.Abs(got.Foreign-0.4) > 1e-12 {
		t.Errorf("got %g of other programs, want 0.4, which all processes used", got.Foreign)
	}
}

func TestMeterSeesNothing(t *testing.T) {
	for name, m := range map[string]*Meter{
		"unreadable": start(fstest.MapFS{}),
		"no time":    start(files(before)),
	} {
		if got := m.Stop(0); got != (assay.Noise{}) {
			t.Errorf("%s: got %+v, want none", name, got)
		}
	}
	proc := files(before)
	m := start(proc)
	clear(proc)
	if got := m.Stop(0); got != (assay.Noise{}) {
		t.Errorf("unreadable at the end: got %+v, want none", got)
	}
}

func TestThisMachine(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("needs /proc")
	}
	if m := Start(); !m.ok {
		t.Error("the noise of this machine cannot be read")
	}
	if SelfCPU() <= 0 {
		t.Error("this process has used no CPU time")
	}
}

const childVariable = "ASSAY_TEST_CHILD"

func TestMain(m *testing.M) {
	if os.Getenv(childVariable) != "" {
		peak, err := PeakMemory()
		if err != nil || peak > ballast {
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

const ballast = 100 << 20

// A child's peak is its own, and not that of the parent that started it.
func TestPeakMemory(t *testing.T) {
	memory := make([]byte, ballast)
	for i := 0; i < len(memory); i += 4096 {
		memory[i] = 1
	}
	peak, err := PeakMemory()
	if errors.Is(err, errors.ErrUnsupported) {
		t.Skip(err)
	}
	if err != nil || peak < ballast {
		t.Errorf("got %d, %v; want at least %d", peak, err, len(memory))
	}
	runtime.KeepAlive(memory)
	command := exec.Command(os.Args[0])
	command.Env = append(os.Environ(), childVariable+"=1")
	if err := command.Run(); err != nil {
		t.Errorf("the child's peak is not its own: %v", err)
	}
}

func FuzzParseProcess(f *testing.F) {
	f.Add(stat("a b) (c", plain, "7", "5"))
	f.Add(stat("k", kernel, "9223372036854775807", "5"))
	f.Fuzz(func(t *testing.T, text string) {
		p, err := parseProcess(text)
		if p.ticks < 0 || time.Duration(p.ticks)*tick < 0 || err != nil && p != (process{}) {
			t.Errorf("got %+v, %v", p, err)
		}
	})
}

func FuzzNoise(f *testing.F) {
	f.Add("cpu 1000 0 500 5000 10 20 30 40 0 0\n", "cpu 1200 50 650 5500 20 40 50 90 0 0\n", int64(1))
	f.Add("cpu 0 0 0 0 0 0 0 0", "cpu 1152921504606846975 0 0 0 0 0 0 1", int64(-1))
	f.Fuzz(func(t *testing.T, first, second string, own int64) {
		a, err := parseUsage(first)
		if err != nil {
			return
		}
		b, err := parseUsage(second)
		if err != nil {
			return
		}
		got := noise(a, b, time.Duration(own))
		if !(got.Steal >= 0 && got.Steal <= 1 && got.Foreign >= 0 && got.Foreign <= 1) {
			t.Errorf("got %+v", got)
		}
	})
}

func TestGroupCPU(t *testing.T) {
	stat := func(pid, group, user, system, childrenUser, childrenSystem int) *fstest.MapFile {
		return &fstest.MapFile{Data: fmt.Appendf(nil, "%d (a (b) c) S 1 %d 1 0 -1 4194560 1 2 3 4 %d %d %d %d 20 0 1 0 5\n",
			pid, group, user, system, childrenUser, childrenSystem)}
	}
	files := fstest.MapFS{
		"proc/10/stat": stat(10, 10, 100, 50, 7, 3), // the leader, with children that ended
		"proc/11/stat": stat(11, 10, 30, 10, 0, 0),  // its child
		"proc/12/stat": stat(12, 12, 900, 0, 0, 0),  // somebody else
	}
	if got, err := groupCPU(files, 10); err != nil || got != 2*time.Second {
		t.Errorf("got %v, %v; want 2s", got, err)
	}
	if got, err := groupCPU(files, 99); err == nil {
		t.Errorf("of a group that is not there: %v", got)
	}
	if got, err := GroupCPU(syscall.Getpgrp()); err != nil || got < 0 {
		t.Errorf("of this process's group: %v, %v", got, err)
	}
}
