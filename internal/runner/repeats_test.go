//go:build unix

package runner

import (
	"strings"
	"testing"
	"time"

	"assay"
	"assay/kit/process"
	"assay/kit/wire"
)

// roundOf is a variant of instances that were delayed in their windows for so long; -1 of a
// worker that does not tell.
func roundOf(delays ...time.Duration) *variant {
	v := &variant{spare: 2}
	for _, d := range delays {
		w := &measured{Measured: wire.Measured{Operations: 10, Executed: 10, Nanos: int64(5 * time.Millisecond)}}
		if nanos := int64(d); nanos >= 0 {
			w.Delayed = &nanos
		}
		v.turns = append(v.turns, &turn{last: w})
	}
	return v
}

func TestDisturbedRounds(t *testing.T) {
	wrong, ended, spent := roundOf(time.Millisecond, 0), roundOf(0, time.Millisecond), roundOf(time.Millisecond, 0)
	wrong.turns[0].last.Misses = 1
	ended.turns[0].last = nil
	spent.spare = 0
	for _, test := range []struct {
		name string
		of   *variant
		want bool
	}{
		{"nobody else ran", roundOf(0, 0), false},
		{"one of them waited for a fifth", roundOf(0, time.Millisecond), true},
		{"for a hundredth", roundOf(0, 50*time.Microsecond), false},
		{"for a fiftieth", roundOf(0, 100*time.Microsecond), false},
		{"for a little more", roundOf(0, 101*time.Microsecond), true},
		{"another one does not tell", roundOf(-1, time.Millisecond), false},
		{"an answer was wrong", wrong, false},
		{"another one has ended", ended, true},
		{"a quarter was measured again", spent, false},
	} {
		before := test.of.spare
		if got := test.of.toRepeat(); got != test.want || got != (test.of.spare < before) {
			t.Errorf("%s: got %t with %d of %d left, want %t", test.name, got, test.of.spare, before, test.want)
		}
	}
}

// A worker cannot choose its windows by delays that the kernel did not count.
func TestClaimedDelays(t *testing.T) {
	for _, test := range []struct {
		name          string
		claimed       time.Duration
		before, after time.Duration
		known, want   bool
	}{
		{"as counted", 3 * time.Millisecond, time.Second, time.Second + 3*time.Millisecond, true, true},
		{"more than counted", 3 * time.Millisecond, time.Second, time.Second + 2*time.Millisecond, true, false},
		{"a worker of several processes", 3 * time.Millisecond, 0, 0, false, true},
		{"a thread has ended", 3 * time.Millisecond, time.Second, time.Millisecond, true, false},
		{"nothing claimed", 0, time.Second, time.Second, true, true},
	} {
		var d delays
		d.begin(process.ThreadTimes{Waited: test.before}, test.known)
		d.claim(wire.Measured{})
		nanos := int64(test.claimed)
		d.claim(wire.Measured{Delayed: &nanos})
		if got := d.confirmed(process.ThreadTimes{Waited: test.after}, test.known); got != test.want {
			t.Errorf("%s: got confirmed: %t, want %t", test.name, got, test.want)
		}
	}
}

// What the pool did is counted for the windows that count.
func TestKeptWindows(t *testing.T) {
	v := roundOf(time.Millisecond)
	got := v.turns[0]
	w := *got.last
	w.pool = &wire.Pool{Closed: 3, Waited: 5}
	got.keep(w)
	got.keep(w)
	if got.tally.total.Executed != 20 || len(got.tally.samples) != 2 || got.reopened.Closed != 6 || got.reopened.Waited != 10 {
		t.Errorf("got %d operations, %d windows, pool %+v, want 20, 2 and 6 closed, 10 waited", got.tally.total.Executed, len(got.tally.samples), got.reopened)
	}
}

const (
	stallEvery  = 200
	stallLength = time.Millisecond
)

// What an operation itself waits for stays in its figure.
func TestStallsStayInTheFigure(t *testing.T) {
	b := newBench(t, strings.Replace(header, "second", stalls, 1)+read)
	b.run(t)
	for _, trial := range b.of(stalls) {
		if got, want := trial.Figures[assay.NsPerOp], float64(stallLength)/stallEvery; got < 0.9*want { // a launch begins between two stalls
			t.Errorf("launch %d: %.0f ns/op, want at least the %.0f of the stalls", trial.Launch, got, want)
		}
	}
	if len(b.of(stalls)) < 2 {
		t.Errorf("%d trials, want 2 or more", len(b.of(stalls)))
	}
}
