package host

import (
	"slices"
	"testing"
	"testing/fstest"
	"time"
)

// The programs that take most of the machine are named, those of one name together, and the
// kernel's threads are none.
func TestUsers(t *testing.T) {
	processes := func(ticks ...string) map[[2]string]int64 {
		files := fstest.MapFS{}
		for i, p := range []struct{ folder, name, flags string }{
			{"proc/1001", "make", plain}, {"proc/1002", "make", plain}, {"proc/1003", "a) (b\x1b", plain},
			{"proc/1004", "kworker/0:1", kernel}, {"proc/1005", "idle", plain},
		} {
			files[p.folder+"/stat"] = &fstest.MapFile{Data: []byte(stat(p.name, p.flags, ticks[i], "0"))}
		}
		return usersOf(files)
	}
	before, after := processes("100", "100", "100", "100", "100"), processes("140", "130", "150", "300", "101")
	got := most(before, after, time.Second)
	want := []User{{"make", 0.7}, {"a) (b\x1b", 0.5}}
	if !slices.EqualFunc(got, want, func(a, b User) bool { return a.Name == b.Name && a.Share > b.Share-0.01 && a.Share < b.Share+0.01 }) {
		t.Errorf("got %v, want %v", got, want)
	}
}

func TestLonger(t *testing.T) {
	for _, test := range []struct {
		before, after string
		want          float64
	}{
		{"100 50 3", "300 50 9", 1}, {"100 50 3", "300 250 9", 2}, {"0 0 0", "100 900 9", 10},
		{"", "", 1}, {"100", "200 300 4", 1}, {"100 50 3", "100 90 3", 1},
	} {
		if got := longer(test.before, test.after); got != test.want {
			t.Errorf("from %q to %q: got %g times as long, want %g", test.before, test.after, got, test.want)
		}
	}
}
