package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"assay/internal/analysis/wording"
	"assay/internal/sys/file"
	"assay/internal/sys/format"
	"assay/internal/sys/printable"
)

// outputs are the formats of a command's report, as flags choose them.
type outputs[T any] struct {
	format format.Format[T] // --format: of standard output
	also   []outputFile[T]  // --output FORMAT=FILE
	file   string           // --output FILE, instead of standard output
}

type outputFile[T any] struct {
	format format.Format[T]
	path   string
}

func (o *outputs[T]) addFormat(cmd *cobra.Command, formats format.List[T]) {
	o.format = formats[0]
	set := func(name string) (err error) {
		o.format, err = formats.Named(name)
		return err
	}
	cmd.Flags().Var(parsed{func() string { return o.format.Name }, set}, "format", strings.Join(formats.Names(), "|"))
}

// addOutputs makes a command take --format, and --output FORMAT=FILE several times.
func (o *outputs[T]) addOutputs(cmd *cobra.Command, formats format.List[T]) {
	o.addFormat(cmd, formats)
	set := func(text string) error {
		name, path, _ := strings.Cut(text, "=")
		f, err := formats.Named(name)
		if err != nil || path == "" {
			return fmt.Errorf("--output %q: want FORMAT=FILE, with one of the formats %s", text, strings.Join(formats.Names(), ", "))
		}
		if err := checkPlace(path); err != nil {
			return fmt.Errorf("--output %q: %w", text, err)
		}
		o.also = append(o.also, outputFile[T]{f, path})
		return nil
	}
	value := parsed{func() string { return "" }, set}
	cmd.Flags().VarP(fileFlag{value, o.files}, "output", "o", "also write FORMAT=FILE; may be repeated")
}

func (o *outputs[T]) addOutput(cmd *cobra.Command, formats format.List[T], help string) {
	o.addFormat(cmd, formats)
	addFile(cmd, &o.file, "output", "o", help)
}

func (o *outputs[T]) files() []string {
	var all []string
	for _, also := range o.also {
		all = append(all, also.path)
	}
	return all
}

// write writes a report as the flags say.
func (o *outputs[T]) write(out io.Writer, report T) error {
	if o.file != "" {
		return writeReport(o.file, func(w io.Writer) error { return o.format.Write(w, report) })
	}
	return errors.Join(o.format.Write(out, report), o.writeFiles(report))
}

// writeFiles writes a report to each further file that can be written.
func (o *outputs[T]) writeFiles(report T) error {
	var all []error
	for _, also := range o.also {
		all = append(all, writeReport(also.path, func(w io.Writer) error { return also.format.Write(w, report) }))
	}
	return errors.Join(all...)
}

// parsed is the value of a flag that is not kept as text.
type parsed struct {
	text func() string
	set  func(string) error
}

func (p parsed) String() string {
	if p.text == nil {
		return ""
	}
	return p.text()
}

func (p parsed) Set(text string) error { return p.set(text) }

func (p parsed) Type() string { return "string" }

type fileFlag struct {
	parsed
	files func() []string
}

// addFile makes a command take a flag that names a file to write.
func addFile(cmd *cobra.Command, path *string, name, short, help string) {
	set := func(text string) error {
		if *path = text; text == "" {
			return errors.New("want the name of a file")
		}
		return nil
	}
	value := parsed{func() string { return *path }, set}
	cmd.Flags().VarP(fileFlag{value, func() []string { return []string{*path} }}, name, short, help)
}

// checkFiles refuses a command whose flags would overwrite the store.
func (a *app) checkFiles(cmd *cobra.Command) error {
	var all []error
	cmd.Flags().Visit(func(f *pflag.Flag) {
		if value, is := f.Value.(fileFlag); is {
			for _, path := range value.files() {
				all = append(all, a.checkFile(path))
			}
		}
	})
	return errors.Join(all...)
}

// checkFile refuses to write the store, or what lies beside it and belongs to it, and
// the sign by which other programs mean standard output.
func (a *app) checkFile(path string) error {
	if path == "-" {
		return usage(errors.New("-o -: - names no file"), "-o FILE writes a file, and -o ./- one of that name")
	}
	location, err := a.localLocation()
	if err != nil {
		return nil // the command that needs a store says why there is none
	}
	return checkOverwrite(path, file.OfDatabase(location)...)
}

// checkPlace refuses a file that cannot be written, before the work whose result it
// would lose.
func checkPlace(path string) error {
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		return fmt.Errorf("%s is a folder: name a file", path)
	}
	_, err := os.Stat(filepath.Dir(path))
	return err
}

// checkOverwrite refuses to write a file that is one of those to keep.
func checkOverwrite(path string, keep ...string) error {
	for _, kept := range keep {
		if kept != "" && file.Same(path, kept) {
			return usage(fmt.Errorf("writing %s would overwrite %s", path, kept), "-o FILE writes another file")
		}
	}
	return nil
}

func writeReport(path string, write func(io.Writer) error) error {
	var text bytes.Buffer
	err := write(&text)
	if err == nil {
		err = file.Write(path, []byte(printable.String(text.String())))
	}
	if err != nil {
		return fmt.Errorf("write the report: %w", err)
	}
	return nil
}

const minColumns = 60 // a narrower terminal breaks the lines by itself

// fold breaks the lines of a text that are wider than a terminal of so many columns
// between words, and keeps how they are indented, and the others as they are; 0: there is none.
func fold(columns int, text string) string {
	if columns == 0 {
		return text
	}
	var lines []string
	for line := range strings.SplitSeq(text, "\n") {
		if utf8.RuneCountInString(line) <= max(columns, minColumns) {
			lines = append(lines, line)
			continue
		}
		words := strings.TrimLeft(line, " \t")
		indent := strings.TrimSuffix(line, words)
		lines = append(lines, wording.Wrap(max(columns, minColumns), indent, indent, words)...)
	}
	return strings.Join(lines, "\n")
}
