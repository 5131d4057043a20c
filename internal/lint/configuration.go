package lint

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"assay/internal/lint/facts"
	"assay/internal/sys/file"
)

// configured is a file with settings of libraries.
type configured struct {
	name     string // from the folder that was asked about, with slashes
	settings []written
	lines    []string
}

// Above maxFile a file is no configuration written by hand, and above maxLock no list of
// versions.
const (
	maxFile = 1 << 20
	maxLock = 16 << 20
)

// Configurations checks the files below a folder that configure ActiveRecord,
// Django or SQLAlchemy.
func Configurations(ctx context.Context, dir string, libraries *facts.Libraries) (Result, error) {
	result := Result{Findings: []Finding{}}
	if _, err := os.Stat(dir); err != nil {
		return result, err
	}
	root := tree(dir)
	files, sources, err := findConfigured(ctx, root, &result)
	if err != nil {
		return result, err
	}
	inPython, err := readPython(ctx, sources, &result)
	if err != nil {
		return result, err
	}
	files = append(files, inPython...)
	for _, f := range files {
		c := configurationChecker{root, f, libraries, &result}
		c.run()
	}
	result.sort()
	return result, nil
}

// skipped are folders with other people's files.
var skipped = []string{"node_modules", "vendor", "venv", "env", "site-packages", "__pycache__", "testdata", "tmp", "log"}

// findConfigured reads the files that have settings of libraries, and returns
// those in Python as they are. Files that it cannot read in full are noted in the
// result.
func findConfigured(ctx context.Context, root tree, result *Result) ([]configured, []source, error) {
	var all []configured
	var python []source
	err := root.walk(ctx, result, func(name string, entry fs.DirEntry) error {
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
		settings, err := railsSettings(data)
		if err != nil {
			result.Broken = append(result.Broken, name+": "+err.Error())
			return nil
		}
		all = append(all, configured{name, settings, strings.Split(string(data), "\n")})
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
		case entry.Type().IsRegular(), !entry.IsDir() && (isRails(name) || pinnedBy(path.Base(name)) != nil): // a link to one, or what is refused
			return visit(name, entry)
		}
		return nil
	})
}

// readPython reads files of Python, as far as Python is there.
func readPython(ctx context.Context, sources []source, result *Result) ([]configured, error) {
	if len(sources) == 0 {
		return nil, nil
	}
	modules, err := parsePython(ctx, sources)
	if missing, is := errors.AsType[*noPythonError](err); is {
		result.Configurations, result.Seen = result.Configurations+len(sources), result.Seen+len(sources)
		for _, f := range sources {
			result.Broken = append(result.Broken, f.name+": "+missing.Error())
		}
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var all []configured
	for i, f := range sources {
		m := modules[i]
		if m.problem != "" {
			result.Broken = append(result.Broken, f.name+": "+quoted(m.problem))
		}
		lines := strings.Split(f.text, "\n")
		if m.databases+len(m.unjudged) > 0 {
			result.Configurations++
			result.Seen++
		}
		if m.databases > 0 {
			all = append(all, configured{f.name, m.settings, lines})
		}
		for _, u := range m.unjudged {
			if u.File = f.name; !silent(lines, u.Line, notJudged) {
				result.NotJudged = append(result.NotJudged, u)
			}
		}
	}
	return all, nil
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
