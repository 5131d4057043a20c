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

func TestParseDelay(t *testing.T) {
	for text, want := range map[string]struct {
		nanos int64
		ok    bool
	}{
		"4017285 61051 12\n": {61051, true},
		"0 0 0":              {0, true},
		"4017285 61051":      {0, false},
		"4017285  12":        {0, false},
		"a b c":              {0, false},
		"":                   {0, false},
	} {
		nanos, ok := parseDelay([]byte(text))
		if ok != want.ok || ok && nanos != want.nanos {
			t.Errorf("%q: got %d, %t, want %d, %t", text, nanos, ok, want.nanos, want.ok)
		}
	}
}

// A worker that shares its processor with a busy process knows for how long it waited,
// and that it did not use the processor then.
func TestDelayOfAWorker(t *testing.T) {
	t.Setenv(asWorker, "1")
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	start := func() *process.Worker {
		t.Helper()
		w, err := process.Start(t.Context(), program, process.Options{Dir: t.TempDir()})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(w.Kill)
		for _, ask := range []struct {
			kind    string
			request any
		}{{wire.TypeOpen, wire.Open{Path: "none"}}, {wire.TypePrepare, wire.Prepare{Operation: oneRow("one"), Clients: 1}}} {
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
		if err := measured.Call(t.Context(), wire.TypeMeasure, wire.Measure{Operation: "one", Nanos: int64(100 * time.Millisecond)}, &m); err != nil {
			t.Fatal(err)
		}
		if unused := m.Nanos - m.Counters.CPU; min(m.Delayed, unused) > m.Nanos/10 {
			return
		}
	}
	t.Errorf("beside a busy process on its processor a window of %d ns waited %d ns and used %d ns, want a tenth or more of waiting (the other: %v)", m.Nanos, m.Delayed, m.Counters.CPU, <-ended)
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
