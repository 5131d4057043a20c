// Package format is what commands share that print in several formats: a list of
// formats by name, and the formats that tools of others read.
package format

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
)

// Format is one way to print a T. Exactly one of Write and Files is set.
type Format[T any] struct {
	Name  string // of --format
	Write func(io.Writer, T) error
	// Files writes several files to a folder, which is made where it is missing, and
	// returns their paths.
	Files func(dir string, value T) ([]string, error)
}

// List is the formats of a command, the default first.
type List[T any] []Format[T]

// Names are the names of all formats.
func (l List[T]) Names() []string {
	var names []string
	for _, f := range l {
		names = append(names, f.Name)
	}
	return names
}

// Named finds a format. The error says which there are.
func (l List[T]) Named(name string) (Format[T], error) {
	i := slices.IndexFunc(l, func(f Format[T]) bool { return f.Name == name })
	if i < 0 {
		return Format[T]{}, fmt.Errorf("unknown format %q: use one of %s", name, strings.Join(l.Names(), ", "))
	}
	return l[i], nil
}

// Write prints a value in one of the formats that are one file.
func (l List[T]) Write(out io.Writer, name string, value T) error {
	f, err := l.Named(name)
	switch {
	case err != nil:
		return err
	case f.Write == nil:
		return fmt.Errorf("format %s is several files: it needs a folder", name)
	}
	return f.Write(out, value)
}

// JSON prints a value, indented.
func JSON[T any](out io.Writer, value T) error {
	encoder := json.NewEncoder(out)
	encoder.SetIndent("", "  ")
	encoder.SetEscapeHTML(false)
	return encoder.Encode(value)
}

// Quote is a text between double quotes as JSON has it, which YAML, Go, Python and JavaScript
// read too.
func Quote(text string) string {
	var out strings.Builder
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	_ = encoder.Encode(text) // a text always has a form
	return strings.TrimSuffix(out.String(), "\n")
}
