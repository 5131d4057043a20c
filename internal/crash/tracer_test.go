//go:build linux

package crash

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"assay"
	"assay/kit/kv"
)

// fakeStrace has a script in the place of strace, for this process and those that
// it starts.
func fakeStrace(t *testing.T, script string) {
	t.Helper()
	dir := t.TempDir()
	must(t, os.WriteFile(filepath.Join(dir, "strace"), []byte("#!/bin/sh\n"+script+"\n"), 0o755))
	t.Setenv("PATH", dir+string(filepath.ListSeparator)+os.Getenv("PATH"))
}

// What is installed and may not trace, or kills nothing, is not used, and what is
// wrong with it is said.
func TestTracerThatIsMissing(t *testing.T) {
	if _, err := exec.LookPath("strace"); err == nil {
		if got := findTracer(t.Context()); got.missing != "" {
			t.Errorf("with strace: got %q, want that nothing is missing", got.missing)
		}
	}
	for name, c := range map[string]struct{ script, want string }{
		"refused":       {"echo 'strace: ptrace(PTRACE_TRACEME): Operation not permitted' >&2; exit 1", "PTRACE_TRACEME): Operation not permitted"},
		"kills nothing": {"exit 0", "it killed no process at a system call"},
	} {
		fakeStrace(t, c.script)
		if got := findTracer(t.Context()).missing; !strings.Contains(got, c.want) || !strings.Contains(got, "SYS_PTRACE") {
			t.Errorf("%s: got %q, want %q and what to do", name, got, c.want)
		}
	}
	t.Setenv("PATH", t.TempDir())
	if got := findTracer(t.Context()).missing; !strings.Contains(got, "apt-get install strace") {
		t.Errorf("without strace: got %q, want what to install", got)
	}
}

// Power is cut, and workers are killed, without a strace that works: the result
// says what was not done.
func TestTracerThatDoesNotWork(t *testing.T) {
	fakeStrace(t, "echo 'ptrace: Operation not permitted' >&2; exit 1")
	task := Task{Program: storeProgram(t, "store-honest"), Seed: 1, States: 2, Settings: map[string]string{kv.Sync: "1"}}
	power, kill := task, task
	power.Driver, power.Fault = "power", assay.PowerCut
	kill.Driver, kill.Fault = "kill", assay.Kill
	for fault, r := range do(t, power, kill) {
		if r.Counts[Unharmed] != 2 || len(r.Notes) != 1 || !strings.Contains(r.Notes[0], "ptrace: Operation not permitted") {
			t.Errorf("%s: %v, notes %q; want 2 unharmed and a note that says why strace was not used", fault, r.Counts, r.Notes)
		}
	}
}

// A worker is killed at a system call, in the midst of its workload.
func TestKillAtCall(t *testing.T) {
	if missing := strace().missing; missing != "" {
		t.Skip(missing)
	}
	task := Task{Driver: "honest", Program: storeProgram(t, "store-honest"), Fault: assay.Kill, Seed: 1, States: 16, Settings: map[string]string{kv.Sync: "1"}}
	r := do(t, task)["honest"]
	atCalls := 0
	for moment, n := range r.ByMoment {
		if strings.HasPrefix(string(moment), "before ") {
			atCalls += n
		}
	}
	if atCalls < 4 || r.Counts[Unharmed] != 16 { // of 8: threads share their calls anew each time
		t.Errorf("killed at %v: %v; want at least 4 before system calls, and 16 unharmed", r.ByMoment, r.Counts)
	}
}

// Calls are counted by thread, as strace counts them before it kills: once where
// one is seen in two parts, and not where it does not reach a file.
func TestCountCalls(t *testing.T) {
	traced := `7 write(1, ""..., 58)  = 58
7 fsync(9 <unfinished ...>
8 write(4, ""..., 8)   = 8
7 <... fsync resumed>)              = 0
 12 pwrite64(9, ""..., 4096, 0) = 4096
7 write(1, ""..., 2) = 2
8 futex(0x1, FUTEX_WAKE, 1) = 0
12 +++ exited with 0 +++
`
	want := []callCount{{"fsync", 1}, {"pwrite64", 1}, {"write", 2}}
	if got := countCalls(traced); !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}
