package tune

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"assay"
	"assay/internal/analysis/wording"
	"assay/internal/emit"
	"assay/internal/lab"
	"assay/internal/plan"
	"assay/internal/store"
	"assay/kit/wire"
)

// Request says what to tune, and within which constraints.
type Request struct {
	Plan          *plan.Plan
	PlanFile      string              // where the plan lies
	Durability    assay.Durability    // class that every candidate keeps; empty: that of the current settings
	Memory        Bytes               // that the caches of all connections may take, with what is mapped
	Budget        time.Duration       // of measuring
	Current       string              // profile with the settings in use; empty: the plan's first
	Drivers       []string            // the one in use, and others that may replace it; empty: the plan's first
	Only          map[string][]string // coordinates that select cells
	SingleProcess bool                // no other process has the file
	Emit          string              // ecosystem that the proposal is printed for; empty: none
	Ecosystems    emit.Ecosystems     // all that there are
	Again         string              // command that goes on with the tuning
	Show          string              // command that shows the run RUN
	Resume        bool
	Step          func(what string) // is called when a step begins
	// Took tells what a launch took of the budget; nil: as its trials say. Tests have a
	// clock of their own, so that no budget ends sooner on a busy machine.
	Took func([]assay.Trial) time.Duration
}

// Tuning is a tuning under way.
type Tuning struct {
	lab     *lab.Lab
	store   *store.Store
	request Request

	drivers    []string
	engine     engine
	synced     map[string]assay.Durability // of a key-value store, by its setting sync
	current    assay.Profile
	base       map[string]string // settings that all candidates have
	effective  map[string]string // the current settings as they are read back
	now, class assay.Durability  // of the current settings, and the least of candidates
	proofs     []assay.Proof
	space      Space
	operations []assay.Case      // of the current settings
	settled    bool              // they are known to be measurable
	metrics    map[string]string // what each is compared by, by condition and place
	unindexed  []string          // operations that read whole tables
	grows      map[string]int64  // by how much each state of the data is larger, by Space.state
	notes      []string

	spent     time.Duration // of the budget
	launches  int
	disturbed int // of them, from outside
	warned    bool

	series  *lab.Series
	stage   Stage
	runs    []StageRun
	started time.Time     // of the last series
	figures []assay.Trial // of the confirmation

	scaled     map[Stage]scaledPlan // the conditions that the plan can have
	conditions []Condition
	unscaled   []string // why it cannot have the others
}

// New is a tuning that has not begun.
func New(l *lab.Lab, s *store.Store, request Request) *Tuning {
	return &Tuning{lab: l, store: s, request: request}
}

// Begun reports whether something of the tuning is kept, which Request.Resume goes on with.
func (t *Tuning) Begun() bool { return len(t.runs) > 0 }

// Run tunes and says what was found.
func (t *Tuning) Run(ctx context.Context) (*Report, error) {
	defer t.close(ctx)
	if err := t.prepare(ctx); err != nil {
		return nil, err
	}
	outcome, err := Run(ctx, Config{Space: t.space, Margin: t.request.Plan.Margin, Budget: t.request.Budget, Seed: t.request.Plan.Seed, Conditions: t.conditions}, t.measure)
	if errors.Is(err, ErrNoChoice) {
		return nil, lab.AsInputError(err, t.notes...)
	}
	if err != nil {
		return nil, err
	}
	if err := t.endSeries(ctx); err != nil {
		return nil, err
	}
	return t.report(outcome)
}

