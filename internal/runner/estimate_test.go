//go:build unix

package runner

import (
	"testing"

	"assay/internal/stat"
	"assay/kit/kv"
)

// Every commit waits for the disk but where a setting says that it does not.
func TestWaits(t *testing.T) {
	for _, c := range []struct {
		requested map[string]string
		want      bool
	}{
		{nil, true},
		{map[string]string{"synchronous": "0"}, false},
		{map[string]string{"journal_mode": "wal", "synchronous": "1"}, false},
		{map[string]string{"journal_mode": "delete", "synchronous": "1"}, true},
		{map[string]string{"journal_mode": "wal", "synchronous": "2"}, true},
		{map[string]string{"memory": "1"}, false},
		{map[string]string{kv.Sync: "0"}, false},
		{map[string]string{kv.Sync: "1"}, true},
		{map[string]string{"synchronous_commit": "off"}, false},
		{map[string]string{"fsync": "off"}, false},
	} {
		if got := waits(c.requested); got != c.want {
			t.Errorf("%v: got %t, want %t", c.requested, got, c.want)
		}
	}
}

func TestMeanVariances(t *testing.T) {
	got := meanVariances([]stat.Variances{{Windows: 1, Launches: 2}, {Windows: 3, Launches: 6}})
	if want := (stat.Variances{Windows: 2, Launches: 4}); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
}
