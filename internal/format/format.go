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

// Format is one way to print a T.
type Format[T any] struct {
	Name  string // of --format
	Write func(io.Writer, T) error
}

// List is the formats of a command, the default first.
type List[T any] []Format[T]

// Names are the names of all formats, for a flag's help.
func (l List[T]) Names() string {
	var names []string
	for _, f := range l {
		names = append(names, f.Name)
	}
	return strings.Join(names, ", ")
}

// Named finds a format. The error says which there are.
func (l List[T]) Named(name string) (Format[T], error) {
	i := slices.IndexFunc(l, func(f Format[T]) bool { return f.Name == name })
	if i < 0 {
		return Format[T]{}, fmt.Errorf("--format %q: want %s", name, l.Names())
	}
	return l[i], nil
}

// JSON prints a value, indented.
func JSON[T any](out io.Writer, value T) error {
	encoder := json.NewEncoder(out)
	encoder.SetIndent("", "  ")
	encoder.SetEscapeHTML(false)
	return encoder.Encode(value)
}
