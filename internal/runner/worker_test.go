//go:build unix

package runner

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"assay"
	"assay/internal/dataset"
	"assay/internal/plan"
	"assay/kit"
	"assay/kit/sqldb"
	"assay/kit/wire"

	_ "modernc.org/sqlite"
)

// logVariable names the file to which the test's workers write what they are
// asked. A worker is this test program under another name.
const logVariable = "RUNNER_TEST_LOG"

func TestMain(m *testing.M) {
	if log := os.Getenv(logVariable); log != "" {
		os.Exit(work(filepath.Base(os.Args[0]), log))
	}
	disturbs = func(assay.Mode, assay.Noise, time.Duration) bool { return false }
	preferRealPrograms()
	os.Exit(m.Run())
}

// preferRealPrograms lets workers find PostgreSQL's own psql before Debian's wrapper of
// it, a script that takes five times as long to start.
func preferRealPrograms() {
	if folders, _ := filepath.Glob("/usr/lib/postgresql/*/bin"); len(folders) > 0 {
		_ = os.Setenv("PATH", folders[len(folders)-1]+string(os.PathListSeparator)+os.Getenv("PATH"))
	}
}

// besideVariable says that workers look for others beside them, and wait until these are paused.
const besideVariable = "RUNNER_TEST_BESIDE"

// asked is one request as a worker saw it.
type asked struct {
	PID    int
	Worker string
	Kind   string
	Nanos  int64
	Start  int64
	Count  int64  // operations
	Of     string // the operation
	Tells  bool   // their answers
	Beside int    // other workers of the same runner that were there
	Awake  int    // of these, not stopped
}

// window reports whether it is a measured window and no warm-up.
func (a asked) window() bool { return a.Kind == "measure" && a.Nanos == int64(windowLength) }

// short reports whether it is a number of operations: beside windows, or of a block.
func (a asked) short() bool {
	return a.Kind == "measure" && a.Count > 0 && !a.Tells && a.Of != allPages
}

// part reports whether it is a part of a block, behind its warm-up.
func (a asked) part() bool { return a.short() && a.Start > 0 }

