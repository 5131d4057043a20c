package lint

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"assay/internal/lint/facts"
	"assay/internal/sys/file"
)

// configured is a file with settings of libraries.
type configured struct {
	name     string // from the folder that was asked about, with slashes
	settings []written
}

// Above maxFile a file is no configuration written by hand, and above maxLock no list of
// versions.
const (
	maxFile = 1 << 20
	maxLock = 16 << 20
)

// Configurations checks the files below a folder that configure ActiveRecord,
// Django or SQLAlchemy.
func Configurations(ctx context.Context, dir string, libraries *facts.Table) (Result, error) {
	result := Result{Findings: []Finding{}}
	if _, err := os.Stat(dir); err != nil {
		return result, err
	}
	root, n := tree(dir), newNotes(dir, &result)
	files, sources, err := findConfigured(ctx, root, n)
	if err != nil {
		return result, err
	}
	inPython, err := readPython(ctx, sources, n)
	if err != nil {
		return result, err
	}
	for _, f := range append(files, inPython...) {
		n.judgeFile(root, f, libraries)
	}
	result.sort()
	return result, nil
}

// skipped are folders with other people's files.
var skipped = []string{"node_modules", "vendor", "venv", "env", "site-packages", "__pycache__", "testdata", "tmp", "log"}

// namesSQLite finds SQLite's name outside comments of YAML, and erbComment those of templates.
var (
	namesSQLite = regexp.MustCompile(`(?m)^([^#\n]|[^\s#]#)*sqlite3`)
	erbComment  = regexp.MustCompile(`(?s)<%-?#.*?%>`)
)

// findConfigured reads the files that have settings of libraries, and returns
// those in Python as they are. Files that it cannot read in full are noted in the
// result.
func findConfigured(ctx context.Context, root tree, result *notes) ([]configured, []source, error) {
	var all []configured
	var python []source
	err := root.walk(ctx, result.Result, func(name string, entry fs.DirEntry) error {
		if !isRails(name) && !strings.HasSuffix(name, ".py") {
			return nil
		}
		if info, err := entry.Info(); err == nil && info.Size() > maxFile && !isRails(name) {
			return nil
		}
		data, err := root.read(name, maxFile)
		if err != nil {
			result.Broken = append(result.Broken, err.Error())
			if isRails(name) {
				result.Seen++
			}
			return nil
		}
		if isPython(name, data) {
			python = append(python, source{name, string(data)})
		}
		if !isRails(name) || !bytes.Contains(data, []byte("sqlite3")) {
			return nil
		}
		result.Configurations++
		result.Seen++
		settings, err := railsSettings(name, data)
		if err != nil {
			result.Broken = append(result.Broken, name+": "+err.Error())
			return nil
		}
		result.readComments(name, string(data))
		said := erbComment.ReplaceAllFunc(data, func(tag []byte) []byte { return bytes.Repeat([]byte("\n"), bytes.Count(tag, []byte("\n"))) })
		if at := namesSQLite.FindIndex(said); len(settings) == 0 && at != nil {
			result.leave(token.Position{Filename: name, Line: 1 + bytes.Count(said[:at[1]], []byte("\n")), Column: 1}, Driver{Name: facts.ActiveRecord}, "sqlite3", "no database certainly has it as its adapter")
			return nil
		}
		all = append(all, configured{name, settings})
		return nil
	})
	return all, python, err
}

// walk visits the regular files of a folder but for other people's, and what has the name of
// one that is read. Those that it cannot reach are noted in the result.
func (t tree) walk(ctx context.Context, result *Result, visit func(name string, entry fs.DirEntry) error) error {
	return fs.WalkDir(os.DirFS(string(t)), ".", func(name string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil && name == "." || ctx.Err() != nil:
			return errors.Join(err, ctx.Err())
		case err != nil:
			result.Broken = append(result.Broken, err.Error())
		case entry.IsDir() && name != "." && (strings.HasPrefix(entry.Name(), ".") || slices.Contains(skipped, entry.Name())):
			return fs.SkipDir
		case entry.Type().IsRegular(), !entry.IsDir() && (isRails(name) || pinnedBy(name) != nil): // a link to one, or what is refused
			return visit(name, entry)
		}
		return nil
	})
}

