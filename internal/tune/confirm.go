package tune

import (
	"cmp"
	"context"
	"math"
	"slices"
	"time"

	"assay/internal/stat"
)

const (
	// confirmations is how many launches confirm, minConfirmations the fewest.
	confirmations    = 12
	minConfirmations = 6
	// minConfirmed is for how many members the search leaves a budget: the current
	// settings, a finalist and it without a setting.
	minConfirmed = 3
	// overtakes is the two-sided p-value below which a later finalist comes before the
	// first one.
	overtakes = 0.02
)

// Outcome holds what a tuning found.
type Outcome struct {
	// Indexes are what indexes and statistics do with the current settings, in the
	// order in which they were given, and the last of several is all together. None:
	// there was nothing to try, or the budget did not pay for it.
	Indexes       []Finalist
	IndexLaunches int
	// Unsearched says that no setting leaves a choice.
	Unsearched bool
	// IndexesUntried says that the budget did not pay for telling what these do.
	IndexesUntried bool
	Effects        []Effect // of the levels; nil where the launches were too few to tell
	// Finalists were confirmed, in the order in which they were to be proposed.
	Finalists []Finalist
	// Chosen is the proposal; nil where nothing beats the current settings, which keep the
	// constraints then, or where there are no finalists.
	Chosen *Finalist
	// Best is the finalist that was chosen, of whose settings the proposal may have more or fewer;
	// without a proposal the one with the greatest gain.
	Best Finalist
	// Explained is the finalist that the confirmation also had without each of its settings: Ablation
	// is what each of these does.
	Explained Point
	Ablation  []Ablation
	// Prices are what other classes of durability cost or give, against Explained.
	Prices   []Price
	Launches int // of the confirmation
	// Robustness is what Chosen does in each condition.
	Robustness []Robustness
	// Unconfirmed says that the budget did not pay for the confirmation: nothing is
	// known.
	Unconfirmed bool
	// Enough is a budget that would have paid for a confirmation, where this one did not;
	// 0: it is not known.
	Enough  time.Duration
	Refused map[string]string // why points are no candidates, by Point.Key
}

// Finalist is a point with its confirmed figures.
type Finalist struct {
	Point Point
	// Search is the gain that the search had of it, as a ratio; NaN where it had none.
	Search float64
	// Gain is the mean over the operations and Operations each, as ratios: above 1 is
	// better than the current settings.
	Gain       stat.Interval
	Operations []stat.Interval
	Verdict    stat.Verdict // of Gain, among all finalists
	// Verdicts are of Operations, where these are to be judged: among all operations of
	// all points.
	Verdicts []stat.Verdict

	rows row
}

// Ablation is a factor of the proposal.
type Ablation struct {
	Factor  int
	Gain    stat.Interval // of having it
	Matters bool
}

// Price is a class of durability with the settings of the proposal otherwise.
type Price struct {
	Class string
	Gain  stat.Interval // against the best finalist: below 1 it costs
}

// row holds what a point measured, by launch: the mean, and each operation.
type row struct {
	gains      []float64
	operations [][]float64
	refused    string // why it is no candidate, at first
}

// launches returns the launches that measured all operations; a point that the budget left out
// has none.
func (r *row) launches() int {
	n := 0
	if r != nil {
		for _, g := range r.gains {
			if !math.IsNaN(g) {
				n++
			}
		}
	}
	return n
}

func (r *row) add(m Member) {
	r.gains, r.refused = append(r.gains, m.gain()), cmp.Or(r.refused, m.Refused)
	if r.operations == nil {
		r.operations = make([][]float64, len(m.Gains))
	}
	for i, g := range m.Gains {
		if i < len(r.operations) {
			r.operations[i] = append(r.operations[i], g)
		}
	}
}

// confirm measures the finalists in a number of launches that is fixed before the
// first, and decides from these alone. Beside them are the first one without each of
// its settings, and with the settings of other classes of durability.
func (t *tuning) confirm(ctx context.Context, finalists []Point) error {
	var points []Point
	launches := 0
	if len(finalists) > 0 {
		points, launches = t.confirmed(finalists)
	} else if t.affordable(searchShare, 1) > 0 { // all were refused
		return nil
	}
	if launches == 0 {
		t.endUnconfirmed()
		return nil
	}
	t.outcome.Launches = launches
	rows, _, err := t.rows(ctx, Block{Stage: Confirmation, Of: launches, Points: points}, nil)
	if err != nil {
		return err
	}
	if t.config.Space.StartIsCurrent { // the gains of all others are against it
		rows[t.config.Space.start().Key()] = &row{gains: make([]float64, launches)}
	}
	finalists = slices.DeleteFunc(finalists, func(p Point) bool { return t.rowOf(p, rows) == nil })
	t.decide(finalists, points, rows)
	return nil
}

