// Package build finds the sources of worker programs, builds them and keeps
// them in a cache. A worker is built from a copy of its own folder and kit,
// apart from every other module, so that no other driver can move the versions
// it is made of.
package build

import (
	"cmp"
	"context"
	"debug/buildinfo"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"assay/internal/sys/guard"
	"assay/internal/sys/near"
	"assay/kit/wire"
)

// Event reports the progress of a worker's build.
type Event struct {
	Worker string // as Spec.String gives it
	State  State
	Took   time.Duration // since Build was called
	// Number counts the builds of a run from 1, and Of says how many it has; 0 where a build is
	// alone.
	Number, Of int
}

// State says how far the build of a worker is.
type State string

// The states of a build.
const (
	Cached   State = "cached" // nothing has to be compiled
	Building State = "building"
	Built    State = "built"
)

// Builder builds workers. Its methods may be called by several goroutines, and
// several processes may use one cache.
type Builder struct {
	Source Source
	Cache  string      // a folder; made where it is not there
	Log    func(Event) // may be nil
	// Checkouts are drivers' sources in folders. A spec names one by its version.
	Checkouts []Checkout
	Bundle    *Bundle // whose workers are built already; nil: there is none
	// Hello asks a program what it is, before it is cached as a worker; nil: it is not asked.
	Hello func(ctx context.Context, program string) (wire.Hello, error)
}

// Worker is a program that can be started.
type Worker struct {
	Name      string
	Version   string   // of the driver as resolved; empty where there is none
	Program   string   // absolute path
	Digest    string   // of everything that went into the program, hex
	Module    string   // the driver library; empty where there is none
	Modules   []string // path@version of all modules in the program, sorted
	Toolchain string   // the Go version, or what a C compiler says of itself; empty for a prebuilt worker
	Options   []string // compile options of SQLite that were asked for
	Named     bool     // Version is of a checkout or of several modules: the program cannot say it by itself
	// Layouts are programs that differ from each other in the order of their
	// functions only; empty where BuildLayouts was not called.
	Layouts []string
	// FixedLayout says which part of the code has the same order in all of
	// them; empty where there is none.
	FixedLayout string
	Took        time.Duration
	Cached      bool // nothing was compiled
}

// Build returns the worker of a spec, from the cache where nothing of what it
// is made of has changed. An error names the worker, what was run, the end of
// the compiler's output, and what to do where that is known. When ctx ends,
// the compiler is killed and what it left is removed.
func (b *Builder) Build(ctx context.Context, spec Spec) (Worker, error) {
	start := time.Now()
	w, bundled, err := b.Bundle.worker(spec)
	if err == nil && !bundled {
		w, err = b.find(ctx, spec, start)
	}
	if err != nil {
		return Worker{}, b.failed(spec, err)
	}
	w.Took = time.Since(start)
	state := Built
	if w.Cached {
		state = Cached
	}
	b.log(Event{Worker: spec.String(), State: state, Took: w.Took})
	return w, nil
}

// Check reports what is wrong with a spec as far as that takes no compiler, such as a
// version that nobody published or a compile option that SQLite does not have. It fetches
// what a build needs to know, and says nothing of scripts, whose builds find that out.
func (b *Builder) Check(ctx context.Context, spec Spec) error {
	if err := b.check(ctx, spec); err != nil {
		return b.failed(spec, err)
	}
	return nil
}

func (b *Builder) check(ctx context.Context, spec Spec) error {
	if _, bundled, err := b.Bundle.worker(spec); bundled || err != nil {
		return err
	}
	d, err := b.Source.driver(spec.Name)
	switch {
	case err != nil:
		return err
	case d.Prebuilt:
		return checkNotCompiled(d, spec)
	case d.asked(spec.Version) != "":
		return d.checkVersion(spec.Version)
	case d.Script && isVersion(spec.Version):
		return b.Source.notWithCgo(ctx, spec.Version)
	case d.Script:
		return nil
	case d.C:
		j, err := b.newCJob(ctx, d, spec)
		if err != nil {
			return err
		}
		return knownOptions(j.sqlite, spec.Options)
	}
	j, err := b.newJob(ctx, d, spec)
	if err != nil || intact(j.program) && len(j.options) == 0 {
		return err
	}
	return j.check(ctx)
}

// checkNotCompiled refuses options of what is not compiled here, and what is no version of it.
func checkNotCompiled(d Driver, spec Spec) error {
	if len(spec.Options) > 0 {
		return &SpecError{fmt.Errorf("assay does not compile its SQLite, so it has no compile options: ask for %s", d.Name)}
	}
	return d.checkVersion(spec.Version)
}

