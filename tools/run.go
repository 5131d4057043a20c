//go:build unix

package main

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"assay/internal/analysis"
	"assay/internal/stat"
	"assay/internal/store"
	"assay/kit/column"
)

// quick runs the plan quick as a user would, and asks how much of it was
// measuring and how much memory it took.
func (t *tools) quick() error {
	began := time.Now()
	location, words, err := t.assay("quick", "quick", "--quiet")
	if err != nil {
		return err
	}
	wall := time.Since(began)
	s, err := store.Open(t.ctx, location)
	if err != nil {
		return err
	}
	defer s.Close()
	run, err := s.Run(t.ctx, "")
	if err != nil {
		return err
	}
	var measured int64
	for trial, err := range s.Trials(t.ctx, run.ID) {
		if err != nil {
			return err
		}
		for _, sample := range trial.Samples {
			measured += sample.Nanos
		}
	}
	share := 100 * float64(measured) / float64(wall.Nanoseconds())
	say(fmt.Sprintf("quick: share of %s inside windows and blocks", wall.Round(time.Second)), one(share), "%", "at least 60", 60, 100)
	peak, err := peakOf(words)
	if err != nil {
		return err
	}
	say("quick: peak memory of the assay process", one(peak/1e6), "MB", "at most 100", 0, 100)
	return nil
}

func one(value float64) stat.Interval { return stat.MeanInterval([]float64{value}) }

// assay runs a plan with bin/assay and a store of that name, and returns where
// the store is, and what was said on standard error.
func (t *tools) assay(plan, name string, flags ...string) (location, words string, err error) {
	location = filepath.Join(t.dir, name+".db")
	args := append([]string{"run", plan, "--store", location}, flags...)
	command := exec.CommandContext(t.ctx, filepath.Join("bin", "assay"), args...)
	var stderr strings.Builder
	command.Stderr = &stderr
	if err := command.Run(); err != nil {
		return "", "", fmt.Errorf("assay %s: %w\n%s", strings.Join(args, " "), err, stderr.String())
	}
	return location, stderr.String(), nil
}

// peakOf finds the peak memory in what assay says at its end.
func peakOf(words string) (float64, error) {
	_, rest, found := strings.Cut(words, "peak memory of assay ")
	digits, _, _ := strings.Cut(rest, " ")
	value, err := strconv.ParseFloat(digits, 64)
	if !found || err != nil {
		return 0, fmt.Errorf("no peak memory in %q", words)
	}
	return value * 1e6, nil
}

// readReport analyzes the newest run of a store.
func (t *tools) readReport(location string) (*analysis.Result, error) {
	s, err := store.Open(t.ctx, location)
	if err != nil {
		return nil, err
	}
	defer s.Close()
	run, err := s.Run(t.ctx, "")
	if err != nil {
		return nil, err
	}
	return analysis.New(run, s.Trials(t.ctx, run.ID))
}

// writeKeys writes a trace's first column as decimal numbers.
func writeKeys(trace, path string) error {
	file, err := column.Open(trace)
	if err != nil {
		return err
	}
	defer file.Close()
	out, err := os.Create(path)
	if err != nil {
		return err
	}
	buffered := bufio.NewWriter(out)
	for row := range file.Rows() {
		fmt.Fprintln(buffered, text(file, row))
	}
	if err := buffered.Flush(); err != nil {
		return err
	}
	return out.Close()
}

// text is a key as it stands in a line.
func text(file *column.File, row int) string {
	if file.Type(0) == column.Blob {
		return string(file.Bytes(0, row))
	}
	return strconv.FormatInt(file.Int(0, row), 10)
}
