package main

import (
	"context"
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

// openStore opens the store that the flags name.
func (a *app) openStore(ctx context.Context) (*store.Store, string, error) {
	location := a.store
	if location == "" {
		var err error
		if location, err = store.Default(); err != nil {
			return nil, "", err
		}
	}
	s, err := store.Open(ctx, location)
	return s, location, err
}

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