// endUnconfirmed ends a tuning whose budget does not pay for the confirmation. What the
// search leaves would have to pay for it.
func (t *tuning) endUnconfirmed() {
	t.outcome.Unconfirmed = true
	t.outcome.Enough = enough(t.memberTime(1))
}

// enough is a budget that pays for a confirmation where a member of a launch takes so long.
func enough(member time.Duration) time.Duration {
	return time.Duration(minConfirmations * minConfirmed * float64(member) / (1 - searchShare))
}

// confirmed are the points of the confirmation with the number of launches that the
// budget pays. It leaves time for other data and clients only where that costs it no
// point. Where the budget does not pay for all, the first finalist, and the same with more
// settings, go before the price of the next class of durability, this before what tells of
// its settings and the other finalists, and other prices come last.
func (t *tuning) confirmed(finalists []Point) (points []Point, launches int) {
	first := 1
	if len(finalists) > 1 && finalists[1].has(finalists[0]) {
		first = 2
	}
	prices := t.priced(finalists[0])
	all := append(finalists[:first:first], prices[:min(1, len(prices))]...)
	all = append(all, t.weakestFirst(finalists[0])...)
	all = append(append(all, finalists[first:]...), prices...)
	all = t.config.Space.unique(all)
	if len(t.config.Conditions) > 0 {
		if blocks := t.affordable(confirmShare, len(all)); blocks >= minConfirmations {
			return all, min(confirmations, blocks)
		}
	}
	for n := len(all); n >= 1; n-- {
		if blocks := t.affordable(1, n); blocks >= minConfirmations {
			return all[:n], min(confirmations, blocks)
		}
	}
	return nil, 0
}

func (t *tuning) without(p Point) []Point {
	var all []Point
	for _, j := range p.changed() {
		all = append(all, p.with(j, 0))
	}
	return all
}

// weakestFirst are a point without each of its settings, first those that are shown least to
// matter: of these the launches may show that they do not.
func (t *tuning) weakestFirst(p Point) []Point {
	all := t.without(p)
	if t.searched == nil {
		return all
	}
	sure := func(without Point) float64 {
		d := t.searched.compare(p, without)
		return d.mean / d.error
	}
	slices.SortStableFunc(all, func(a, b Point) int { return cmp.Compare(sure(a), sure(b)) })
	return all
}

// priced are a point with other classes of durability.
func (t *tuning) priced(p Point) []Point {
	var all []Point
	for j, f := range t.config.Space.Factors {
		for level := f.candidates(); level < len(f.Levels); level++ {
			all = append(all, p.with(j, level))
		}
	}
	return all
}

// decide chooses the proposal: the first finalist, unless a later one is shown to be
// better than it by more than the margin. It has to be shown to be better than the
// current settings, all finalists together, and by more than the margin.
func (t *tuning) decide(finalists, points []Point, rows map[string]*row) {
	if len(finalists) == 0 {
		return
	}
	t.outcome.Finalists = t.asFamily(finalists, rows, t.outcome.Launches)
	best := 0
	for i := 1; i < len(finalists); i++ {
		if c := against(rows[finalists[i].Key()].gains, rows[finalists[best].Key()].gains); c.P < overtakes && c.Ratio.Center > 1+t.config.Margin {
			best = i
		}
	}
	whole := t.outcome.Finalists[best]
	t.outcome.Best, t.outcome.Explained = whole, whole.Point
	if !t.beats(whole) {
		t.outcome.Best = slices.MaxFunc(t.outcome.Finalists, func(a, b Finalist) int { return cmp.Compare(a.Gain.Center, b.Gain.Center) })
	} else {
		t.outcome.Chosen = &whole
		if f := t.needed(whole, finalists, points, rows); t.beats(f) {
			t.outcome.Chosen = &f
		}
	}
	t.explain(whole, rows)
}

// asFamily compares points with the current settings, adjusted for all of them.
func (t *tuning) asFamily(points []Point, rows map[string]*row, launches int) []Finalist {
	var gains [][]float64
	for _, p := range points {
		gains = append(gains, rows[p.Key()].gains)
	}
	var all []Finalist
	for i, c := range compare(gains, launches) {
		all = append(all, t.finalist(points[i], rows[points[i].Key()], c))
	}
	return all
}

// beats reports whether a finalist is to be proposed. Where the current settings break
// a constraint, it is what there is.
func (t *tuning) beats(f Finalist) bool {
	if !t.config.Space.StartIsCurrent {
		return true
	}
	return f.helps(t.config.Margin)
}

// helps reports whether a point is shown to be better than the current settings by more
// than a margin.
func (f Finalist) helps(margin float64) bool {
	return f.Verdict == stat.Faster && f.Gain.Center > 1+margin
}

