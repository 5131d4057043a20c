//go:build unix

// Package gotest runs the checks of package workertest as Go tests, for
// workers that are written in Go.
package gotest

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"testing"

	"assay/kit/process"
	"assay/kit/sqlite"
	"assay/kit/wire"
	"assay/kit/workertest"
)

// Build builds the program of the folder that the test runs in and returns
// its path.
func Build(t *testing.T) string {
	t.Helper()
	program := filepath.Join(t.TempDir(), "worker")
	if out, err := exec.CommandContext(t.Context(), "go", "build", "-o", program, ".").CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	return program
}

// Conformance runs the conformance suite, each check as a subtest.
func Conformance(t *testing.T, program string) { ConformanceExcept(t, program, nil) }

// ConformanceExcept is Conformance for a library that is known to be wrong:
// faults has the checks that must fail because of it, each with a pattern of
// what is then said.
func ConformanceExcept(t *testing.T, program string, faults map[string]string) {
	for result := range workertest.Run(t.Context(), program, workertest.Options{}) {
		t.Run(result.Name, func(t *testing.T) {
			fault, known := faults[result.Name]
			switch {
			case !known && !result.OK:
				t.Error(result.Detail)
			case known && result.OK:
				t.Error("it passes: the library's fault is gone")
			case known && !regexp.MustCompile(fault).MatchString(result.Detail):
				t.Errorf("it fails otherwise: %s", result.Detail)
			}
		})
	}
}

// Except lists settings that are not as others with a driver.
type Except struct {
	Refused []string // as unsupported
	Ignored []string // accepted, and without effect: read-back shows it
	Default []string // the driver has by itself what others have to be asked for
}

// Settings checks that every setting that belongs to a connection takes effect
// on every connection, each as a subtest. Those that the driver lacks must be
// refused.
func Settings(t *testing.T, program string, refused ...string) {
	SettingsExcept(t, program, Except{Refused: refused})
}

// SettingsExcept is Settings for a driver with more exceptions.
func SettingsExcept(t *testing.T, program string, except Except) {
	for _, setting := range sqlite.Settings {
		if setting.OfFile {
			continue
		}
		t.Run(setting.Name, func(t *testing.T) {
			t.Parallel()
			except.check(t, program, setting.Name)
		})
	}
}

func (e Except) check(t *testing.T, program, name string) {
	value := values[name]
	got, err := effective(t, program, name, map[string]string{name: value})
	switch {
	case slices.Contains(e.Refused, name):
		var refused *wire.Error
		if !errors.As(err, &refused) || refused.Code != wire.Unsupported {
			t.Errorf("read back %q, %v; want it refused as unsupported", got, err)
		}
		return
	case slices.Contains(e.Ignored, name):
		if err != nil || slices.Contains(got, value) {
			t.Errorf("read back %q, %v; want that it had no effect", got, err)
		}
		return
	}
	if err != nil || !slices.Equal(got, []string{value, value, value}) {
		t.Errorf("read back %q, %v; want %q three times", got, err, value)
	}
	defaults, err := effective(t, program, name, nil)
	if err != nil || slices.Contains(defaults, value) != slices.Contains(e.Default, name) {
		t.Errorf("without it: %q, %v; is that the driver's default? %t", defaults, err, slices.Contains(e.Default, name))
	}
}

// values are for every setting one that is hardly a driver's default, as it
// reads back.
var values = map[string]string{
	"analysis_limit":            "123",
	"automatic_index":           "0",
	"busy_timeout":              "1234",
	"cache_size":                "-5000",
	"cell_size_check":           "1",
	"checkpoint_fullfsync":      "1",
	"foreign_keys":              "1",
	"fullfsync":                 "1",
	"ignore_check_constraints":  "1",
	"immutable":                 "1",
	"journal_mode":              "wal",
	"journal_size_limit":        "1000000",
	"locking_mode":              "exclusive",
	"memory":                    "1",
	"mmap_size":                 "1048576",
	"mutex":                     "no",
	"query_only":                "1",
	"read_only":                 "1",
	"read_uncommitted":          "1",
	"recursive_triggers":        "1",
	"reverse_unordered_selects": "1",
	"secure_delete":             "2",
	"shared_cache":              "1",
	"synchronous":               "3",
	"temp_store":                "2",
	"threads":                   "2",
	"trusted_schema":            "0",
	"wal_autocheckpoint":        "123",
}

// effective opens a database with settings, on two connections for readers, of
// which one is opened anew each time, and one for a writer. It returns what
// each connection reads back for one setting.
func effective(t *testing.T, program, name string, settings map[string]string) ([]string, error) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "data.db")
	if err := os.WriteFile(path, nil, 0o644); err != nil { // an empty database; read_only does not make one
		t.Fatal(err)
	}
	worker := started(t, program)
	request := wire.Open{Path: path, Settings: settings, Readers: 2, Idle: 1, Writers: 1}
	err := worker.Call(t.Context(), wire.TypeOpen, request, nil)
	var refused *wire.Error
	if errors.As(err, &refused) && refused.Code == wire.Unsupported { // it may be a driver whose connections all stay open
		request.Idle = request.Readers
		err = worker.Call(t.Context(), wire.TypeOpen, request, nil)
	}
	if err != nil {
		return nil, err
	}
	return readBack(t, worker, name)
}

// started is a worker of its own, until the test ends.
func started(t *testing.T, program string) *process.Worker {
	t.Helper()
	worker, err := process.Start(t.Context(), program, process.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(worker.Kill)
	return worker
}

// readBack is what each connection reads back for a setting.
func readBack(t *testing.T, worker *process.Worker, name string) (found []string, err error) {
	var read wire.SettingsRead
	err = worker.Call(t.Context(), wire.TypeSettings, wire.Settings{Names: []string{name}}, &read)
	for _, connection := range read.Connections {
		found = append(found, connection.Settings[name])
	}
	return found, err
}
