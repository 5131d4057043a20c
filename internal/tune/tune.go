// Package tune finds settings that make a workload faster under constraints, and
// confirms them. Run decides: a function measures what it asks for, and the same
// answers always lead to the same questions, so that a tuning is resumed by
// answering from what was kept. Tuning has the lab measure, and keeps.
//
// The main flow: Run measures what indexes, statistics and another use of the
// driver do before any setting. It searches by rounds of random combinations, after
// each of which a model drops the levels that are not worth it, and measures what is
// left on fresh data in a number of launches that is fixed before. Only the figures of
// this confirmation are reported. Last, the proposal is compared with the current
// settings on other amounts of data and with other numbers of clients.
package tune

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"strings"
	"time"

	"assay/internal/stat"
)

// Stage is a part of a tuning. Each has launches of its own; the confirmation, and the
// conditions after it, have data and argument sequences that the search never saw.
type Stage string

// The stages, in their order: each round of the search is one, with a number, and those of the
// conditions follow.
const (
	Indexes      Stage = "indexes"
	Search       Stage = "search"
	Confirmation Stage = "confirmation"
)

// Block holds what is measured together: each point once, beside the current settings.
type Block struct {
	Stage  Stage
	Number int // within the stage, from 1
	Of     int // blocks that the stage has, where that was fixed before; 0: it was not
	Points []Point
	All    []Point // that any block of the stage may have
	Where  string  // the condition, in words; empty: as the plan has it
}

// Member holds what a block measured of one point.
type Member struct {
	// Gains are, by operation, the natural logarithms of how much better the point
	// was than the current settings in the same launch. NaN: not measured this time.
	Gains []float64
	// Refused says why the point is no candidate: it failed, a setting did not apply,
	// or it broke a constraint. Empty: it is one.
	Refused string
	// Launch numbers the launch of the block that the point shared with others, and with
	// the current settings.
	Launch int
}

// Measured is the answer to a block.
type Measured struct {
	Members []Member      // of the block's points
	Took    time.Duration // by which the rest of the budget is planned
}

// Measure measures a block. Its error ends the tuning.
type Measure func(context.Context, Block) (Measured, error)

// Config says what to search and how.
type Config struct {
	Space  Space
	Margin float64       // within which two figures count as equivalent, as a fraction
	Budget time.Duration // of measuring; 0: as long as it takes
	Seed   uint64        // of the orders that are random
	// Conditions holds those of the package's Conditions that the plan can have.
	Conditions []Condition
}

// The parts of a budget at whose end a stage is over: of the whole for the indexes, of
// what these leave for the others.
const (
	indexShare   = 0.30
	searchShare  = 0.75
	confirmShare = 0.85 // where other conditions follow
)

// tuning is one call of Run.
type tuning struct {
	config  Config
	measure Measure
	random  *rand.Rand
	spent   time.Duration
	before  time.Duration // of it, what the indexes took
	members int           // of all blocks, the current settings among them
	refused map[string]string
	// launches are what those of the search, and then of the confirmation, measured of
	// points.
	launches [][]observation
	// searchLaunches of them are the search's.
	searchLaunches int
	searched       *model // of the launches before the confirmation; nil: they were too few
	outcome        *Outcome
}

// Run tunes. Its result is nil where an error ended it.
func Run(ctx context.Context, config Config, measure Measure) (*Outcome, error) {
	choices := len(config.Space.active())
	if choices == 0 && len(config.Space.FirstPoints()) == 0 {
		return nil, ErrNoChoice
	}
	t := &tuning{config: config, measure: measure, random: rand.New(rand.NewPCG(config.Seed, 20)),
		refused: map[string]string{}, outcome: &Outcome{}}
	if err := t.indexes(ctx); err != nil {
		return nil, err
	}
	t.outcome.Refused = t.refused
	if choices == 0 {
		t.outcome.Unsearched = true
		return t.outcome, nil
	}
	if t.exhausted() {
		t.endUnconfirmed()
		return t.outcome, nil
	}
	finalists, err := t.search(ctx)
	if err != nil {
		return nil, err
	}
	if err := t.confirm(ctx, finalists); err != nil {
		return nil, err
	}
	if err := t.robustness(ctx); err != nil {
		return nil, err
	}
	return t.outcome, nil
}

// ErrNoChoice says that there is nothing to tune.
var ErrNoChoice = errors.New("no setting has a choice of values that keep the constraints")

// block has a block measured, and notes what it cost and who was refused.
func (t *tuning) block(ctx context.Context, b Block) ([]Member, error) {
	measured, err := t.measure(ctx, b)
	if err != nil {
		return nil, err
	}
	t.spent += measured.Took
	t.members += 1 + len(b.Points)
	for i, m := range measured.Members {
		if m.Refused != "" && b.Where == "" {
			t.refused[b.Points[i].Key()] = m.Refused
		}
	}
	t.observe(b, measured.Members)
	return measured.Members, nil
}

// observe keeps what the launches of a block say of settings.
func (t *tuning) observe(b Block, members []Member) {
	if b.Stage != Confirmation && !strings.HasPrefix(string(b.Stage), string(Search)) {
		return
	}
	of := map[int]int{} // where a launch of the block is kept
	for i, m := range members {
		if math.IsNaN(m.gain()) || t.config.Space.Priced(b.Points[i]) {
			continue
		}
		at, known := of[m.Launch]
		if !known {
			at, of[m.Launch] = len(t.launches), len(t.launches)
			t.launches = append(t.launches, nil)
			if t.config.Space.StartIsCurrent {
				t.launches[at] = []observation{{t.config.Space.start(), 0}}
			}
		}
		t.launches[at] = append(t.launches[at], observation{b.Points[i], m.gain()})
	}
	if b.Stage != Confirmation {
		t.searchLaunches = len(t.launches)
	}
}

// affordable returns how many blocks of so many points a share of the budget still pays.
func (t *tuning) affordable(share float64, points int) int {
	if t.config.Budget == 0 || t.spent == 0 {
		return math.MaxInt32
	}
	left := t.before + time.Duration(share*float64(t.config.Budget-t.before)) - t.spent
	if share < confirmShare { // what is found without being confirmed is worth nothing
		left = min(left, t.config.Budget-t.spent-minConfirmations*t.memberTime(minConfirmed))
	}
	return max(0, int(left/t.memberTime(1+points)))
}

// exhausted reports whether all of the budget is used: nothing that is still found could be
// confirmed.
func (t *tuning) exhausted() bool { return t.config.Budget > 0 && t.spent >= t.config.Budget }

// gain is the mean over the operations, each of which counts alike; NaN where one
// was not measured.
func (m Member) gain() float64 {
	if m.Refused != "" {
		return math.NaN()
	}
	return stat.MeanInterval(m.Gains).Center
}
