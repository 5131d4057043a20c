package gate

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"assay"
	"assay/internal/build"
	"assay/internal/lab"
	"assay/internal/store"
	"assay/internal/sys/file"
)

// Step holds what was found of one version.
type Step struct {
	Version string
	Worse   string // in what; empty: it is not shown to be worse
	Skipped error  // why it was not compared
	Plans   bool   // query plans were compared, nothing was measured
	Known   bool   // an earlier bisection found it
}

// String is the step in a line.
func (s Step) String() string {
	how := "measured"
	if s.Plans {
		how = "query plans"
	}
	if s.Known {
		how += ", known"
	}
	switch {
	case s.Skipped != nil:
		return s.Version + ": skipped: " + build.FirstError(s.Skipped)
	case s.Worse != "":
		return fmt.Sprintf("%s (%s): worse: %s", s.Version, how, s.Worse)
	}
	return fmt.Sprintf("%s (%s): not shown to be worse", s.Version, how)
}

// Bisection holds what was found.
type Bisection struct {
	Driver, Good, Bad string
	First, Before     string   // the first version that is worse, and the last one before it that is not; empty: none is
	Worse             string   // in what
	Between           []string // versions between these two, which were skipped
	Undecided         string   // what is, where no version is worse
}

// String is the answer.
func (b *Bisection) String() string {
	if b.First == "" {
		text := fmt.Sprintf("%s %s is not shown to be worse than %s", b.Driver, b.Bad, b.Good)
		if b.Undecided != "" {
			text += "; " + b.Undecided
		}
		return text
	}
	text := fmt.Sprintf("%s %s is the first version that is worse than %s: %s", b.Driver, b.First, b.Good, b.Worse)
	if len(b.Between) > 0 {
		return text + fmt.Sprintf("; or one of those after %s that were skipped: %s", b.Before, strings.Join(b.Between, ", "))
	}
	return text + "; " + b.Before + " is not shown to be"
}

// bisector looks for the first of several versions that is worse than the one before all.
type bisector struct {
	driver   string
	versions []string                                                             // older ones first: the good one, ..., the bad one
	plans    func(ctx context.Context, version string) (map[string]string, error) // nil: there are none to compare
	measure  func(ctx context.Context, version string) (worse string, err error)
	known    map[string]string // what was found of versions, by key; empty texts: not worse
	keep     func(map[string]string) error
	report   func(Step)

	skipped map[int]bool
	planned map[string]string // query plans of the good version
}

// find compares query plans first, which takes seconds, and measures only where the bad version's
// are no worse.
func (b *bisector) find(ctx context.Context) (*Bisection, error) {
	b.skipped = map[int]bool{}
	last := len(b.versions) - 1
	result := &Bisection{Driver: b.driver, Good: b.versions[0], Bad: b.versions[last]}
	for _, plans := range []bool{true, false} {
		if plans && b.plans == nil {
			continue
		}
		worse, err := b.judge(ctx, last, plans)
		if open := new(undecidedError); errors.As(err, open) {
			result.Undecided = open.Error()
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("compare %s with %s: %w", b.versions[last], b.versions[0], err)
		}
		if worse == "" {
			continue
		}
		low, high, worse, err := b.search(ctx, plans, worse)
		if err != nil {
			return nil, err
		}
		result.Before, result.First, result.Worse, result.Between = b.versions[low], b.versions[high], worse, b.versions[low+1:high]
		return result, nil
	}
	return result, nil
}

// maxUndecided is how many versions may be undecided: each was measured for the whole budget, and
// others between the same two are likely undecided too.
const maxUndecided = 3

// search halves the versions between one that is not worse and one that is, as long as there is one
// that can be built, and few are undecided.
func (b *bisector) search(ctx context.Context, plans bool, worse string) (low, high int, why string, err error) {
	low, high, why = 0, len(b.versions)-1, worse
	for undecided := 0; ; {
		at := b.midpoint(low, high)
		if at < 0 || undecided == maxUndecided {
			return low, high, why, nil
		}
		worse, err := b.judge(ctx, at, plans)
		switch {
		case ctx.Err() != nil || errors.Is(err, errNotKept) || errors.Is(err, build.ErrUnreachable): // it says nothing of the version
			return 0, 0, "", err
		case err != nil:
			if errors.As(err, new(undecidedError)) {
				undecided++
			}
			b.skipped[at] = true
			b.report(Step{Version: b.versions[at], Skipped: err, Plans: plans})
		case worse != "":
			high, why = at, worse
		default:
			low = at
		}
	}
}

