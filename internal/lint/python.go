package lint

import (
	"bytes"
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"go/token"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"

	"assay/internal/lint/facts"
	"assay/internal/sys/child"
)

//go:embed python.py
var pythonParser string

// isPython reports whether a file may configure a library for Python.
func isPython(name string, data []byte) bool {
	return strings.HasSuffix(name, ".py") && bytes.Contains(data, []byte("sqlite")) && pythonUse.Match(data)
}

var pythonUse = regexp.MustCompile(`create_(async_)?engine|engine_from_config|SQLALCHEMY_DATABASE_URI|DATABASES|ENGINE|sqlite(\+\w+)?://`)

// pythonTest is a file with tests, or with settings for them only.
var pythonTest = regexp.MustCompile(`(^|/)(tests?/.*|test_[^/]*|[^/]*_test|tests|conftest)\.py$`)

type source struct{ name, text string }

// pythonModule holds what a file of Python says of SQLite.
type pythonModule struct {
	Settings [][]struct { // by database
		Library, Place, Key, Value string
		Known                      bool
		Line, Column               int
	}
	Databases int // it configures so many
	Unjudged  []Unjudged
	Problem   string // why it could not be read

	settings []written
}

var errNoPython = errors.New("no Python is installed")

// parsePython asks Python what files say. Python parses them and runs nothing of
// them.
func parsePython(ctx context.Context, files []source) ([]pythonModule, error) {
	program := facts.Python()
	var request [][2]string
	for _, f := range files {
		request = append(request, [2]string{f.name, f.text})
	}
	in, err := json.Marshal(request)
	if err != nil {
		return nil, err
	}
	var out, problems bytes.Buffer
	cmd := exec.CommandContext(ctx, program, "-I", "-S", "-c", pythonParser)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = bytes.NewReader(in), &out, &problems
	err = child.Run(cmd)
	if errors.Is(err, exec.ErrNotFound) || errors.Is(err, os.ErrNotExist) {
		return nil, fmt.Errorf("%w (%s): apt-get install python3, or set ASSAY_PYTHON to another", errNoPython, program)
	}
	if err != nil {
		return nil, errors.Join(ctx.Err(), fmt.Errorf("read Python files with %s: %w: %s", program, err, bytes.TrimSpace(problems.Bytes())))
	}
	var all []pythonModule
	if err := json.Unmarshal(out.Bytes(), &all); err != nil || len(all) != len(files) {
		return nil, fmt.Errorf("read Python files with %s: %d answers about %d files: %w", program, len(all), len(files), err)
	}
	for i := range all {
		for _, database := range all[i].Settings {
			var settings []written
			for _, s := range database {
				at := token.Position{Filename: files[i].name, Line: s.Line, Column: s.Column}
				settings = append(settings, writtenIn(s.Library, s.Place, s.Key, quoted(s.Value), s.Known, at))
			}
			readOnly := slices.ContainsFunc(settings, written.asksReadOnly)
			for _, w := range settings {
				w.readOnly = readOnly
				all[i].settings = append(all[i].settings, w)
			}
		}
	}
	return all, nil
}
