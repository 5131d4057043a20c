package build

import (
	"cmp"
	"context"
	"debug/buildinfo"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
)

// build compiles in a temporary folder below the cache and moves the program
// to its place only when it is complete and made of the right modules.
func (j *job) build(ctx context.Context) error {
	return j.do(ctx, (*compilation).get, (*compilation).checkCgo, (*compilation).download, (*compilation).compile, (*compilation).unchanged,
		(*compilation).checkModules, (*compilation).checkHello, (*compilation).install)
}

// check does what takes no compiler: it finds out whether the version exists.
func (j *job) check(ctx context.Context) error {
	return j.do(ctx, (*compilation).get, (*compilation).checkCgo, (*compilation).checkOptions)
}

// do takes steps of a compilation in a temporary folder below the cache.
func (j *job) do(ctx context.Context, steps ...func(*compilation, context.Context) error) error {
	return j.files.building(j.program, func(temp string) error {
		c := &compilation{job: j, dir: filepath.Join(temp, "workers", j.driver.Name), output: filepath.Join(temp, "program")}
		if err := c.prepare(temp); err != nil {
			return err
		}
		for _, step := range steps {
			if err := step(c, ctx); err != nil {
				return fmt.Errorf("%s: %w", c.subject(), err)
			}
		}
		return nil
	})
}

// checkHello asks the worker for its hello. One that differs in its layout only has said it.
func (c *compilation) checkHello(ctx context.Context) error {
	if c.layout > 0 {
		return nil
	}
	version := c.version
	if c.checkout.Dir != "" || c.engine.Name != "" {
		version = "" // nobody published it
	}
	return c.builder.checkHello(ctx, c.driver, c.output, version)
}

func (c *compilation) install(context.Context) error { return install(c.output, c.program) }

// mathLibrary is what several of SQLite's compile options need, ENABLE_FTS5
// among them. Drivers name it for their own build tags only.
const mathLibrary = "-lm"

// compilation is a job in its temporary folder.
type compilation struct {
	*job
	dir    string
	output string
	env    []string
}

// prepare gives the go command a folder for its own temporary files, so that
// a killed compiler leaves nothing elsewhere.
func (c *compilation) prepare(temp string) error {
	own := filepath.Join(temp, "tmp")
	mode := "readonly"
	if c.version != "" {
		mode = "mod"
	}
	c.env = append(c.tools.environment(mode), "GOTMPDIR="+own, "TMPDIR="+own,
		"CGO_CFLAGS="+strings.Join(append([]string{c.tools["CGO_CFLAGS"]}, c.defines...), " "))
	if len(c.defines) > 0 {
		c.env = append(c.env, "CGO_LDFLAGS="+strings.TrimSpace(c.tools["CGO_LDFLAGS"]+" "+mathLibrary))
	}
	return os.Mkdir(own, 0o755)
}

// subject says what is being compiled, and with what.
func (c *compilation) subject() string {
	driver := "no driver"
	if c.driver.Module != "" {
		driver = strings.Join(c.modules(), " on ")
	}
	return fmt.Sprintf("compile workers/%s and %s with %s", c.driver.Name, driver, c.tools["GOVERSION"])
}

func (c *compilation) run(ctx context.Context, args ...string) ([]byte, error) {
	return run(ctx, c.dir, c.env, args...)
}

// get resolves what the driver at the version asked needs. Of a checkout the
// go command finds that out by itself: nobody publishes its version.
func (c *compilation) get(ctx context.Context) error {
	if c.version == "" || c.checkout.Dir != "" {
		return nil
	}
	_, err := c.run(ctx, append([]string{"get"}, c.modules()...)...)
	if err == nil || ctx.Err() != nil || isEnvironmentError(err) && !forbids(err, c.version) {
		return err
	}
	return &SpecError{err}
}

// forbids reports whether a registry answered that it gives nobody this version. One that
// lacks it may say so, too, instead of that there is none.
func forbids(err error, version string) bool {
	file := "/@v/" + version + "."
	return slices.ContainsFunc(unreachable.FindAllString(err.Error(), -1), func(line string) bool {
		return strings.Contains(line, file) && strings.Contains(line, "403 Forbidden")
	})
}