// prepare finds the current settings, and the space that keeps the constraints.
func (t *Tuning) prepare(ctx context.Context) error {
	var err error
	if t.current, err = t.currentProfile(); err != nil {
		return err
	}
	if t.drivers = t.request.Drivers; len(t.drivers) == 0 {
		t.drivers = slices.Clone(t.request.Plan.Drivers[:min(1, len(t.request.Plan.Drivers))])
	}
	_, err = t.request.Plan.Expand(t.drivers) // all of them are to be right
	switch {
	case len(t.drivers) == 0:
		return lab.AsInputError(err, "name the driver in use with --drivers")
	case err != nil:
		return lab.AsInputError(err)
	}
	cases, err := t.request.Plan.Expand(t.drivers[:1])
	if err != nil {
		return lab.AsInputError(err)
	}
	only := map[string][]string{}
	maps.Copy(only, t.request.Only)
	only["profile"] = []string{t.current.Name}
	if t.operations, err = plan.SelectToMeasure(cases, only); err != nil {
		return lab.AsInputError(err)
	}
	t.operations = slices.DeleteFunc(t.operations, func(c assay.Case) bool { return len(c.Operation.Terms) > 0 }) // of others
	t.scalePlan()
	if t.proofs, err = t.store.Proofs(ctx, t.request.Plan.Text); err != nil {
		return err
	}
	t.request.Step(fmt.Sprintf("reading back the current settings: %s with profile %s", t.drivers[0], t.current.Name))
	if err := t.readBack(ctx); err != nil {
		return err
	}
	constraints := t.constraints()
	t.space, err = t.engine.space(t.effective, constraints)
	if !t.engine.isStore() && constraints.Unmapped != "" {
		t.notes = append(t.notes, "mmap_size is not tried: "+constraints.Unmapped+", where reading a mapped page can end the process (SIGBUS)")
	}
	if err != nil {
		return lab.AsInputError(err)
	}
	if err := t.estimate(ctx, only); err != nil {
		return err
	}
	if err := t.tryLevels(ctx); err != nil {
		return err
	}
	if err := t.tryIndexes(ctx); err != nil {
		return err
	}
	t.tryUses()
	return nil
}

// estimateTime is for how long operations are tried for an estimate.
const estimateTime = 5 * time.Second

// estimate says before anything is measured where the budget seems too small, by the cells of
// the current settings. What cannot be checked is left to the first launch, which drops it with
// a note.
func (t *Tuning) estimate(ctx context.Context, only map[string][]string) error {
	if t.request.Took != nil || t.request.Resume || len(t.space.active()) == 0 {
		return nil
	}
	checked, err := t.lab.Check(ctx, lab.Request{Plan: t.request.Plan, PlanFile: t.request.PlanFile, Drivers: t.drivers[:1], Only: only}, estimateTime)
	if errors.As(err, new(*lab.InputError)) {
		return nil
	}
	if err != nil {
		return err
	}
	t.warn(checked.Least.Total() / time.Duration(2*max(1, t.request.Plan.Launches))) // each has its A/A test
	return nil
}

// warn says once where the budget seems too small for an answer, if a member of a launch takes so
// long: a user who learned it from the answer would have waited for nothing.
func (t *Tuning) warn(member time.Duration) {
	needs := enough(member)
	if t.warned || t.request.Budget == 0 || needs <= t.request.Budget || len(t.space.active()) == 0 {
		return
	}
	t.warned = true
	t.lab.Watcher.Note(fmt.Sprintf("the budget of %s may be too small to confirm anything: that takes %s by an estimate; stop, and give a larger --budget, or tune fewer operations with --only",
		wording.Brief(t.request.Budget), minutes(needs)))
}

// currentProfile is the profile with the settings in use.
func (t *Tuning) currentProfile() (assay.Profile, error) {
	name := t.request.Current
	if name == "" {
		name = t.request.Plan.Profiles[0].Name
	}
	p, _, err := t.request.Plan.Profile(name)
	if err != nil {
		return p, lab.AsInputError(err)
	}
	if len(p.Raw) > 0 {
		return p, lab.AsInputError(fmt.Errorf("profile %s gives its DSN literally: tune changes settings that a profile names", name), "write what it requests as settings, or name another with --current")
	}
	return p, nil
}