func (b *Builder) log(e Event) {
	if b.Log != nil {
		b.Log(e)
	}
}

// buildingInterval is the time between reports that a worker is still being built: a driver
// in C takes minutes on a busy machine.
const buildingInterval = 30 * time.Second

// building reports repeatedly that a worker is being built, until the returned function
// is called.
func (b *Builder) building(worker string, start time.Time) (end func()) {
	b.log(Event{Worker: worker, State: Building, Took: time.Since(start)})
	done := make(chan struct{})
	var telling sync.WaitGroup
	var caught guard.Catcher
	telling.Go(func() {
		caught.Do(func() {
			tick := time.NewTicker(buildingInterval)
			defer tick.Stop()
			for {
				select {
				case <-done:
					return
				case <-tick.C:
					b.log(Event{Worker: worker, State: Building, Took: time.Since(start)})
				}
			}
		})
	})
	return func() { close(done); telling.Wait(); caught.Rethrow() }
}

func (b *Builder) find(ctx context.Context, spec Spec, start time.Time) (Worker, error) {
	spec, err := ParseSpec(spec.String()) // a caller's own may be out of order
	if err != nil {
		return Worker{}, err
	}
	d, err := b.Source.driver(spec.Name)
	if err != nil {
		return Worker{}, err
	}
	if d.Prebuilt && !d.Installs {
		return b.prebuilt(d, spec)
	}
	r, err := b.recipe(ctx, d, spec)
	if err != nil {
		return Worker{}, err
	}
	cached := intact(r.place())
	if !cached {
		defer b.building(spec.String(), start)()
		if err := r.build(ctx); err != nil {
			return Worker{}, err
		}
	}
	return r.worker(cached)
}

// recipe is how a worker is made: a job, a cJob or an installation.
type recipe interface {
	place() string // in the cache, of the program or of the folder that has it
	build(ctx context.Context) error
	worker(cached bool) (Worker, error)
}

// recipe finds out all that a worker is made of; env has more variables for the go command.
func (b *Builder) recipe(ctx context.Context, d Driver, spec Spec, env ...string) (recipe, error) {
	switch {
	case d.Prebuilt:
		return b.newInstallation(ctx, d, spec)
	case d.C || d.Script:
		return b.newCJob(ctx, d, spec, env...)
	}
	return b.newJob(ctx, d, spec)
}

// NoDriver returns the error for an unknown driver name, with the name that was probably
// meant.
func NoDriver(name string, drivers []Driver) error {
	var known []string
	for _, d := range drivers {
		known = append(known, d.Name)
	}
	return fmt.Errorf("there is no driver %q%s", name, near.Question(name, known))
}

// failed names the worker that could not be built, or says that there is none and
// which one was probably meant.
func (b *Builder) failed(spec Spec, err error) error {
	if !errors.Is(err, errNoWorker) {
		return fmt.Errorf("worker %s: %w", spec, err)
	}
	if _, problem := os.Stat(filepath.Join(b.Source.Dir, "workers", spec.Name)); problem == nil {
		return fmt.Errorf("worker %s: %w in %s", spec, err, b.Source.Dir)
	}
	drivers, _ := b.Source.Drivers()
	return NoDriver(spec.Name, drivers)
}

// prebuilt uses the executable as it is, in any language.
func (b *Builder) prebuilt(d Driver, spec Spec) (Worker, error) {
	if err := checkNotCompiled(d, spec); err != nil {
		return Worker{}, err
	}
	files, err := b.Source.worker(d)
	if err != nil {
		return Worker{}, err
	}
	program, err := filepath.Abs(filepath.Join(d.Dir, "worker"))
	return Worker{Name: d.Name, Program: program, Digest: files.sum(""), Cached: true}, err
}

// job is one build: everything that goes into it, and where its result is.
type job struct {
	builder  *Builder
	driver   Driver
	version  string   // asked, other than the pinned one; or empty
	checkout Checkout // that the version names; without a Dir where it is published
	engine   Driver   // whose module the driver is built on, instead of the version that its go.mod has; mostly none
	options  []string
	defines  []string // the options as a C compiler takes them
	layout   int      // seed of the order of functions; 0: the linker's own
	files    tree
	tools    toolchain
	slot
}

// slot is the place of a build in the cache.
type slot struct{ digest, program string }

func (s slot) place() string { return s.program }

