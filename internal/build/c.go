package build

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"assay/internal/sys/child"
)

// cJob is the build of a worker in C: its own files and SQLite's.
type cJob struct {
	builder  *Builder
	driver   Driver
	spec     Spec
	files    tree
	sqlite   amalgamation
	compiler []string // path and arguments
	version  string   // the first line that it prints of itself
	slot
	folder   string   // of the program's own files, relative to the source
	packages packages // where the driver installs any
}

// BuildBeside compiles a C program that lies in a folder of a worker in C, with
// the SQLite of that worker, into output. It is not cached.
func (b *Builder) BuildBeside(ctx context.Context, spec Spec, folder, output string) error {
	d, err := b.Source.driver(spec.Name)
	if err != nil {
		return err
	}
	j, err := b.newCJob(ctx, d, spec)
	if err != nil {
		return fmt.Errorf("%s of worker %s: %w", folder, spec, err)
	}
	j.folder, j.program = filepath.Join("workers", d.Name, folder), output
	return j.build(ctx)
}

// optimization is what Go compiles cgo's C code with, so that the floor and
// the drivers are alike in it.
var optimization = []string{"-O2", "-g", "-pthread"}

func (b *Builder) newCJob(ctx context.Context, d Driver, spec Spec, env ...string) (*cJob, error) {
	tools, err := findToolchain(ctx, d.Dir)
	if err != nil {
		return nil, err
	}
	j := &cJob{builder: b, driver: d, folder: filepath.Join("workers", d.Name)}
	if err := j.findCompiler(ctx, tools); err != nil {
		return nil, err
	}
	if j.files, err = b.Source.workerAt(d, &spec); err != nil {
		return nil, err
	}
	j.spec = spec
	if spec.Version == "" || d.asked(spec.Version) != "" {
		j.sqlite, err = d.sqlite(ctx, env...)
	} else {
		j.sqlite, err = b.Source.ofDriver(ctx, spec.Version, tools, env...)
	}
	if err != nil {
		return nil, err
	}
	of := fmt.Sprintf("worker %s %s ", spec, j.compiled())
	if d.Script {
		of += fmt.Sprintf("%s %s ", sharedLibrary, columnMetadata)
	}
	if d.Installs {
		if j.packages, err = b.newPackages(ctx, d, j.files); err != nil {
			return nil, err
		}
		of += fmt.Sprintf("%q ", j.packages.tools)
	}
	j.slot, err = b.slot(spec, j.files.sum("%s", of))
	return j, err
}

func (j *cJob) worker(cached bool) (w Worker, err error) {
	w = Worker{Name: j.driver.Name, Version: j.sqlite.version, Program: j.program, Digest: j.digest, Module: j.driver.Module,
		Modules: []string{j.sqlite.module}, Toolchain: j.version, Options: j.spec.Options, FixedLayout: "all of it is C", Cached: cached}
	if j.driver.Script {
		w.Version, w.Program, w.FixedLayout = cmp.Or(j.driver.asked(j.spec.Version), j.driver.Pinned), filepath.Join(j.program, "worker"), "its C code"
	}
	if j.driver.Installs {
		w.Digest, err = withOutput(j.digest, j.program)
	}
	return w, err
}

// compiled returns all that SQLite is compiled from and with, but for the options.
func (j *cJob) compiled() string {
	return fmt.Sprintf("%q %q %q %q %q %q", j.version, j.compiler[1:], optimization, j.sqlite.flags, j.sqlite.module, j.sqlite.sum)
}

// findCompiler takes the compiler that Go compiles cgo with, $CC or gcc, so
// that the floor and the drivers are alike in it; or else cc.
func (j *cJob) findCompiler(ctx context.Context, tools toolchain) error {
	j.compiler = strings.Fields(tools["CC"])
	if len(j.compiler) == 0 {
		j.compiler = []string{"cc"}
	}
	path, err := exec.LookPath(j.compiler[0])
	if err != nil && os.Getenv("CC") == "" {
		path, err = exec.LookPath("cc")
	}
	if err != nil {
		return fmt.Errorf("%w; %s", err, ccHint)
	}
	j.compiler[0] = path
	out, err := once(strings.Join(j.compiler, " ")+" --version", func() (string, error) { return j.run(ctx, "", "--version") })
	j.version, _, _ = strings.Cut(out, "\n")
	return err
}