// readPython reads files of Python, as far as Python is there.
func readPython(ctx context.Context, sources []source, result *notes) ([]configured, error) {
	if len(sources) == 0 {
		return nil, nil
	}
	modules, err := parsePython(ctx, sources)
	if errors.Is(err, errNoPython) {
		result.Configurations, result.Seen = result.Configurations+len(sources), result.Seen+len(sources)
		for _, f := range sources {
			result.Broken = append(result.Broken, f.name+": "+err.Error())
		}
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var all []configured
	for i, f := range sources {
		m := modules[i]
		if m.Problem != "" {
			result.Broken = append(result.Broken, f.name+": "+quoted(m.Problem))
		}
		result.readComments(f.name, f.text)
		if m.Databases+len(m.Unjudged) > 0 {
			result.Configurations++
			if !pythonTest.MatchString(f.name) {
				result.Seen++
			}
		}
		if len(m.settings) > 0 || m.Databases > 0 && len(m.Unjudged) == 0 { // with nothing written, there is nothing to judge
			all = append(all, configured{f.name, m.settings})
		}
		for _, u := range m.Unjudged {
			result.leave(token.Position{Filename: f.name, Line: u.Line, Column: u.Column}, Driver{Name: u.Driver}, u.Parameter, u.Reason)
		}
	}
	return all, nil
}

// readComments notes the rules that comments of YAML or Python switch off.
func (n *notes) readComments(name, text string) {
	number := 0
	for line := range strings.Lines(text) {
		number++
		if _, comment, there := strings.Cut(line, "#"); there {
			n.silence(strings.TrimSpace(comment), name, number)
		}
	}
}

// judgeFile judges the settings of a file, by the facts of each library.
func (n *notes) judgeFile(root tree, f configured, libraries *facts.Table) {
	if pythonTest.MatchString(f.name) { // what the program uses stands elsewhere
		defer func(judged int) { n.Judged = judged }(n.Judged)
	}
	if len(f.settings) == 0 { // there is nothing to judge
		n.Judged++
	}
	for _, library := range facts.LibraryNames() {
		of := slices.DeleteFunc(slices.Clone(f.settings), func(w written) bool { return w.library != library })
		if len(of) == 0 {
			continue
		}
		r := locked(root, path.Dir(f.name), library)
		n.Broken = append(n.Broken, r.refused...)
		j := n.judgeOf(library, r, libraries)
		switch {
		case r.changed != "":
			n.Broken = append(n.Broken, fmt.Sprintf("%s: %s may change what %s does with it: its settings were not judged", f.name, r.changed, library))
		case r.version == "":
			n.Broken = append(n.Broken, fmt.Sprintf("%s: %s has no version in %s beside the file or above it: its settings were not judged", f.name, library, lockNames(library)))
		}
		for _, w := range of {
			switch o := w.options[0]; {
			case o.Place == amongAliases:
				n.Judged++
				j.say(w, o, saying{IgnoredOption, fmt.Sprintf("takes %q in DATABASES for another database, and the databases beside it do not have it", o.Key), "; move it into each entry, beside \"ENGINE\""}, "")
			case r.changed == "" && r.version != "" && j.check(w):
				n.Judged++
			}
		}
	}
}

// judgeOf judges the settings of a library at a release.
func (n *notes) judgeOf(library string, r release, libraries *facts.Table) *judge {
	j := &judge{notes: n, driver: Driver{Name: library, Version: r.version, Driver: r.driver}, title: strings.TrimSpace(r.title(library)), others: true}
	j.facts = libraries.Judges(library, r.version, r.driver)
	j.language = configuration{library, j.facts}
	j.own = len(j.facts) > 0 && r.is(j.facts[0])
	for _, l := range libraries.Versions(library) {
		if newer := facts.Compare(l.Version, r.version); newer > 0 || newer == 0 && facts.Compare(l.Beneath, r.driver) > 0 {
			j.newer = append(j.newer, l)
		}
	}
	return j
}

// tree is the folder that was asked about.
type tree string

// read reads a regular file of at most limit bytes.
func (t tree) read(name string, limit int64) ([]byte, error) {
	return file.Read(filepath.Join(string(t), filepath.FromSlash(name)), limit)
}

// glob are the files of a folder below this one that a pattern matches.
func (t tree) glob(dir, pattern string) []string {
	files, _ := fs.Glob(os.DirFS(filepath.Join(string(t), filepath.FromSlash(dir))), pattern) // the patterns are well-formed
	for i := range files {
		files[i] = path.Join(dir, files[i])
	}
	return files
}

// HasModule reports whether a folder belongs to a module or a workspace of Go.
func HasModule(dir string) bool {
	dir, err := filepath.Abs(dir)
	for ; err == nil; dir = filepath.Dir(dir) {
		for _, name := range []string{"go.mod", "go.work"} {
			if _, err := os.Stat(filepath.Join(dir, name)); err == nil {
				return true
			}
		}
		if dir == filepath.Dir(dir) {
			break
		}
	}
	return false
}