// work is a worker that writes down what it is asked, honest unless its name is
// that of a fault.
func work(name, log string) int {
	file, err := os.OpenFile(log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		panic(err)
	}
	in := &requests{lines: bufio.NewReader(os.Stdin), name: name, log: file}
	driver := sqldb.Driver{Name: name, SQLName: "sqlite",
		Key:  func(name, value string) string { return "_pragma=" + name + "(" + value + ")" },
		Busy: func(err error) bool { return strings.Contains(err.Error(), "database is locked") }}
	if strings.HasPrefix(name, "caller") {
		return (&caller{name: name}).serve(in, os.Stdout)
	}
	engine := kit.Engine(faultyEngine{sqldb.New(driver), name})
	if strings.HasPrefix(name, "served") {
		engine = servedEngine{name}
	}
	if strings.HasPrefix(name, "store") {
		engine = newStoreEngine(name)
	}
	if err := kit.Serve(engine, in, lying(name, in)); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

type requests struct {
	lines *bufio.Reader
	name  string
	log   *os.File
	rest  []byte
	last  wire.Envelope // the request that is answered
	start int64         // its first position
}

func (r *requests) Read(p []byte) (int, error) {
	if len(r.rest) == 0 {
		line, err := r.lines.ReadBytes('\n')
		if err != nil {
			return 0, io.EOF
		}
		r.note(line)
		if change := lies[r.name].request; change != nil {
			line = change(line)
		}
		r.rest = line
	}
	n := copy(p, r.rest)
	r.rest = r.rest[n:]
	return n, nil
}

func (r *requests) note(line []byte) {
	var head wire.Envelope
	var measure wire.Measure
	if json.Unmarshal(line, &head) == nil {
		r.last = head
	}
	if head.Type == "" || head.Type == wire.TypeStats {
		return
	}
	_ = json.Unmarshal(line, &measure) // of other requests, nothing
	r.start = measure.Start
	a := asked{PID: os.Getpid(), Worker: r.name, Kind: head.Type, Nanos: measure.Nanos, Start: measure.Start, Count: measure.Operations, Of: measure.Operation, Tells: measure.Answers}
	if _, lies := lies[r.name]; lies { // its times are looked at
		return
	}
	if os.Getenv(besideVariable) != "" && (a.window() || a.part()) {
		a.Beside, a.Awake = neighbours()
		for range 1000 { // a stopped process stops when it would run next
			if a.Awake == 0 {
				break
			}
			time.Sleep(time.Millisecond)
			a.Beside, a.Awake = neighbours()
		}
	}
	text, err := json.Marshal(a)
	if err != nil {
		panic(err)
	}
	_, _ = r.log.Write(append(text, '\n')) // at the end, in one step
}

// neighbours counts the other workers that are children of this process's
// parent: a server is one, too, and is never stopped. Without /proc
// it finds none.
func neighbours() (beside, whileResumed int) {
	lists, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", os.Getppid()))
	for _, list := range lists {
		children, _ := os.ReadFile(list)
		for _, child := range strings.Fields(string(children)) {
			text, _ := os.ReadFile("/proc/" + child + "/stat")
			_, after, _ := strings.Cut(string(text), ") ")
			if after == "" || child == strconv.Itoa(os.Getpid()) || after[0] == 'Z' || strings.Contains(string(text), "(postgres)") {
				continue
			}
			beside++
			if after[0] != 'T' {
				whileResumed++
			}
		}
	}
	return beside, whileResumed
}

// bench is a runner's configuration for a plan with the drivers honest and
// second, and what came of it.
type bench struct {
	Config
	log    string
	trials []assay.Trial
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// newWorkspace makes a workspace in a folder of the test.
func newWorkspace(t *testing.T) (work *Workspace, dir string) {
	t.Helper()
	dir = t.TempDir()
	work, err := NewWorkspace(filepath.Join(dir, "work"), "test")
	must(t, err)
	t.Cleanup(func() {
		if err := work.Close(); err != nil {
			t.Error(err)
		}
	})
	return work, dir
}

func newBench(t *testing.T, text string) *bench {
	t.Helper()
	p, err := plan.Decode("test.yaml", []byte(text))
	must(t, err)
	cases, err := p.Expand(nil)
	must(t, err)
	work, dir := newWorkspace(t)
	b := &bench{log: filepath.Join(dir, "log")}
	b.Config = Config{Cases: cases, Programs: programs(t, dir, p.Drivers), Baseline: assay.ParseBaseline(p.Drivers[0]),
		Machine: Machine{Data: dataset.Cache{Dir: filepath.Join(dir, "data")}, Work: work}, Seed: 1, Launches: 2,
		Precision: 1e6, Timeout: time.Minute,
		Emit: func(t assay.Trial) error { b.trials = append(b.trials, t); return nil }}
	t.Setenv(logVariable, b.log)
	return b
}

// programs are links to this test program, one for each driver.
func programs(t *testing.T, dir string, drivers []string) map[string]Program {
	t.Helper()
	self, err := os.Executable()
	must(t, err)
	all := map[string]Program{}
	for _, name := range drivers {
		path := filepath.Join(dir, name)
		must(t, os.Symlink(self, path))
		all[name] = Program{Path: path, Digest: "build of " + name}
	}
	return all
}

// run measures, and returns what the workers were asked while it did.
func (b *bench) run(t *testing.T) []asked {
	t.Helper()
	r, err := Prepare(t.Context(), b.Config)
	must(t, err)
	if err := os.Remove(b.log); err != nil { // to find out the targets
		t.Fatal(err)
	}
	must(t, r.Run(t.Context()))
	return b.asked(t)
}

// started is an instance of the first cell, its job and its trial.
func (b *bench) started(t *testing.T) (*instance, *job, assay.Trial) {
	t.Helper()
	r, err := Prepare(t.Context(), b.Config)
	must(t, err)
	m := r.groups[0].members[0]
	j := m.first
	in, err := r.start(t.Context(), m, 1, j.method.connections(j))
	must(t, err)
	t.Cleanup(in.kill)
	return in, j, in.trial(j, 1)
}

func (b *bench) asked(t *testing.T) []asked {
	t.Helper()
	text, err := os.ReadFile(b.log)
	must(t, err)
	var all []asked
	for line := range strings.Lines(string(text)) {
		var a asked
		must(t, json.Unmarshal([]byte(line), &a))
		all = append(all, a)
	}
	return all
}

// lives are the kinds of requests by worker process, in the order in which the
// processes were started; what is repeated is given once.
func lives(all []asked) []string {
	var pids []int
	kinds := map[int][]string{}
	for _, a := range all {
		if !slices.Contains(pids, a.PID) {
			pids = append(pids, a.PID)
		}
		kinds[a.PID] = append(kinds[a.PID], a.Kind)
	}
	var lives []string
	for _, pid := range pids {
		lives = append(lives, strings.Join(slices.Compact(kinds[pid]), " "))
	}
	return lives
}

func kill(t *testing.T, pid int) {
	t.Helper()
	must(t, syscall.Kill(pid, syscall.SIGKILL))
}

func alive(pid int) bool { return syscall.Kill(pid, 0) == nil }
