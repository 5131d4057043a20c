package facts

import (
	"bytes"
	"cmp"
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"assay/internal/sys/child"
	"assay/internal/sys/scratch"
)

//go:embed probes/activerecord.rb
var rubyProbe []byte

//go:embed probes/python.py
var pythonProbe []byte

// ErrNoRelease says that what was asked for as a version is none that was released.
var ErrNoRelease = errors.New("not the version of a release, such as 7.1.6")

// LibraryNames are the libraries that can be measured.
func LibraryNames() []string { return []string{ActiveRecord, Django, SQLAlchemy} }

// MeasureLibrary runs all experiments with a library at a version, each in a
// process and a folder of its own below a scratch folder in dir. The driver is
// the version of the gem sqlite3 below ActiveRecord; empty: the newest installed
// one. Python's packages are installed by pip into the scratch folder; gems have
// to be installed. The error is ErrNoRelease where a version is none.
func MeasureLibrary(ctx context.Context, name, version, driver, dir string) (Facts, error) {
	work, err := scratch.New(dir, "facts-")
	if err != nil {
		return Facts{}, err
	}
	defer work.Remove()
	p := &probe{name: name, folder: work.Path}
	if err := p.prepare(ctx, version, driver); err != nil {
		return Facts{}, fmt.Errorf("facts of %s@%s: %w", name, version, err)
	}
	l, err := p.measure(ctx)
	if err != nil {
		return Facts{}, fmt.Errorf("facts of %s@%s: %w", name, version, err)
	}
	return l, nil
}

// probe is a program in the library's language that runs experiments.
type probe struct {
	name    string
	folder  string
	command []string
}

// Python is the interpreter, as for workers.
func Python() string { return cmp.Or(os.Getenv("ASSAY_PYTHON"), "python3") }

func (p *probe) prepare(ctx context.Context, version, driver string) error {
	for _, asked := range []string{version, cmp.Or(driver, version)} {
		if _, known := numbers(asked); !known {
			return fmt.Errorf("%q is %w", asked, ErrNoRelease)
		}
	}
	source, file := pythonProbe, "probe.py"
	if p.name == ActiveRecord {
		source, file = rubyProbe, "probe.rb"
	}
	file = filepath.Join(p.folder, file)
	if err := os.WriteFile(file, source, 0o600); err != nil {
		return err
	}
	if p.name == ActiveRecord {
		if _, err := exec.LookPath("ruby"); err != nil {
			return errors.New("ruby is not installed: apt-get install ruby")
		}
		p.command = []string{"ruby", file, version}
		if driver != "" {
			p.command = append(p.command, driver)
		}
		return nil
	}
	packages := filepath.Join(p.folder, "packages")
	p.command = []string{Python(), "-B", file, p.name, packages}
	return p.install(ctx, packages, version)
}

