package gate

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"assay"
	"assay/internal/analysis/wording"
	"assay/internal/build"
	"assay/internal/lab"
)

// pair is a base and a head that are to be compared.
type pair struct {
	driver      string // empty: they are builds of different drivers
	base, head  string // as the plan's drivers are named
	file        string // that pins its library; empty: none does
	line        int
	notMeasured string // why they cannot be; then base and head are what that file pins
}

func (m *Measuring) find(ctx context.Context) ([]pair, error) {
	drivers, err := m.drivers()
	if err != nil {
		return nil, err
	}
	switch {
	case m.request.Revision != "":
		return m.moved(ctx, drivers)
	case m.request.Driver == "" && isFolder(m.request.Head):
		return nil, lab.AsInputError(fmt.Errorf("--head %s is a folder: name its driver with --driver", m.request.Head))
	case m.request.Driver == "":
		one := pair{base: m.request.Base, head: m.request.Head}
		return []pair{one}, one.differs()
	}
	one := pair{driver: m.request.Driver}
	if one.base, err = m.side(ctx, drivers[0], m.request.Base); err != nil {
		return nil, err
	}
	if one.head, err = m.side(ctx, drivers[0], m.request.Head); err != nil {
		return nil, err
	}
	if pinned, err := pinOf(drivers[0], filesIn(m.request.Dir)); err == nil && pinned.File != "" {
		one.file, one.line = filepath.ToSlash(filepath.Join(m.request.Dir, pinned.File)), pinned.Line
	}
	return []pair{one}, one.differs()
}

// drivers are all, or the one that was asked for.
func (m *Measuring) drivers() ([]build.Driver, error) {
	all, err := m.lab.Source.Drivers()
	if err != nil || m.request.Driver == "" {
		return all, err
	}
	i := slices.IndexFunc(all, func(d build.Driver) bool { return d.Name == m.request.Driver })
	if i < 0 {
		return nil, lab.AsInputError(build.NoDriver(m.request.Driver, all), "assay drivers lists the drivers")
	}
	return all[i : i+1], nil
}

// differs refuses a pair of the same build before any is made.
func (p pair) differs() error {
	if p.base != p.head {
		return nil
	}
	return sameProgram(p.base, p.head)
}

func sameProgram(base, head string) error {
	return lab.AsInputError(fmt.Errorf("%s and %s are the same program", base, head), "assay noise measures equal things")
}

