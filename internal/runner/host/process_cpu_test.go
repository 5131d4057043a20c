package host

import (
	"os"
	"os/exec"
	"runtime"
	"testing"
	"time"
)

// The system's clock of a process counts what getrusage does, to the
// microsecond.
func TestProcessCPU(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("Linux only")
	}
	for began := time.Now(); time.Since(began) < 20*time.Millisecond; {
		runtime.Gosched()
	}
	before := SelfCPU()
	got, ok := ProcessCPU(os.Getpid())
	after := SelfCPU()
	if !ok || got < before-time.Millisecond || got > after+time.Millisecond {
		t.Errorf("ProcessCPU = %s, %v, want between %s and %s", got, ok, before, after)
	}
	gone := exec.Command("true")
	if err := gone.Run(); err != nil {
		t.Fatal(err)
	}
	if got, ok := ProcessCPU(gone.Process.Pid); ok {
		t.Errorf("of a process that has ended: %s", got)
	}
}