// midpoint returns the version nearest to the middle that was not skipped; -1: there is none.
func (b *bisector) midpoint(low, high int) int {
	best, midpoint := -1, (low+high)/2
	for i := low + 1; i < high; i++ {
		if !b.skipped[i] && (best < 0 || max(i-midpoint, midpoint-i) < max(best-midpoint, midpoint-best)) {
			best = i
		}
	}
	return best
}

var errNotKept = errors.New("what was found cannot be kept")

// judge says in what a version is worse than the good one; nothing where it is not.
func (b *bisector) judge(ctx context.Context, at int, plans bool) (string, error) {
	version, key := b.versions[at], "measured "+b.versions[at]
	if plans {
		key = "plans " + version
	}
	worse, known := b.known[key]
	if !known {
		var err error
		if plans {
			worse, err = b.worsePlan(ctx, version)
		} else {
			worse, err = b.measure(ctx, version)
		}
		if err != nil {
			return "", err
		}
		b.known[key] = worse
		if err := b.keep(b.known); err != nil {
			return "", fmt.Errorf("%w: %w", errNotKept, err)
		}
	}
	b.report(Step{Version: version, Worse: worse, Plans: plans, Known: known})
	return worse, nil
}

// worsePlan is the first query plan that is worse than the good version's.
func (b *bisector) worsePlan(ctx context.Context, version string) (string, error) {
	var err error
	if b.planned == nil {
		if b.planned, err = b.plans(ctx, b.versions[0]); err != nil {
			return "", err
		}
	}
	is, err := b.plans(ctx, version)
	if err != nil {
		return "", err
	}
	for _, name := range slices.Sorted(maps.Keys(b.planned)) {
		text, planned := is[name]
		if !planned {
			continue // it refuses the operation, which measuring shows
		}
		c := Cell{Operation: name}
		if c.queryPlan(b.planned[name], text); len(c.Suspicions) > 0 {
			return name + ": " + c.Suspicions[0].Message, nil
		}
	}
	return "", nil
}

// Bisect names the first published version of a driver, after the request's base and up to its head,
// that is worse than the base. It tells each step. What it finds is kept in a folder, so that another
// bisection of the same goes on.
func Bisect(ctx context.Context, l *lab.Lab, s *store.Store, request Request, folder string, report func(Step)) (*Bisection, error) {
	m := &Measuring{lab: l, request: request}
	drivers, err := m.drivers()
	if err != nil {
		return nil, err
	}
	driver := drivers[0] // a bisection names one
	if driver.Ecosystem == "" {
		return nil, noVersions(driver)
	}
	published, err := l.Versions(ctx, driver)
	if err != nil {
		return nil, err
	}
	versions, err := releases(driver.Ecosystem, published, request.Base, request.Head)
	if err != nil {
		return nil, lab.AsInputError(err)
	}
	b := &bisector{driver: request.Driver, versions: versions, report: report}
	if !request.Plan.KV() && !driver.Server {
		b.plans = func(ctx context.Context, version string) (map[string]string, error) {
			return l.QueryPlans(ctx, request.Plan, m.named(version))
		}
	}
	b.measure = func(ctx context.Context, version string) (string, error) {
		return m.measureVersion(ctx, s, version, b.known)
	}
	key, err := request.key(l.Version)
	if err != nil {
		return nil, lab.AsInputError(err)
	}
	path := filepath.Join(folder, key+".json")
	if b.known, err = readKnown(path); err != nil {
		return nil, err
	}
	b.keep = func(known map[string]string) error { return writeKnown(path, known) }
	return b.find(ctx)
}

// suspectsKey is where it is kept in which cells the last one of the versions that are worse is so.
const suspectsKey = "suspects"

