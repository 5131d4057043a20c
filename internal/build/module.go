package build

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// Module holds what a driver library says of itself, as far as Go's module cache
// has it: nothing is fetched.
type Module struct {
	Licence  string    // SPDX name, or the file to look into; empty where it is unknown
	Released time.Time // of the version that the worker pins, or of SQLite for a worker in C; zero where it is unknown
}

// Library looks the driver's library up in Go's module cache. A library that
// is not there is an error.
func (d Driver) Library(ctx context.Context) (Module, error) {
	if d.Module == "" || d.Script { // of a script, the module is not the driver
		return Module{}, nil
	}
	found, err := fetch(ctx, d.Dir, d.Module, offline)
	if err != nil {
		return Module{}, fmt.Errorf("look %s up: %w", d.Module, err)
	}
	if d.C {
		return sqliteItself(found.Dir)
	}
	return Module{licence(found.Dir), released(found.Info)}, nil
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

// sqliteItself reads what SQLite's header says: the module that carries it has
// a licence and a date of its own, for what is not compiled here.
func sqliteItself(dir string) (Module, error) {
	_, header, err := findAmalgamation(dir)
	if err != nil {
		return Module{}, err
	}
	text, err := os.ReadFile(header)
	if err != nil {
		return Module{}, err
	}
	date, err := time.Parse(time.DateOnly, define(text, "SQLITE_SOURCE_ID"))
	if err != nil {
		date = time.Time{} // a build of one's own
	}
	return Module{recognise(string(text)), date}, nil
}

// Cached returns the worker of a spec where it was built before, and false
// where it would have to be built. Nothing is fetched.
func (b *Builder) Cached(ctx context.Context, spec Spec) (Worker, bool, error) {
	if w, bundled, err := b.Bundle.worker(spec); bundled || err != nil {
		return w, err == nil, err
	}
	d, err := b.Source.driver(spec.Name)
	if err != nil {
		return Worker{}, false, err
	}
	if !d.Prebuilt || d.Installs {
		r, err := b.recipe(ctx, d, spec, offline)
		if errors.Is(err, errNotFetched) {
			return Worker{}, false, nil // nor was it built, then
		}
		if err != nil {
			return Worker{}, false, err
		}
		if _, err := os.Stat(r.place()); err != nil {
			return Worker{}, false, nil
		}
	}
	w, err := b.Build(ctx, spec)
	return w, err == nil, err
}
