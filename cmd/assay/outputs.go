package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"assay/internal/file"
	"assay/internal/format"
)

// checkOutputs finds what is wrong with --format and --output FORMAT=FILE before
// anything is measured.
func checkOutputs[T any](formats format.List[T], name string, outputs []string) error {
	if _, err := formats.Named(name); err != nil {
		return usage(err)
	}
	for _, output := range outputs {
		name, path, _ := strings.Cut(output, "=")
		if _, err := formats.Named(name); err != nil || path == "" {
			return usage(fmt.Errorf("--output %q: want FORMAT=FILE, with one of the formats %s", output, formats.Names()))
		}
		if _, err := os.Stat(filepath.Dir(path)); err != nil {
			return usage(fmt.Errorf("--output %q: %w", output, err))
		}
	}
	return nil
}

// writeOutputs writes a report as --format and each --output say.
func writeOutputs[T any](out io.Writer, formats format.List[T], name string, outputs []string, report T) error {
	format, err := formats.Named(name)
	if err != nil {
		return err
	}
	return errors.Join(format.Write(out, report), writeFiles(formats, outputs, report))
}

// writeFiles writes a report as each --output says: all files that can be written.
func writeFiles[T any](formats format.List[T], outputs []string, report T) error {
	var all []error
	for _, output := range outputs {
		name, path, _ := strings.Cut(output, "=")
		format, err := formats.Named(name)
		if err != nil {
			return err
		}
		all = append(all, writeReport(path, func(w io.Writer) error { return format.Write(w, report) }))
	}
	return errors.Join(all...)
}

// writeReport writes a report to a file.
func writeReport(path string, write func(io.Writer) error) error {
	var text bytes.Buffer
	if err := write(&text); err != nil {
		return err
	}
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		return usage(fmt.Errorf("%s is a folder: name a file", path))
	}
	if err := file.Write(path, text.Bytes()); err != nil {
		return fmt.Errorf("write the report: %w", err)
	}
	return nil
}
