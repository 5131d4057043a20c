//go:build unix

package process

import (
	"testing"
	"testing/fstest"
)

func TestLivingThreads(t *testing.T) {
	files := fstest.MapFS{
		"proc/10/task/10/schedstat": {Data: []byte("4017285 61051 12\n")},
		"proc/10/task/11/schedstat": {Data: []byte("100 20 3\n")},
		"proc/10/task/12/schedstat": {Data: nil}, // has just ended
		"proc/20/task/20/schedstat": {Data: []byte("1 2 3\n")},
		"proc/30/task/30/schedstat": {Data: []byte("1 two 3\n")},
	}
	unknown := ThreadTimes{-1, -1}
	for pid, want := range map[int]ThreadTimes{10: {4017385, 61071}, 20: {1, 2}, 30: unknown, 40: unknown} {
		got, ok := livingThreads(files, pid)
		if ok != (want != unknown) || ok && got != want {
			t.Errorf("of process %d: got %+v, %t, want %+v (-1: unknown)", pid, got, ok, want)
		}
	}
}
