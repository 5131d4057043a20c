package kit

import (
	"fmt"
	"os"
	"strconv"
	"syscall"
	"testing"
	"time"
	"unsafe"

	"assay/kit/process"
	"assay/kit/wire"
)

func TestParseSchedstat(t *testing.T) {
	for text, want := range map[string]struct {
		ran, waited int64
		ok          bool
	}{
		"4017285 61051 12\n": {4017285, 61051, true},
		"0 0 0":              {0, 0, true},
		"4017285 61051":      {ok: false},
		"4017285  12":        {ok: false},
		"a b c":              {ok: false},
		"":                   {ok: false},
	} {
		ran, waited, ok := parseSchedstat([]byte(text))
		if ok != want.ok || ok && (ran != want.ran || waited != want.waited) {
			t.Errorf("%q: got %d, %d, %t, want %d, %d, %t", text, ran, waited, ok, want.ran, want.waited, want.ok)
		}
	}
}

// Threads of the own process may have been in the way for as long as they ran.
func TestDelaySince(t *testing.T) {
	before := delay{thread: 1, ran: 100, waited: 10, known: true}
	at := func(thread int, ran, waited int64) delay { return delay{thread, ran, waited, true} }
	for _, test := range []struct {
		name string
		now  delay
		cpu  int64
		want int64 // -1: unknown
	}{
		{"others had the processor", at(1, 150, 40), 50, 30},
		{"own threads may have had it", at(1, 150, 40), 80, 0},
		{"own threads had a part of it", at(1, 150, 40), 60, 20},
		{"nobody had it", at(1, 150, 10), 50, 0},
		{"on another thread", at(2, 150, 40), 50, -1},
		{"not known", delay{thread: 1}, 50, -1},
	} {
		got := test.now.since(before, test.cpu)
		if (got == nil) != (test.want < 0) || got != nil && *got != test.want {
			t.Errorf("%s: got %v, want %d", test.name, got, test.want)
		}
	}
}

// A worker that shares its processor with a busy process knows that it waited.
func TestDelayOfAWorker(t *testing.T) {
	t.Setenv(asWorker, "1")
	program, err := os.Executable()
	must(t, err)
	start := func() *process.Worker {
		t.Helper()
		w, err := process.Start(t.Context(), program, process.Options{Dir: t.TempDir()})
		must(t, err)
		t.Cleanup(w.Kill)
		for _, ask := range []struct {
			kind    string
			request any
		}{{wire.TypeOpen, wire.Open{Path: "none", Readers: 1}}, {wire.TypePrepare, wire.Prepare{Operation: oneRow("one"), Clients: 1}}} {
			if err := w.Call(t.Context(), ask.kind, ask.request, nil); err != nil {
				t.Fatalf("%s: %v", ask.kind, err)
			}
		}
		if err := bindToFirst(w.PID()); err != nil {
			t.Skip("cannot bind a process to a processor: ", err)
		}
		return w
	}
	measured, busy := start(), start()
	ended := make(chan error, 1)
	go func() {
		ended <- busy.Call(t.Context(), wire.TypeMeasure, wire.Measure{Operation: "one", Nanos: int64(3 * time.Second)}, nil)
	}()
	var m wire.Measured
	for range 20 { // until the other one has begun
		must(t, measured.Call(t.Context(), wire.TypeMeasure, wire.Measure{Operation: "one", Nanos: int64(100 * time.Millisecond)}, &m))
		if m.Delayed != nil && *m.Delayed > 0 {
			return
		}
	}
	t.Errorf("beside a busy process on its processor no window of %d ns has waited for it (the other: %v)", m.Nanos, <-ended)
}

// bindToFirst keeps all threads of a process on the first processor.
func bindToFirst(pid int) error {
	tasks, err := os.ReadDir(fmt.Sprintf("/proc/%d/task", pid))
	if err != nil {
		return err
	}
	for _, task := range tasks {
		thread, err := strconv.Atoi(task.Name())
		if err != nil {
			return err
		}
		mask := [16]uint64{1}
		if _, _, errno := syscall.RawSyscall(syscall.SYS_SCHED_SETAFFINITY, uintptr(thread), unsafe.Sizeof(mask), uintptr(unsafe.Pointer(&mask))); errno != 0 {
			return errno
		}
	}
	return nil
}