// install has pip put a package for Python into a folder.
func (p *probe) install(ctx context.Context, packages, version string) error {
	install := exec.CommandContext(ctx, Python(), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--target", packages, p.name+"=="+version)
	var out bytes.Buffer
	install.Dir, install.Stdout, install.Stderr = p.folder, &out, &out
	err := child.Run(install)
	switch text := strings.TrimSpace(out.String()); {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.Is(err, exec.ErrNotFound), errors.Is(err, os.ErrNotExist):
		return fmt.Errorf("%s is not installed: apt-get install python3 python3-pip, or set ASSAY_PYTHON to another Python", Python())
	case strings.Contains(text, "No module named pip"):
		return fmt.Errorf("%s has no pip: apt-get install python3-pip, or set ASSAY_PYTHON to another", Python())
	case strings.Contains(text, "No matching distribution"):
		return fmt.Errorf("pip has no %s %s for %s: look for the versions that there are with pip index versions %s, or set ASSAY_PYTHON to another Python", p.name, version, Python(), p.name)
	default:
		return fmt.Errorf("pip install %s==%s: %w: %s", p.name, version, err, gist(text))
	}
}

// trial is one configuration, and what to observe of its connections.
type trial struct {
	Settings []written `json:"settings"`
	Observe  []string  `json:"observe"`
}

type written struct {
	Place string `json:"place"`
	Key   string `json:"key"`
	Value any    `json:"value"`
}

// answer holds what came of a trial.
type answer struct {
	Refused     string              `json:"refused"`
	Literal     bool                `json:"literal"`
	Connections []map[string]string `json:"connections"`

	onDisk      bool // a file was made
	unsupported bool // it was refused since the worker cannot do it
	// asWritten says that a value with effect reads back as it was written: another one has none.
	asWritten bool
}

// greeting holds what the probe says of itself first.
type greeting struct {
	Version string            `json:"version"`
	Engine  string            `json:"engine"`
	Beside  map[string]string `json:"beside"`
}

// run makes trials.
func (p *probe) run(ctx context.Context, trials []trial) ([]answer, error) {
	_, answers, err := p.greeted(ctx, trials)
	return answers, err
}

func (p *probe) greeted(ctx context.Context, trials []trial) (greeting, []answer, error) {
	var hello greeting
	request, err := json.Marshal(map[string]any{"trials": trials})
	if err != nil {
		return hello, nil, err
	}
	var out, problems bytes.Buffer
	cmd := exec.CommandContext(ctx, p.command[0], p.command[1:]...)
	cmd.Dir, cmd.Stdin, cmd.Stdout, cmd.Stderr = p.folder, bytes.NewReader(request), &out, &problems
	if err := child.Run(cmd); err != nil {
		return hello, nil, errors.Join(ctx.Err(), fmt.Errorf("%w: %s", err, gist(problems.String())))
	}
	in := json.NewDecoder(&out)
	if err := in.Decode(&hello); err != nil {
		return hello, nil, err
	}
	answers := make([]answer, len(trials))
	for i := range answers {
		if err := in.Decode(&answers[i]); err != nil {
			return hello, nil, fmt.Errorf("answer to trial %d of %d: %w", i+1, len(trials), err)
		}
	}
	return hello, answers, nil
}

// gist is the beginning and the end of what a program says of its failure: Ruby
// says first what is wrong, Python last.
func gist(text string) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	if len(lines) > 2 {
		lines = []string{lines[0], lines[len(lines)-1]}
	}
	return strings.Join(lines, "; ")
}

func (p *probe) measure(ctx context.Context) (Facts, error) {
	hello, answers, err := p.greeted(ctx, []trial{{Settings: []written{}, Observe: Observations(p.name)}})
	if err != nil {
		return Facts{}, err
	}
	if answers[0].Refused != "" || len(answers[0].Connections) == 0 {
		return Facts{}, fmt.Errorf("it does not open a database without further settings: %s", answers[0].Refused)
	}
	l := Facts{Common: Common{Driver: p.name, Version: hello.Version, Beneath: hello.Beside["sqlite3"], Engine: hello.Engine, On: runtime.GOOS + "/" + runtime.GOARCH,
		Defaults: answers[0].Connections[0], Effects: map[Effect][]string{}}}
	for _, language := range []string{"ruby", "python"} {
		if v := hello.Beside[language]; v != "" {
			l.On += " " + language + " " + v
		}
	}
	if err := noteEffects(ctx, p, l.Defaults, Options(p.name), l.Effects); err != nil {
		return l, err
	}
	return l, p.misspell(ctx, &l)
}

// subject is a driver or a library that experiments are made with.
type subject interface {
	run(ctx context.Context, trials []trial) ([]answer, error)
}