// measureVersion says in what a version is worse than the base, in all cells or in those in which
// a later one is.
func (m *Measuring) measureVersion(ctx context.Context, s *store.Store, version string, known map[string]string) (string, error) {
	var suspects map[string][]string
	if text := known[suspectsKey]; text != "" {
		if err := json.Unmarshal([]byte(text), &suspects); err != nil {
			return "", fmt.Errorf("read in what a later version is worse: %w", err)
		}
	}
	if _, err := m.lab.Build(ctx, m.named(version)); err != nil {
		return "", err
	}
	u := &Upgrade{}
	if err := m.measure(ctx, s, pair{driver: m.request.Driver, base: m.named(m.request.Base), head: m.named(version)}, suspects, u); err != nil {
		return "", err
	}
	worse, err := u.worse(m.request.Rules)
	if worse != "" {
		text, err := json.Marshal(u.First.Suspects())
		if err != nil {
			return "", err
		}
		known[suspectsKey] = string(text)
	}
	return worse, err
}

// named is a version of the driver as plans name it.
func (m *Measuring) named(version string) string {
	return assay.DriverName{Name: m.request.Driver, Version: version}.String()
}

// worse says in what the head is worse; nothing where it is not. It is an error that nothing
// could be compared.
func (u *Upgrade) worse(rules Rules) (string, error) {
	rules.FailUndecided = false
	findings := u.Findings(rules)
	for _, f := range findings {
		if f.Kind != Open {
			return f.Cell + ": " + f.Message, nil
		}
	}
	if len(findings) > 0 {
		return "", errors.New(findings[0].Message)
	}
	if open := u.undecided(); len(open) > 0 {
		return "", undecidedError(fmt.Sprintf("%d of %d undecided, as %s: %s; a longer --budget or a larger --max-slowdown could decide",
			len(open), len(u.First.Cells), open[0].Name(), open[0].Reason))
	}
	return "", nil
}

// undecidedError says which cells are undecided: it tells neither half of the versions.
type undecidedError string

func (e undecidedError) Error() string { return string(e) }

// releases are the versions from the good one to the bad one, without those that are no releases.
func releases(e build.Ecosystem, published []string, good, bad string) ([]string, error) {
	for _, version := range []string{good, bad} {
		if !e.IsVersion(version) {
			return nil, fmt.Errorf("%q is not a full version", version)
		}
	}
	if e.Compare(good, bad) >= 0 {
		return nil, fmt.Errorf("--good %s is not older than --bad %s", good, bad)
	}
	all := []string{good}
	for _, version := range published {
		if e.Released(version) && e.Compare(good, version) < 0 && e.Compare(version, bad) < 0 {
			all = append(all, version)
		}
	}
	return append(all, bad), nil
}

// key names what is compared, how and by which assay: with another budget, what was undecided can
// be decided, and with another file of the user all can change.
func (r Request) key(version string) (string, error) {
	text := fmt.Appendf(nil, "%s %q %q %q %v %s %q", version, r.Driver, r.Base, r.Head, r.Rules.MaxSlowdown, r.Budget, r.Plan.Text)
	cases, err := r.Plan.Expand([]string{r.Driver})
	if err != nil {
		return "", err
	}
	for _, c := range cases {
		for _, name := range []string{c.Dataset.File, c.Dataset.Recorded} {
			if name == "" {
				continue
			}
			info, err := os.Stat(name)
			if err != nil {
				return "", err
			}
			text = fmt.Appendf(text, " %q %d %d", name, info.Size(), info.ModTime().UnixNano())
		}
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:8]), nil
}

// maxKnown bounds what is read of an earlier bisection.
const maxKnown = 1 << 20

// readKnown reads what earlier bisections of the same found.
func readKnown(path string) (map[string]string, error) {
	known := map[string]string{}
	text, err := file.Read(path, maxKnown)
	if errors.Is(err, fs.ErrNotExist) {
		return known, nil
	}
	if err == nil {
		err = json.Unmarshal(text, &known)
	}
	if err != nil {
		return nil, fmt.Errorf("read what an earlier bisection found: %w; remove it to begin anew", err)
	}
	return known, nil
}

func writeKnown(path string, known map[string]string) error {
	text, err := json.MarshalIndent(known, "", "  ")
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	return file.Write(path, append(text, '\n'))
}