// download fetches the sources of all packages in the program. go build would do
// so too, within the time of the compiler.
func (c *compilation) download(ctx context.Context) error {
	_, err := c.run(ctx, "list", "-deps", ".")
	return notCompiled(err)
}

// checkCgo refuses to build a driver that is written with cgo when cgo is off.
// Some such drivers compile all the same, to a stub that can open nothing; and
// Go turns cgo off by itself where it finds no C compiler. It also refuses
// compile options for a driver that has no C to compile.
func (c *compilation) checkCgo(ctx context.Context) error {
	off := c.tools["CGO_ENABLED"] == "0"
	if !off && len(c.options) == 0 {
		return nil
	}
	with, err := cgoPackages(ctx, c.driver, c.dir, c.env)
	switch {
	case err != nil:
		return err
	case len(with) > 0 && off:
		return fmt.Errorf("package %s is written with cgo, and cgo is off; %s", strings.Join(with, ", "), cgoHint)
	case len(with) == 0 && len(c.options) > 0:
		return &SpecError{fmt.Errorf("%s is not written with cgo: its compile options were fixed when it was made; ask for %s without options, or for a %s",
			c.driver.Name, c.driver.Name, c.builder.Source.cgoDrivers(ctx))}
	}
	return nil
}

// checkOptions refuses compile options of which the driver's SQLite has no name.
func (c *compilation) checkOptions(ctx context.Context) error {
	if len(c.options) == 0 {
		return nil
	}
	found := download{Path: c.driver.Module, Dir: c.checkout.Dir}
	if found.Dir == "" {
		out, err := c.run(ctx, "list", "-m", "-f", "{{.Version}}\n{{.Dir}}", c.driver.Module)
		if err != nil {
			return err
		}
		found.Version, found.Dir, _ = strings.Cut(strings.TrimSpace(string(out)), "\n")
	}
	sqlite, err := found.amalgamation()
	if err != nil {
		return nil //nolint:nilerr // the C of this driver is no amalgamation: its build says what it lists
	}
	return knownOptions(sqlite, c.options)
}

// cgoPackages returns the driver's packages, of those that the worker imports,
// that are written with cgo.
func cgoPackages(ctx context.Context, d Driver, dir string, env []string) ([]string, error) {
	imports, _, err := readPackage(dir)
	if err != nil {
		return nil, err
	}
	args := []string{"list", "-f", "{{if .CgoFiles}}{{.ImportPath}}{{end}}"}
	for _, path := range imports {
		if path == d.Module || strings.HasPrefix(path, d.Module+"/") {
			args = append(args, path)
		}
	}
	if d.Module == "" || len(args) == 3 {
		return nil, nil
	}
	out, err := run(ctx, dir, append(slices.Clone(env), "CGO_ENABLED=1"), args...)
	return strings.Fields(string(out)), err
}

// cgoDrivers names the drivers written with cgo for advice to the user. Those
// whose modules were never fetched are not known to be, and are left out.
func (s Source) cgoDrivers(ctx context.Context) string {
	drivers, _ := s.Drivers() // those that can be read will do
	var names []string
	for _, d := range drivers {
		with, err := cgoPackages(ctx, d, d.Dir, []string{"GOWORK=off", "GOFLAGS=-mod=readonly", offline})
		if err == nil && len(with) > 0 {
			names = append(names, d.Name)
		}
	}
	if len(names) == 0 {
		return "driver written with cgo"
	}
	return "driver written with cgo: " + strings.Join(names, ", ")
}

func (c *compilation) compile(ctx context.Context) error {
	args := []string{"build", "-trimpath", "-buildvcs=false", "-o", c.output}
	if c.layout > 0 {
		args = append(args, fmt.Sprintf("-ldflags=-randlayout=%d", c.layout))
	}
	_, err := c.run(ctx, append(args, ".")...)
	return notCompiled(err)
}

