package build

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"assay/internal/sys/file"
)

// bundleFile lies beside the program where both were unpacked from a bundle.
const bundleFile = "bundle.json"

// maxBundleFile bounds what is read of it.
const maxBundleFile = 16 << 20

// Bundle holds what lies beside a program that was unpacked from one: a plan, its data, and
// workers that were built where the bundle was made. A nil Bundle has nothing.
type Bundle struct {
	Dir     string   `json:"-"`       // an absolute path; all others are relative to it
	System  string   `json:"system"`  // that the programs are for
	Plan    string   `json:"plan"`    // a file, or the name of a built-in one
	File    bool     `json:"file"`    // Plan is one
	Drivers []string `json:"drivers"` // instead of the plan's; none: the plan's
	Workers []Packed `json:"workers"`
	// Data are copies of the files that the plan names, by their whole paths and by those
	// relative to the plan: it may have either.
	Data map[string]string `json:"data,omitempty"`
}

// Packed is a worker of a bundle, with the digests of its programs or folders.
type Packed struct {
	Spec   string            `json:"spec"`
	Worker Worker            `json:"worker"`
	Sums   map[string]string `json:"sums"`
}

// system returns the system that programs run on.
func system() string { return runtime.GOOS + "/" + runtime.GOARCH }

// FindBundle finds the bundle that this program was unpacked from; nil: there is none.
func FindBundle() (*Bundle, error) {
	executable, err := os.Executable()
	if err == nil {
		executable, err = filepath.EvalSymlinks(executable)
	}
	if err != nil {
		return nil, fmt.Errorf("find a bundle beside the executable: %w", err)
	}
	return readBundle(filepath.Dir(executable))
}

func readBundle(dir string) (*Bundle, error) {
	path := filepath.Join(dir, bundleFile)
	text, err := file.Read(path, maxBundleFile)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	b := &Bundle{Dir: dir}
	if err == nil {
		err = json.Unmarshal(text, b)
	}
	if err == nil && b.System != system() {
		err = fmt.Errorf("it was made for %s, and this is %s: make one on a machine of this kind", b.System, system())
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return b, nil
}

// PlanFile is the plan's file, or the name of a built-in one.
func (b *Bundle) PlanFile() string {
	if b.File {
		return filepath.Join(b.Dir, b.Plan)
	}
	return b.Plan
}

// DataFile is the bundle's copy of a file that a plan names, or that file.
func (b *Bundle) DataFile(named string) string {
	if b == nil || named == "" {
		return named
	}
	relative, err := filepath.Rel(filepath.Dir(b.PlanFile()), named)
	for _, key := range []string{named, relative} {
		if copied := b.Data[key]; copied != "" && err == nil {
			return filepath.Join(b.Dir, copied)
		}
	}
	return named
}

func (b *Bundle) packed(spec Spec) (p Packed, found bool) {
	if b == nil {
		return p, false
	}
	at := slices.IndexFunc(b.Workers, func(p Packed) bool { return p.Spec == spec.String() })
	if at < 0 {
		return p, false
	}
	return b.Workers[at], true
}

// worker is the worker of a spec, where the bundle has it.
func (b *Bundle) worker(spec Spec) (w Worker, found bool, err error) {
	p, found := b.packed(spec)
	for path, want := range p.Sums {
		if got, err := sumOf(filepath.Join(b.Dir, path)); err != nil || got != want {
			return w, false, errors.Join(fmt.Errorf("worker %s: %s is not what the bundle was made with: unpack the bundle again", spec, filepath.Join(b.Dir, path)), err)
		}
	}
	if !found {
		return w, false, nil
	}
	w = p.Worker
	w.Program, w.Cached = filepath.Join(b.Dir, w.Program), true
	w.Layouts = slices.Clone(w.Layouts)
	for i := range w.Layouts {
		w.Layouts[i] = filepath.Join(b.Dir, w.Layouts[i])
	}
	return w, true, nil
}

// packedIn is where programs lie in a bundle.
const packedIn = "built"

// pack adds a worker to a bundle, and returns where from in the file system what lies where
// in the bundle.
func (b *Bundle) pack(d Driver, spec Spec, w Worker) (from map[string]string, err error) {
	p := Packed{Spec: spec.String(), Sums: map[string]string{}}
	from = map[string]string{}
	place := func(program string) (string, error) {
		whole := program
		if d.Script || d.Prebuilt { // with what lies beside it
			whole = filepath.Dir(program)
		}
		packed := filepath.ToSlash(filepath.Join(packedIn, strings.NewReplacer(":", "+", "=", "-").Replace(filepath.Base(whole))))
		from[packed] = whole
		if p.Sums[packed], err = sumOf(whole); err != nil {
			return "", err
		}
		inside, err := filepath.Rel(whole, program)
		return filepath.ToSlash(filepath.Join(packed, inside)), err
	}
	if w.Program, err = place(w.Program); err != nil {
		return nil, err
	}
	w.Layouts = slices.Clone(w.Layouts)
	for i := range w.Layouts {
		if w.Layouts[i], err = place(w.Layouts[i]); err != nil {
			return nil, err
		}
	}
	w.Took = 0
	p.Worker = w
	b.Workers = append(b.Workers, p)
	return from, nil
}
