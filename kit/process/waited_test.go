//go:build unix

package process

import (
	"testing"
	"testing/fstest"
	"time"
)

func TestWaited(t *testing.T) {
	files := fstest.MapFS{
		"proc/10/task/10/schedstat": {Data: []byte("4017285 61051 12\n")},
		"proc/10/task/11/schedstat": {Data: []byte("100 20 3\n")},
		"proc/10/task/12/schedstat": {Data: nil}, // has just ended
		"proc/20/task/20/schedstat": {Data: []byte("1 2 3\n")},
		"proc/30/task/30/schedstat": {Data: []byte("1 two 3\n")},
	}
	for pid, want := range map[int]time.Duration{10: 61071, 20: 2, 30: -1, 40: -1} {
		got, ok := waited(files, pid)
		if ok != (want >= 0) || ok && got != want {
			t.Errorf("of process %d: got %d, %t, want %d (-1: unknown)", pid, got, ok, want)
		}
	}
}
