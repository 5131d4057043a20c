package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"assay/internal/build"
	"assay/internal/store"
)

// cacheDir is where workers, datasets and running databases lie; all of it
// can be deleted at any time when no run is going on.
func cacheDir() (string, error) {
	if dir := os.Getenv("XDG_CACHE_HOME"); filepath.IsAbs(dir) {
		return filepath.Join(dir, "assay"), nil
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return "", fmt.Errorf("find a folder for caches: %w; set XDG_CACHE_HOME", err)
	}
	return filepath.Join(home, ".cache", "assay"), nil
}

// storeLocation is the store that the flags name, or else the default.
func (a *app) storeLocation() (string, error) {
	if a.store != "" {
		return a.store, nil
	}
	return store.Default()
}

// openStore opens the store that the flags name, and makes it where there is none.
func (a *app) openStore(ctx context.Context) (*store.Store, string, error) {
	location, err := a.storeLocation()
	if err != nil {
		return nil, "", err
	}
	s, err := store.Open(ctx, location)
	return s, location, err
}

// readStore opens the store that the flags name to read it. Where there is
// none, that is the user's to change.
func (a *app) readStore(ctx context.Context) (*store.Store, error) {
	location, err := a.storeLocation()
	if err != nil {
		return nil, err
	}
	s, err := store.OpenToRead(ctx, location)
	if errors.Is(err, store.ErrNotFound) {
		return nil, usage(err, "assay run quick makes one; --store FILE names another")
	}
	return s, err
}

// noRunHint says what to do where a run is not there.
const noRunHint = "assay runs lists the runs, assay run quick makes one"

// builder makes worker programs and says so.
func (a *app) builder(quiet bool) (*build.Builder, error) {
	cache, err := cacheDir()
	if err != nil {
		return nil, err
	}
	source, err := build.FindSource(cache)
	if err != nil {
		return nil, err
	}
	b := &build.Builder{Source: source, Cache: cache}
	if !quiet {
		b.Log = a.logBuild
	}
	return b, nil
}

func (a *app) logBuild(event build.Event) {
	switch event.State {
	case "building":
		fmt.Fprintf(a.stderr, "building worker %s: the first build compiles its driver and may take minutes\n", event.Worker)
	case "built":
		fmt.Fprintf(a.stderr, "built worker %s in %s\n", event.Worker, brief(event.Took))
	}
}