// ErrNotCompiled means that the compiler or the linker refused a worker's
// sources: the build is broken, not merely impossible on this machine.
var ErrNotCompiled = errors.New("it does not compile")

// ErrNoHello means that a build was made, and says no hello.
var ErrNoHello = errors.New("it was built, and does not work")

// Broken reports whether a build failed by what it is made of, not by the machine.
func Broken(err error) bool { return errors.Is(err, ErrNotCompiled) || errors.Is(err, ErrNoHello) }

// notCompiled marks an error of a compiler, unless there is none to be found, or
// what failed is outside of the sources.
func notCompiled(err error) error {
	if err == nil || strings.Contains(err.Error(), ccHint) || isEnvironmentError(err) {
		return err
	}
	return fmt.Errorf("%w: %w", ErrNotCompiled, err)
}

var (
	// unreachable matches what the go command and git say of a server that gives no
	// module. A server that answers that there is none is another matter.
	unreachable = regexp.MustCompile(`(?m)(?:Get "|reading )\S+://.*$|unable to access '|Could not resolve host|dial tcp`)
	absent      = regexp.MustCompile(`404 Not Found|410 Gone|no such file or directory`)
)

// exhausted are the errors of a system that lacks something, in its own words, and
// what is said of a compiler that was killed for want of memory, or that is not there.
var exhausted = []string{syscall.ENOSPC.Error(), syscall.EDQUOT.Error(), syscall.EIO.Error(), syscall.EROFS.Error(), syscall.EMFILE.Error(),
	syscall.ENOMEM.Error(), "out of memory", "signal: killed", "killed signal", "sigkill", "error 127", "linker `cc` not found", "ld: cannot find"}

// isEnvironmentError reports whether a build failed by what is outside of the sources: the
// network, the disk or the memory.
func isEnvironmentError(err error) bool {
	text := err.Error()
	for _, line := range unreachable.FindAllString(text, -1) {
		if !absent.MatchString(line) {
			return true
		}
	}
	text = strings.ToLower(text)
	return slices.ContainsFunc(exhausted, func(words string) bool { return strings.Contains(text, words) })
}

// checkModules compares what got into the program with the driver's own
// go.mod, or that of the engine that was asked for: a program of other versions
// would be measured under a wrong name.
func (c *compilation) checkModules(ctx context.Context) error {
	if c.driver.Module == "" {
		return nil
	}
	info, err := buildinfo.ReadFile(c.output)
	if err != nil {
		return err
	}
	maker := cmp.Or(c.engine.Module, c.driver.Module)
	mod, err := c.publishedGoMod(ctx, maker)
	if err != nil {
		return err
	}
	got := resolved(info)
	moved := mod.moved(got)
	for _, asked := range c.modules() {
		if module, want, _ := strings.Cut(asked, "@"); got[module] != want {
			moved = append(moved, fmt.Sprintf("%s is %s, and %s was requested", module, got[module], want))
		}
	}
	if len(moved) > 0 {
		return &SpecError{fmt.Errorf("modules moved away from what %s was made with: %s", maker, strings.Join(moved, "; "))}
	}
	return nil
}

// publishedGoMod reads the go.mod that a module's authors published.
func (c *compilation) publishedGoMod(ctx context.Context, path string) (goMod, error) {
	out, err := c.run(ctx, "list", "-m", "-json", path)
	if err != nil {
		return goMod{}, err
	}
	var module struct{ GoMod string }
	if err := json.Unmarshal(out, &module); err != nil {
		return goMod{}, fmt.Errorf("go list -m: %w", err)
	}
	data, err := os.ReadFile(module.GoMod)
	if err != nil {
		return goMod{}, fmt.Errorf("read the go.mod of %s: %w", path, err)
	}
	mod, err := parseGoMod(data)
	if err != nil {
		return goMod{}, fmt.Errorf("%s: %w", module.GoMod, err)
	}
	return mod, nil
}

