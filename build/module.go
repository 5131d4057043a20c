package build

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// Module is what a driver library says of itself, as far as Go's module cache
// has it: nothing is fetched.
type Module struct {
	Licence  string    // SPDX name, or the file to look into; empty where it is unknown
	Released time.Time // of the version that the worker pins; zero where it is unknown
}

// Library looks the driver's library up in Go's module cache. A library that is not
// there is an error.
func (d Driver) Library(ctx context.Context) (Module, error) {
	if d.Module == "" {
		return Module{}, nil
	}
	out, err := run(ctx, d.Dir, []string{"GOWORK=off", "GOFLAGS=-mod=mod", "GOPROXY=off"}, "mod", "download", "-json", d.Module)
	if err != nil {
		return Module{}, fmt.Errorf("look %s up: %w", d.Module, err)
	}
	var found struct{ Dir, Info string }
	if err := json.Unmarshal(out, &found); err != nil {
		return Module{}, fmt.Errorf("go mod download: %w", err)
	}
	m := Module{Released: released(found.Info)}
	if d.C {
		m.Licence = sqliteLicence(found.Dir)
		return m, nil
	}
	m.Licence = licence(found.Dir)
	return m, nil
}

// released reads the time of a version from the file that the proxy gave.
func released(info string) time.Time {
	var said struct{ Time time.Time }
	text, err := os.ReadFile(info)
	if err != nil || json.Unmarshal(text, &said) != nil {
		return time.Time{}
	}
	return said.Time
}

// licences are recognised by words, in order: those with more words first.
var licences = []struct {
	name  string
	words []string
}{
	{"Apache-2.0", []string{"Apache License", "Version 2.0"}},
	{"MPL-2.0", []string{"Mozilla Public License"}},
	{"BSD-3-Clause", []string{"Redistribution and use in source and binary forms", "endorse or promote products"}},
	{"BSD-2-Clause", []string{"Redistribution and use in source and binary forms"}},
	{"MIT", []string{"Permission is hereby granted, free of charge"}},
	{"ISC", []string{"distribute this software for any purpose with or without fee"}},
	{"public domain", []string{"disclaims copyright to this source code"}},
}

// licence names the licence of a folder by its licence file.
func licence(dir string) string {
	for _, pattern := range []string{"LICENSE*", "LICENCE*", "COPYING*"} {
		names, _ := filepath.Glob(filepath.Join(dir, pattern)) // the patterns are right
		slices.Sort(names)
		for _, name := range names {
			text, err := os.ReadFile(name)
			if err != nil {
				continue
			}
			if known := recognise(string(text)); known != "" {
				return known
			}
			return "see " + filepath.Base(name)
		}
	}
	return ""
}

func recognise(text string) string {
	text = strings.Join(strings.Fields(text), " ")
	for _, l := range licences {
		if !slices.ContainsFunc(l.words, func(word string) bool { return !strings.Contains(text, word) }) {
			return l.name
		}
	}
	return ""
}

// sqliteLicence reads what SQLite says at its head: the module that carries it
// has a licence of its own, for what is not compiled here.
func sqliteLicence(dir string) string {
	_, header, err := findAmalgamation(dir)
	if err != nil {
		return ""
	}
	file, err := os.Open(header)
	if err != nil {
		return ""
	}
	defer file.Close()
	head := make([]byte, 4096)
	n, _ := bufio.NewReader(file).Read(head)
	return recognise(string(head[:n]))
}

// Cached returns the worker of a spec where it was built before, and false
// where it would have to be built.
func (b *Builder) Cached(ctx context.Context, spec Spec) (Worker, bool, error) {
	d, err := b.Source.driver(spec.Name)
	if err != nil {
		return Worker{}, false, err
	}
	if d.Prebuilt {
		w, err := b.prebuilt(d, spec)
		return w, err == nil, err
	}
	program := ""
	if d.C {
		j, err := b.newCJob(ctx, d, spec)
		if err != nil {
			return Worker{}, false, err
		}
		program = j.program
	} else {
		j, err := b.newJob(ctx, d, spec)
		if err != nil {
			return Worker{}, false, err
		}
		program = j.program
	}
	if _, err := os.Stat(program); err != nil {
		return Worker{}, false, nil
	}
	w, err := b.Build(ctx, spec)
	return w, err == nil, err
}