// effects tries options with a value that is not the default; empty where
// nothing can be told.
func effects(ctx context.Context, of subject, defaults map[string]string, options []Option) ([]Effect, error) {
	all := make([]Effect, len(options))
	var trials []trial
	var tried []int
	var want []string
	for i, o := range options {
		at := slices.IndexFunc(o.Values, func(v Value) bool { return v.Read != defaults[o.Observed] })
		if at < 0 || defaults[o.Observed] == "" {
			continue
		}
		trials = append(trials, trial{[]written{o.with(o.Values[at].Written)}, []string{o.Observed}})
		tried, want = append(tried, i), append(want, o.Values[at].Read)
	}
	answers, err := of.run(ctx, trials)
	for n, a := range answers {
		all[tried[n]] = a.effect(options[tried[n]].Observed, want[n], defaults)
	}
	return all, err
}

// noteEffects tries options, and adds each to those with its effect.
func noteEffects(ctx context.Context, of subject, defaults map[string]string, options []Option, into map[Effect][]string) error {
	all, err := effects(ctx, of, defaults, options)
	if err != nil {
		return err
	}
	for i, o := range options {
		if all[i] != "" {
			into[all[i]] = append(slices.Clip(into[all[i]]), o.String())
		}
	}
	return nil
}

// having returns how many connections have a value of a setting.
func (a answer) having(setting, value string) (n int) {
	for _, settings := range a.Connections {
		if settings[setting] == value {
			n++
		}
	}
	return n
}

// effect tells what a trial did. A connection that has neither the value that
// was written nor the default tells nothing. Neither does a connection that may
// not write and is refused: with a file in another journal mode it may not be.
func (a answer) effect(observed, want string, defaults map[string]string) Effect {
	switch n := len(a.Connections); {
	case slices.ContainsFunc(a.Connections, func(c map[string]string) bool { _, read := c[observed]; return !read }):
		return ""
	case a.Literal:
		return Literal
	case a.Refused != "" && observed == ReadOnly:
		return ""
	case a.Refused != "":
		return Fails
	case n > 0 && a.having(observed, want) == n:
		return Applied
	case n > 0 && (a.asWritten || a.having(observed, defaults[observed]) == n):
		return Ignored
	}
	return ""
}

// misspell tries misspellings of what takes effect.
func (p *probe) misspell(ctx context.Context, l *Facts) error {
	var tried []misspelling
	for _, o := range Options(p.name) {
		if effect, _ := l.Effect(o); effect == Applied && !strings.Contains(o.Key, "=") {
			tried = append(tried, o.misspelled(p.name)...)
		}
	}
	var options []Option
	for _, m := range tried {
		options = append(options, m.Option)
	}
	effects, err := effects(ctx, p, l.Defaults, options)
	if err != nil {
		return err
	}
	for first := 0; first < len(tried); {
		of, keys, places := tried[first].of, set{}, set{}
		for ; first < len(tried) && tried[first].of == of; first++ {
			if tried[first].place {
				places[effects[first]] = true
			} else {
				keys[effects[first]] = true
			}
		}
		l.noteMisspelled(of, keys, places)
	}
	return nil
}

// set is the effects of several experiments.
type set map[Effect]bool

func (s set) only(e Effect) bool { return len(s) == 1 && s[e] }

// noteMisspelled notes what became of an option's misspelled keys, and of its key
// below a misspelled place.
func (l *Facts) noteMisspelled(option string, keys, places set) {
	if keys.only(Ignored) && (len(places) == 0 || places.only(Ignored)) {
		l.Misspelled = append(l.Misspelled, option)
		return
	}
	if places.only(Ignored) {
		l.MisspelledPlaces = append(l.MisspelledPlaces, option)
	}
	if keys.only(Fails) {
		l.MisspelledFails = append(l.MisspelledFails, option)
	}
}

// with is the option as the probe takes it: a PRAGMA is a part of the value.
func (o Option) with(value any) written {
	if strings.Contains(o.Key, "=") {
		key, text, _ := strings.Cut(o.With(fmt.Sprint(value)), "=")
		return written{o.Place, key, text}
	}
	return written{o.Place, o.Key, value}
}

// number is a value as a configuration has it: a number where it is one.
func number(text string) any {
	if n, err := strconv.Atoi(text); err == nil {
		return n
	}
	return text
}