func (b *Builder) newJob(ctx context.Context, d Driver, spec Spec) (*job, error) {
	j := &job{builder: b, driver: d, options: spec.Options, defines: spec.defines()}
	if spec.Version != d.Version {
		j.version = spec.Version
	}
	if err := j.findEngine(); err != nil {
		return nil, err
	}
	if d.Module == "" && (j.version != "" || len(j.options) > 0) {
		return nil, &SpecError{fmt.Errorf("it imports no driver module, so it has no versions and no compile options: ask for %s", d.Name)}
	}
	if j.version != "" && !versionPattern.MatchString(j.version) {
		example := cmp.Or(versionPattern.FindString("v"+j.version), "v1.2.3")
		return nil, &SpecError{fmt.Errorf("%q is neither a version, such as %s@%s, nor the name of a driver whose module %s requires", j.version, d.Name, example, d.Module)}
	}
	j.checkout, _ = b.checkout(d.Module, j.version)
	var err error
	if j.files, err = j.sources(); err != nil {
		return nil, err
	}
	if j.tools, err = findToolchain(ctx, d.Dir); err != nil {
		return nil, err
	}
	j.slot, err = b.slot(Spec{d.Name, cmp.Or(j.version, d.Version), j.options}, j.files.sum("worker %s %q %q %q ", d.Name, j.version, j.options, j.tools.lines()))
	return j, err
}

// slot returns the slot of a build of this name and digest.
func (b *Builder) slot(name Spec, digest string) (slot, error) {
	program, err := filepath.Abs(filepath.Join(b.Cache, "workers", strings.NewReplacer(":", "+", "=", "-").Replace(name.String())+"-"+digest[:16]))
	return slot{digest, program}, err
}

// findEngine takes a driver's name for a version: zombiezen@modernc is zombiezen on the
// module that the worker modernc pins, as its users get it with go get.
func (j *job) findEngine() error {
	engine, err := j.builder.Source.driver(j.version)
	if j.version == "" || err != nil || engine.Module == "" || engine.Module == j.driver.Module {
		return nil // it is not a driver's name, or of no use here
	}
	data, err := os.ReadFile(filepath.Join(j.driver.Dir, "go.mod"))
	if err != nil {
		return err
	}
	mod, err := parseGoMod(data)
	if err == nil && mod.requires[engine.Module] != "" {
		j.engine, j.version = engine, j.driver.Version
	}
	return err
}

// sources returns kit and the worker, with a go.mod for the version asked.
func (j *job) sources() (tree, error) {
	kit, err := j.builder.Source.kit()
	if err != nil {
		return nil, err
	}
	own, err := j.builder.Source.worker(j.driver)
	if err != nil {
		return nil, err
	}
	if j.version != "" {
		if own, err = j.atVersion(own); err != nil {
			return nil, err
		}
	}
	return append(kit, own...), nil
}

// atVersion replaces go.mod and drops go.sum, which is about other versions.
func (j *job) atVersion(t tree) (tree, error) {
	var changed tree
	for _, f := range t {
		switch f.path {
		case "workers/" + j.driver.Name + "/go.sum":
			continue
		case "workers/" + j.driver.Name + "/go.mod":
			mod, err := parseGoMod(f.data)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", f.path, err)
			}
			f.data = mod.onlyDriver(j.modules(), j.checkout)
		}
		changed = append(changed, f)
	}
	return changed, nil
}

// modules returns the modules that the build is asked to be made of, path@version each: the
// driver, and the engine where that is another one than the driver's own go.mod says.
func (j *job) modules() []string {
	all := []string{j.driver.Module + "@" + cmp.Or(j.version, j.driver.Version)}
	if j.engine.Name != "" {
		all = append(all, j.engine.Module+"@"+j.engine.Version)
	}
	return all
}

// worker describes the finished program as its own build information does.
func (j *job) worker(cached bool) (Worker, error) {
	info, err := buildinfo.ReadFile(j.program)
	if err != nil {
		return Worker{}, fmt.Errorf("cached program cannot be read, remove it and build again: %w", err)
	}
	w := Worker{Name: j.driver.Name, Program: j.program, Digest: j.digest, Module: j.driver.Module,
		Toolchain: info.GoVersion, Options: j.options, Named: j.checkout.Dir != "" || j.engine.Name != "", Cached: cached}
	for module, version := range resolved(info) {
		w.Modules = append(w.Modules, module+"@"+version)
		if module == w.Module {
			w.Version = version
		}
	}
	if j.engine.Name != "" {
		w.Version += "+" + j.engine.Name
	}
	slices.Sort(w.Modules)
	return w, nil
}

// resolved returns the modules in a program with their versions.
func resolved(info *buildinfo.BuildInfo) map[string]string {
	versions := map[string]string{}
	for _, m := range info.Deps {
		versions[m.Path] = m.Version
		if m.Replace != nil && strings.HasPrefix(m.Replace.Version, "v") { // not a folder
			versions[m.Path] = m.Replace.Version
		}
	}
	return versions
}
