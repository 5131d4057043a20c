package crash

import (
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"assay"
	"assay/internal/crash/powercut"
	"assay/kit/wire"
)

// A disk that no transaction met proves nothing; damage and errors are findings each.
func TestMet(t *testing.T) {
	for _, c := range []struct {
		unfelt, states, lost int
		unsupported          bool
		note                 string
	}{
		{unfelt: 0, states: 5},
		{unfelt: 2, states: 5, note: "full of mattn, web: in 2 of 5 nothing failed"},
		{unfelt: 5, states: 5, unsupported: true},
		{unfelt: 5, states: 5, lost: 1, note: "full of mattn, web: in 5 of 5 nothing failed"},
	} {
		task := Task{Driver: "mattn", Profile: "web", Fault: assay.FullDisk}
		tried := &trial{task: task, result: &Result{Task: task, Tried: Tried{States: c.states, Counts: map[Damage]int{Unharmed: c.states - c.lost, Lost: c.lost}}}}
		err := tried.noteUntouched(c.unfelt)
		var refused *wire.Error
		if got := errors.As(err, &refused) && refused.Code == wire.Unsupported; got != c.unsupported || !got && err != nil {
			t.Errorf("%+v: got error %v", c, err)
		}
		want := []string{c.note}
		if c.note == "" {
			want = nil
		}
		if got := tried.result.Notes; fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("%+v: got notes %q, want %q", c, got, want)
		}
	}
}

// The finding that is kept is of the worst damage, and of the smallest state that shows
// it, without a second cut where one does. The most that was lost is of what was acknowledged.
func TestNote(t *testing.T) {
	at := func(cut int, second *powercut.Cut) evidence {
		return evidence{Finding: Finding{Moment: powercut.Commit, Acked: 10, Cut: powercut.Cut{At: cut}, Second: second}}
	}
	tried := &trial{result: &Result{Tried: Tried{Counts: map[Damage]int{}, ByMoment: map[powercut.Moment]int{}}}}
	for _, step := range []struct {
		e     evidence
		found observation
		worst int // the cut of the finding that is kept then; 0: none
	}{
		{at(9, nil), observation{transactions: 10, opening: 3}, 0},
		{at(8, nil), observation{damage: Lost, transactions: 9}, 8},
		{at(7, &powercut.Cut{}), observation{damage: Lost, transactions: 7}, 8},
		{at(6, nil), observation{damage: Lost, transactions: 8}, 6},
		{at(5, &powercut.Cut{}), observation{damage: Corrupt, transactions: -1}, 5},
		{at(4, nil), observation{damage: Inconsistent, transactions: -1}, 5},
		{at(7, nil), observation{damage: Corrupt, transactions: -1, opening: 2}, 7},
		{at(8, nil), observation{damage: Corrupt, transactions: -1}, 7},
	} {
		tried.note(step.e, step.found)
		got := 0
		if tried.worst != nil {
			got = tried.worst.Finding.Cut.At
		}
		if got != step.worst {
			t.Errorf("after %q at %d: the finding at %d is kept, want %d", step.found.damage, step.e.Finding.Cut.At, got, step.worst)
		}
	}
	want := Tried{States: 8, Counts: map[Damage]int{Unharmed: 1, Lost: 3, Corrupt: 3, Inconsistent: 1}, ByMoment: map[powercut.Moment]int{powercut.Commit: 8}, MaxLost: 3, SlowestNs: 3}
	if diff := cmp.Diff(want, tried.result.Tried); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

// Every fault has its words, a level, and a function that does it; what is no fault has none.
func TestEveryFaultIsDone(t *testing.T) {
	levels := map[assay.Fault]level{assay.PowerCut: diskLevel, assay.FileCut: fileLevel, assay.Kill: processLevel, assay.FullDisk: diskLevel, assay.FailingIO: diskLevel,
		assay.PowerShared: diskLevel, assay.KillShared: processLevel}
	for _, f := range Faults() {
		known := about(f)
		if known.level == 0 || known.level != levels[f] || known.subject == "" || f.Times(1) == "" {
			t.Errorf("%s: got %+v, counted as %q; want level %d and words", f, known, f.Times(1), levels[f])
		}
		if known.inject == nil {
			t.Errorf("%s: nothing does it", f)
		}
	}
	for _, f := range []assay.Fault{"", "flood"} {
		if about(f).inject != nil {
			t.Errorf("%q: something does it", f)
		}
	}
}

// A call that is made twice can be the second one at which a worker is killed.
func TestDrawNumber(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for _, count := range []int{1, 2, 5} {
		drawn := map[int]bool{}
		for range 500 {
			drawn[drawNumber(random, count)] = true
		}
		if got := slices.Sorted(maps.Keys(drawn)); len(got) != count || got[0] != 1 || got[count-1] != count {
			t.Errorf("of %d: got %v, want 1 to %d", count, got, count)
		}
	}
}