func isFolder(name string) bool {
	return name == "." || name == ".." || strings.ContainsAny(name, `/\`)
}

// noVersions refuses the versions of a driver whose worker pins what it is made of.
func noVersions(d build.Driver) error {
	return lab.AsInputError(fmt.Errorf("driver %s has no versions: no registry that assay knows has its library", d.Name), "assay drivers lists the drivers that have a version")
}

// versionLike is what a user writes for a version.
var versionLike = regexp.MustCompile(`^v?[0-9]+(\.|$)`)

// side is the build of a driver that a version or the folder of a checkout names.
func (m *Measuring) side(ctx context.Context, d build.Driver, name string) (string, error) {
	if d.Ecosystem == "" && versionLike.MatchString(name) {
		return "", noVersions(d)
	}
	if !isFolder(name) {
		spec := assay.DriverName{Name: d.Name, Version: name}.String()
		_, err := build.ParseSpec(spec)
		if _, absent := os.Stat(filepath.Join(name, "go.mod")); err == nil && absent == nil && d.Ecosystem == build.Go && !d.Ecosystem.IsVersion(name) {
			err = fmt.Errorf("%s is not a version of driver %s", name, d.Name) // it would be read as the name of a driver
		}
		return spec, lab.AsInputError(err, "a folder has a slash in its name: ./"+name)
	}
	c, err := build.NewCheckout(ctx, name)
	switch {
	case ctx.Err() != nil:
		return "", ctx.Err()
	case err != nil:
		return "", lab.AsInputError(err)
	case d.Package != c.Module:
		return "", lab.AsInputError(fmt.Errorf("%s holds the module %s, and driver %s is built of %s", name, c.Module, d.Name, cmp.Or(d.Package, "none")))
	}
	m.lab.Checkouts = append(m.lab.Checkouts, c)
	return assay.DriverName{Name: d.Name, Version: c.Version}.String(), nil
}

// moved returns the drivers whose version in the lock files is another than at a
// revision.
func (m *Measuring) moved(ctx context.Context, drivers []build.Driver) ([]pair, error) {
	if m.request.Driver != "" {
		if drivers[0].Ecosystem == "" {
			return nil, noVersions(drivers[0])
		}
		if pinned, err := pinOf(drivers[0], filesIn(m.request.Dir)); err == nil && (pinned.File == "" || pinned.Folder == "" && !drivers[0].Ecosystem.IsVersion(pinned.Version)) {
			return nil, lab.AsInputError(fmt.Errorf("no lock file of %s pins %s, of which driver %s is built: no upgrade of it can be seen", m.request.Dir, drivers[0].Package, m.request.Driver),
				"name a driver that it pins, or leave --driver out for all")
		}
	}
	drivers = slices.DeleteFunc(slices.Clone(drivers), func(d build.Driver) bool { return d.Ecosystem == "" })
	moves, err := Moves(ctx, m.request.Dir, m.request.Revision, drivers)
	if text := m.otherPlan(ctx); text != "" {
		m.lab.Watcher.Note(text)
	}
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if err != nil {
		return nil, lab.AsInputError(err, "run it in the folder of the lock files of a git repository, or name one with --dir; a shallow clone has no other revisions")
	}
	var all []pair
	for _, move := range moves {
		one, err := m.movedPair(ctx, move)
		if err != nil {
			return nil, err
		}
		all = append(all, one)
	}
	return all, nil
}

// otherPlan says where the plan, which lies below the folder, was another one at the revision, such
// as before a migration: only drivers are compared.
func (m *Measuring) otherPlan(ctx context.Context) string {
	dir, _ := filepath.Abs(m.request.Dir)
	name, err := filepath.Rel(dir, m.request.PlanFile)
	if err != nil || !filepath.IsLocal(name) { // such as a built-in plan
		return ""
	}
	was, err := filesOf(ctx, dir, m.request.Revision)(filepath.ToSlash(name))
	if err != nil || string(was) == m.request.Plan.Text {
		return ""
	}
	return fmt.Sprintf("%s is not as at %s: base and head have its schema, data and queries of now; what their change does is not measured", name, m.request.Revision)
}

func (m *Measuring) movedPair(ctx context.Context, move Move) (pair, error) {
	d := move.Driver
	one := pair{driver: d.Name, line: move.Head.Line, file: filepath.ToSlash(filepath.Join(m.request.Dir, move.Head.File))}
	if one.notMeasured = m.hindrance(move); one.notMeasured != "" {
		one.base, one.head = move.Base.String(), move.Head.String()
		return one, nil
	}
	head := move.Head.Version
	if folder := move.Head.Folder; folder != "" {
		if head = folder; !filepath.IsAbs(folder) {
			head, _ = filepath.Abs(filepath.Join(m.request.Dir, folder))
		}
	}
	var err error
	if one.base, err = m.side(ctx, d, move.Base.Version); err != nil {
		return one, err
	}
	one.head, err = m.side(ctx, d, head)
	return one, err
}

// hindrance returns why a move cannot be measured; empty where it can.
func (m *Measuring) hindrance(move Move) string {
	d := move.Driver
	switch byHand := "measure it with assay gate --driver " + d.Name + " --base VERSION --head FOLDER"; {
	case d.Store && !m.request.Plan.KV():
		return "plan " + m.request.Plan.Name + " has no kv operations: " + wording.Command("", "gate", "kv", "--base-ref", m.request.Revision, "--driver", d.Name, "--dir", m.request.Dir)
	case d.Ecosystem != build.Go && !(d.Ecosystem.IsVersion(move.Base.Version) && d.Ecosystem.IsVersion(move.Head.Version)):
		return "no file says which published version of " + d.Package + " is installed: keep a lock file in git, or measure it with assay gate --driver " + d.Name + " --base VERSION --head VERSION"
	case move.Head.Fork != "":
		return "go.mod replaces it with " + move.Head.Fork + ", and assay builds versions and checkouts of " + d.Module + " only: " + byHand
	case move.Base.Fork != "":
		return "go.mod replaced it with " + move.Base.Fork + ", and assay builds versions and checkouts of " + d.Module + " only"
	case move.Base.Folder != "":
		return "go.mod replaced it with the folder " + move.Base.Folder + ", whose files may have changed since: " + byHand
	}
	return ""
}