// needed is the confirmed point with the fewest settings that has all that all launches together
// show to matter, of the largest finalist that has those of the chosen one. It is one of the family of the finalists: what the
// confirmation alone says chooses nothing.
func (t *tuning) needed(chosen Finalist, finalists, points []Point, rows map[string]*row) Finalist {
	m := newModel(t.launches)
	if m == nil {
		return chosen
	}
	largest := chosen.Point
	for _, p := range finalists {
		if p.has(largest) {
			largest = p
		}
	}
	path := t.trimmed(m, largest, t.shown)
	just, best := path[len(path)-1], largest
	for _, p := range points {
		if t.rowOf(p, rows) != nil && largest.has(p) && p.has(just) && len(p.changed()) < len(best.changed()) {
			best = p
		}
	}
	family := slices.Clone(finalists)
	if !best.in(family) {
		family = append(family, best)
	}
	all := t.asFamily(family, rows, t.outcome.Launches)
	return all[slices.IndexFunc(all, func(f Finalist) bool { return slices.Equal(f.Point, best) })]
}

// has reports whether a point has all settings of another.
func (p Point) has(other Point) bool {
	for j, level := range other {
		if level != 0 && p[j] != level {
			return false
		}
	}
	return true
}

// rows measures points in as many launches as the block is one of, or in so many as fewer says
// after each of the first two.
func (t *tuning) rows(ctx context.Context, b Block, fewer func(rows map[string]*row, done int, last time.Duration) int) (map[string]*row, int, error) {
	rows, launches := map[string]*row{}, b.Of
	for b.All = b.Points; b.Number < launches; {
		b.Number++
		before := t.spent
		members, err := t.block(ctx, b)
		if err != nil {
			return rows, b.Number - 1, err
		}
		for i, m := range members {
			key := b.Points[i].Key()
			if rows[key] == nil {
				rows[key] = &row{}
			}
			rows[key].add(m)
		}
		if fewer != nil && b.Number <= 2 {
			launches = fewer(rows, b.Number, t.spent-before)
		}
	}
	return rows, launches, nil
}

// compare compares rows of log gains with the current settings, launch by launch, as one table.
func compare(rows [][]float64, launches int) []stat.Comparison {
	return stat.Rule{}.Judge([]stat.Table{tableOf(rows, launches)})[0].Comparisons
}

// tableOf has rows of log gains behind those of the current settings.
func tableOf(rows [][]float64, launches int) stat.Table {
	table := stat.NewTable(slices.Concat([][]float64{make([]float64, launches)}, rows))
	for i := range rows {
		table.Tests = append(table.Tests, stat.Test{A: i + 1, B: 0, Baseline: true, HigherBetter: true})
	}
	return table
}

// rowOf returns what a point measured; nil: too little, or it was refused.
func (t *tuning) rowOf(p Point, rows map[string]*row) *row {
	if t.refused[p.Key()] != "" || rows[p.Key()].launches() < stat.MinPairs {
		return nil
	}
	return rows[p.Key()]
}

// against compares two rows by themselves.
func against(a, b []float64) stat.Comparison {
	return stat.Rule{}.JudgeOne(stat.NewTable([][]float64{b, a}).Pair(1, 0), stat.Prior{}, true)
}

func (t *tuning) finalist(p Point, r *row, c stat.Comparison) Finalist {
	f := Finalist{Point: p, Search: math.Exp(t.said(p)), Gain: c.Ratio, Verdict: c.Verdict, rows: *r}
	for _, values := range r.operations {
		f.Operations = append(f.Operations, against(values, make([]float64, len(values))).Ratio)
	}
	return f
}

// said is the gain that the search had of a point: by the model of its launches, or where
// there is none by those that had the point; NaN: none had.
func (t *tuning) said(p Point) float64 {
	if t.searched != nil && t.config.Space.StartIsCurrent && !t.config.Space.First(p) {
		return t.searched.compare(p, t.config.Space.start()).mean
	}
	var gains []float64
	for _, launch := range t.launches[:t.searchLaunches] {
		for _, o := range launch {
			if slices.Equal(o.point, p) {
				gains = append(gains, o.gain)
			}
		}
	}
	return stat.MeanInterval(gains).Center
}

// explain says what each setting of the proposal does, and what other classes cost.
func (t *tuning) explain(whole Finalist, rows map[string]*row) {
	for _, j := range whole.Point.changed() {
		if other := t.rowOf(whole.Point.with(j, 0), rows); other != nil {
			c := against(whole.rows.gains, other.gains)
			t.outcome.Ablation = append(t.outcome.Ablation, Ablation{j, c.Ratio, t.matters(c)})
		}
	}
	for j, f := range t.config.Space.Factors {
		for level := f.candidates(); level < len(f.Levels); level++ {
			if other := t.rowOf(whole.Point.with(j, level), rows); other != nil {
				c := against(other.gains, whole.rows.gains)
				t.outcome.Prices = append(t.outcome.Prices, Price{f.Levels[level].Price, c.Ratio})
			}
		}
	}
}