// run runs the go command and returns its standard output, also where it
// failed.
func run(ctx context.Context, dir string, env []string, args ...string) ([]byte, error) {
	out, said, err := outputOf(ctx, dir, env, append([]string{"go"}, args...)...)
	if ctx.Err() != nil {
		return nil, fmt.Errorf("go %s: %w", args[0], context.Cause(ctx))
	}
	if err != nil {
		err = explain(args, said, err)
	}
	return out, err
}

const (
	shownLines = 20
	ccHint     = "install a C compiler such as gcc (apt install gcc, dnf install gcc, xcode-select --install), or name yours in CC"
	cgoHint    = ccHint + "; unset CGO_ENABLED where it is 0"
)

// explain makes an error of a failed go command: the end of what it said, and
// what to do about it.
func explain(args []string, output string, err error) error {
	if errors.Is(err, exec.ErrNotFound) {
		return fmt.Errorf("%w; install Go 1.26 or newer and have it in PATH", err)
	}
	failed := &commandError{command: "go " + strings.Join(args, " "), said: output, error: err}
	failed.hint = hintFor(args, failed.Error())
	return failed
}

// withHint adds to what the go command said what to do about it.
func withHint(args []string, text string) string {
	if hint := hintFor(args, text); hint != "" {
		text += "\n" + hint
	}
	return text
}

// linkerSummary matches what a compiler says after its linker has said what is
// wrong.
var linkerSummary = regexp.MustCompile(`ld returned \d+ exit status|linker command failed`)

// lastLines is the end of what a compiler said. Of a linker it is the last line
// that names what is missing: those before repeat it for each object file.
func lastLines(output string) string {
	lines := strings.Split(strings.TrimSpace(output), "\n")
	for i := 1; i < len(lines); i++ {
		if linkerSummary.MatchString(lines[i]) {
			return strings.TrimSpace(lines[i-1])
		}
	}
	return strings.Join(lines[max(0, len(lines)-shownLines):], "\n\t")
}

// refusal matches a line in which a compiler says where a source is wrong, and harmless
// what it says so of others.
var (
	refusal  = regexp.MustCompile(`^\S.*?:\d+:(\d+:)? |^error\[E\d+\]: `)
	harmless = regexp.MustCompile(`: (warning|note): `)
)

// FirstError is the first line in which a compiler says what is wrong; of a linker, and
// of what is no compiler's error, the first line that says anything.
func FirstError(err error) string {
	text := err.Error()
	failed, is := errors.AsType[*commandError](err)
	if is && !errors.As(err, new(*SpecError)) && strings.TrimSpace(failed.said) != "" {
		text = failed.said
		if last := lastLines(text); !strings.Contains(last, "\n") {
			return last
		}
	}
	lines := strings.Split(strings.TrimSpace(text), "\n")
	for _, line := range lines {
		if refusal.MatchString(line) && !harmless.MatchString(line) {
			return line
		}
	}
	if last := len(lines) - 1; last > 0 && strings.HasSuffix(lines[0], ":") {
		return lines[0] + " " + strings.TrimSpace(lines[last])
	}
	return lines[0]
}

// hints are tried in order; the first whose words are in the output is given.
var hints = []struct{ words, hint string }{
	{"C compiler", cgoHint},
	{"missing go.sum entry", "the worker's go.sum does not match its sources: run make deps"},
	{"updates to go.mod needed", "the worker's go.mod does not match its sources: run make deps"},
	{"go.mod requires go >=", "install a newer Go"},
	{"build constraints exclude all Go files", "the worker cannot be built for this system, or needs cgo: " + cgoHint},
	{"module lookup disabled by GOPROXY=off", "GOPROXY is off, so that nothing is downloaded: set it to a proxy, or name a version that is in the module cache"},
	{"dial tcp", "the module proxy cannot be reached: check the network and the GOPROXY setting"},
}

func hintFor(args []string, output string) string {
	for _, h := range hints {
		if strings.Contains(output, h.words) {
			return h.hint
		}
	}
	if args[0] == "get" {
		module, _, _ := strings.Cut(args[1], "@")
		return "this version is not available; to list those that are: go list -m -versions " + module
	}
	return ""
}