// readBack opens the database with the current settings and reads them back.
func (t *Tuning) readBack(ctx context.Context) error {
	found, err := t.lab.Inspect(ctx, t.request.Plan, t.drivers[0], t.current.Name)
	if err != nil {
		return err
	}
	if t.engine = engine(found.Target.Engine); !slices.Contains(engines(), t.engine) {
		return lab.AsInputError(fmt.Errorf("driver %s is of the engine %s: tune knows the settings of %s", t.drivers[0], t.engine, strings.Join(wording.Texts(engines()), ", ")))
	}
	if t.request.Emit != "" {
		if err := t.engine.checkEmit(t.request.Emit); err != nil {
			return lab.AsInputError(err)
		}
	}
	if found.Trial.Outcome != assay.OK {
		return fmt.Errorf("the current settings cannot be measured: %s: %s", found.Trial.Outcome, found.Trial.Reason)
	}
	t.effective = effectiveSettings(found.Trial)
	t.base = t.engine.own(t.current.Settings)
	storage, why := t.lab.Storage()
	if err := checkStorage(storage, why, t.request.Durability, t.operations); err != nil {
		return lab.AsInputError(err, "set XDG_CACHE_HOME to a folder on a disk that keeps what was synced, or search for --durability "+string(storage))
	}
	known := false
	if t.now, known, err = t.engine.read(ctx, t); err != nil {
		return err
	}
	t.class, err = classToKeep(t.request.Durability, t.now, known)
	return err
}

// classToKeep is the class of durability that every candidate has to keep: the one that is
// asked for, or else that of the current settings, which is not known where nothing is
// committed.
func classToKeep(asked, current assay.Durability, known bool) (assay.Durability, error) {
	class := cmp.Or(asked, current)
	if known && (class == assay.DurabilityUnknown || class == assay.None) {
		return class, lab.AsInputError(fmt.Errorf("the current settings have durability %q, which tune does not search within", current), "say with --durability which every candidate has to keep")
	}
	return class, nil
}

// checkStorage refuses storage on which no settings have the class that is asked for.
// Without one, the class would be that of the storage, and the search would propose
// settings that lose data on a better one.
func checkStorage(storage assay.Durability, why string, asked assay.Durability, operations []assay.Case) error {
	changes := slices.ContainsFunc(operations, func(o assay.Case) bool { return o.Operation.Changes })
	switch {
	case !changes || storage.AtLeast(assay.Power):
		return nil
	case asked == "":
		return fmt.Errorf("the databases that tune measures would lie on storage that loses what was synced: %s", why)
	case !storage.AtLeast(asked):
		return fmt.Errorf("no settings have durability %s where tune measures: %s", asked, why)
	}
	return nil
}

// effectiveSettings returns the effective settings of the connections, the writers' where they
// differ.
func effectiveSettings(trial assay.Trial) map[string]string {
	all := map[string]string{}
	for _, s := range trial.Settings {
		if _, known := all[s.Name]; !known || wire.IsWriter(s.Connection) {
			all[s.Name] = s.Effective
		}
	}
	return all
}

func (t *Tuning) constraints() Constraints {
	c := Constraints{Connections: connections(t.operations), Class: t.class, Memory: int64(t.request.Memory), SingleProcess: t.request.SingleProcess, Drivers: t.drivers, Proven: t.proven, Synced: t.synced}
	for _, o := range t.operations {
		c.OwnFile = c.OwnFile || o.Dataset.File != ""
		c.Unmapped = cmp.Or(c.Unmapped, t.lab.Unmappable(o.Dataset.File))
	}
	return c
}

// connections returns the connections of an application that does all operations.
func connections(operations []assay.Case) int {
	readers, writers := 0, 0
	for _, o := range operations {
		switch op := o.Operation; {
		case len(op.Parts) > 0:
			readers = max(readers, o.Cell.Pool)
			if op.Changes {
				writers = max(writers, 1, op.Writers)
			}
		case op.Changes:
			writers = max(writers, 1, o.Cell.Pool)
		default:
			readers = max(readers, o.Cell.Pool)
		}
	}
	return readers + writers
}