// build compiles in a temporary folder and moves the program to its place when
// it is complete.
func (j *cJob) build(ctx context.Context) error {
	return j.files.building(j.program, func(temp string) error {
		if j.driver.Script {
			return j.buildLibrary(ctx, temp)
		}
		if _, err := j.run(ctx, temp, j.compileSQLite()...); err != nil {
			return fmt.Errorf("compile SQLite %s of %s: %w", j.sqlite.version, j.sqlite.module, notCompiled(err))
		}
		if _, err := j.run(ctx, temp, j.compileWorker(temp)...); err != nil {
			return fmt.Errorf("compile workers/%s: %w", j.driver.Name, notCompiled(err))
		}
		program := filepath.Join(temp, "program")
		if j.folder == filepath.Join("workers", j.driver.Name) { // it is no program beside a worker
			if err := j.builder.checkHello(ctx, j.driver, program, ""); err != nil {
				return err
			}
		}
		return install(program, j.program)
	})
}

func (j *cJob) compileSQLite() []string {
	return slices.Concat(optimization, []string{"-w"}, j.sqlite.flags, j.spec.defines(), // warnings of SQLite are not ours
		[]string{"-I" + filepath.Dir(j.sqlite.header), "-c", j.sqlite.source, "-o", "sqlite3.o"})
}

func (j *cJob) compileWorker(temp string) []string {
	args := append(slices.Clone(optimization), "-std=gnu11", "-I"+filepath.Dir(j.sqlite.header),
		"-DASSAY_SQLITE_HEADER=<"+filepath.Base(j.sqlite.header)+">", `-DASSAY_DRIVER_VERSION="`+j.sqlite.version+`"`)
	if j.spec.Version != "" {
		args = append(args, `-DASSAY_LIKE="`+j.spec.Version+`"`)
	}
	sources, _ := filepath.Glob(filepath.Join(temp, j.folder, "*.c")) // the pattern is right
	args = append(args, sources...)
	return append(args, "sqlite3.o", "-o", "program", mathLibrary, "-ldl", "-lpthread")
}

func (j *cJob) run(ctx context.Context, dir string, args ...string) (string, error) {
	var env []string
	if dir != "" {
		env = []string{"TMPDIR=" + dir} // so that a killed compiler leaves nothing elsewhere
	}
	return execute(ctx, dir, env, slices.Concat(j.compiler, args)...)
}

// execute runs a command with more variables, and returns what it prints.
func execute(ctx context.Context, dir string, env []string, command ...string) (string, error) {
	out, said, err := outputOf(ctx, dir, env, command...)
	if ctx.Err() != nil {
		return "", context.Cause(ctx)
	}
	if err != nil {
		return "", &commandError{command: command[0], said: said, error: err}
	}
	return string(out), nil
}

// outputOf runs a program with more variables and returns what it prints, and what it says on
// standard error, also where it failed. It is in a process group of its own, which is killed as a
// whole when ctx ends.
func outputOf(ctx context.Context, dir string, env []string, command ...string) (out []byte, said string, err error) {
	cmd := exec.CommandContext(ctx, command[0], command[1:]...)
	cmd.Dir = dir
	cmd.Env = append(cmd.Environ(), env...)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err = child.Run(cmd)
	return stdout.Bytes(), stderr.String(), err
}

// commandError is the error of a command that failed, with all that it said, and what to do
// about it where that is known.
type commandError struct {
	command, said, hint string
	error
}

func (e *commandError) Error() string {
	text := e.command + ": " + e.error.Error() + "\n\t" + lastLines(e.said)
	if e.hint != "" {
		text += "\n" + e.hint
	}
	return text
}

func (e *commandError) Unwrap() error { return e.error }
