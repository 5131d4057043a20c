package crash

import (
	"context"
	"errors"
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
		fault          assay.Fault
		unfelt, states int
		unsupported    bool
		noted          bool
	}{
		{fault: assay.FullDisk, unfelt: 0, states: 5},
		{fault: assay.FullDisk, unfelt: 2, states: 5, noted: true},
		{fault: assay.FullDisk, unfelt: 5, states: 5, unsupported: true},
		{fault: assay.Kill, unfelt: 0, states: 1},
		{fault: assay.Kill, unfelt: 2, states: 1, noted: true},
		{fault: assay.KillShared, unfelt: 2, states: 0, unsupported: true},
	} {
		task := Task{Driver: "mattn", Profile: "web", Fault: c.fault}
		tried := &trial{task: task, result: &Result{Task: task, Tried: Tried{States: c.states}}}
		err := tried.noteUntouched(c.unfelt)
		var refused *wire.Error
		if got := errors.As(err, &refused) && refused.Code == wire.Unsupported; got != c.unsupported || !got && err != nil {
			t.Errorf("%+v: got error %v", c, err)
		}
		if got := tried.result.Notes; len(got) > 0 != c.noted {
			t.Errorf("%+v: got notes %q", c, got)
		}
	}
}

// A kill that no transaction met is no state, unless it damaged something: another one is drawn,
// though not for ever. A disk that no transaction met is one.
func TestUnfelt(t *testing.T) {
	for _, c := range []struct {
		fault            assay.Fault
		felt             func(attempt int) bool
		found            Damage
		attempts, states int
		unsupported      bool
	}{
		{fault: assay.Kill, felt: func(int) bool { return true }, attempts: 2, states: 2},
		{fault: assay.Kill, felt: func(attempt int) bool { return attempt%2 == 1 }, attempts: 4, states: 2},
		{fault: assay.KillShared, felt: func(int) bool { return false }, attempts: 21, unsupported: true},
		{fault: assay.Kill, felt: func(int) bool { return false }, found: Lost, attempts: 2, states: 2},
		{fault: assay.FullDisk, felt: func(attempt int) bool { return attempt%2 == 1 }, attempts: 2, states: 2},
	} {
		task := Task{Fault: c.fault, States: 2}
		tried := &trial{lane: &lane{}, task: task, result: &Result{Task: task, Tried: Tried{Counts: map[Damage]int{}, ByMoment: map[powercut.Moment]int{}}}}
		attempts := 0
		err := tried.attempts(t.Context(), func(context.Context) (evidence, observation, error) {
			attempts++
			return evidence{unfelt: !c.felt(tried.turn)}, observation{damage: c.found}, nil
		})
		var refused *wire.Error
		if got := errors.As(err, &refused) && refused.Code == wire.Unsupported; got != c.unsupported || attempts != c.attempts || tried.result.Counts[c.found] != c.states {
			t.Errorf("%+v: got %v after %d attempts, %v", c, err, attempts, tried.result.Counts)
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