// proven returns what assay crash left of a class that settings claim, of any of the
// drivers.
func (t *Tuning) proven(settings map[string]string, claimed assay.Durability) assay.Durability {
	for _, p := range t.proofs {
		profile, _, err := t.request.Plan.Profile(p.Profile)
		if err != nil || !t.isOurs(p.Target) {
			continue
		}
		tried := t.engine.own(profile.Settings)
		if p.Profile == t.current.Name {
			t.explicit(tried)
		}
		if contains(tried, settings) {
			claimed = p.Proven(string(t.engine), claimed)
		}
	}
	return claimed
}

// contains reports whether all of some settings are among others.
func contains(all, some map[string]string) bool {
	for name, value := range some {
		if all[name] != value {
			return false
		}
	}
	return true
}

// isOurs reports whether a target, NAME@VERSION[:OPTION...], is of one of the drivers.
func (t *Tuning) isOurs(target string) bool {
	name := assay.ParseDriverName(target).Name
	return slices.ContainsFunc(t.drivers, func(driver string) bool { return assay.ParseDriverName(driver).Name == name })
}

// tryLevels opens the database once with each level, and takes out of the space what
// the driver does not apply here.
func (t *Tuning) tryLevels(ctx context.Context) error {
	t.request.Step(fmt.Sprintf("opening the database with each value of %s", wording.Plural(len(t.space.Factors), "setting")))
	for j := len(t.space.Factors) - 1; j >= 0; j-- {
		for level := len(t.space.Factors[j].Levels) - 1; level > 0; level-- {
			p := make(Point, len(t.space.Factors))
			p[j] = level
			settings := t.space.Factors[j].Levels[level].Settings
			if settings["driver"] != "" {
				continue
			}
			tried := t.request.Plan.WithProfiles(t.request.Plan.Name, t.current.Name, []assay.Profile{t.profile(p)}, t.request.Plan.Seed)
			found, err := t.lab.Inspect(ctx, tried, t.drivers[0], t.profile(p).Name)
			if err != nil {
				return err
			}
			why := ""
			switch class := found.Trial.Durability; {
			case found.Trial.Outcome != assay.OK:
				why = "cannot be used: " + found.Trial.Reason
			case class != assay.DurabilityUnknown && !t.space.Priced(p) && !class.AtLeast(t.class):
				why = fmt.Sprintf("is no candidate: it keeps only the durability %s", class)
			default:
				continue
			}
			t.notes = append(t.notes, t.space.Factors[j].Levels[level].Text()+" "+why)
			t.space = t.space.Without(j, level)
			if len(t.space.Factors) < len(p) {
				break
			}
		}
	}
	return nil
}

// Bytes is an amount of memory.
type Bytes int64

const units = "KMG"

// ParseBytes reads an amount of memory, such as 256M, 1GiB or 1000000.
func ParseBytes(text string) (Bytes, error) {
	digits := strings.TrimRight(strings.ToUpper(text), "IB")
	factor := int64(1)
	for i, unit := range units {
		if rest, ok := strings.CutSuffix(digits, string(unit)); ok {
			digits, factor = rest, 1<<(10*(i+1))
		}
	}
	n, err := strconv.ParseInt(digits, 10, 64)
	if err != nil || n <= 0 || n > 1<<40/factor {
		return 0, fmt.Errorf("%q: want an amount of memory such as 256M", text)
	}
	return Bytes(n * factor), nil
}

// String writes the amount as ParseBytes reads it, in the largest unit that loses nothing.
func (b Bytes) String() string {
	n, unit := int64(b), ""
	for _, u := range units {
		if n == 0 || n%1024 != 0 {
			break
		}
		n, unit = n/1024, string(u)
	}
	return fmt.Sprint(n, unit)
}
