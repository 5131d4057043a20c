package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"assay/internal/analysis/wording"
	"assay/internal/build"
	"assay/internal/lab"
	"assay/internal/store"
	"assay/internal/sys/file"
	"assay/internal/sys/hostlock"
)

// cacheDir returns where workers, datasets and running databases lie; all of it
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

// storeVariable names the store where --store does not.
const storeVariable = "ASSAY_STORE"

// passwordVariable has the password of a store on a server whose URL has none.
const passwordVariable = "PGPASSWORD"

// storeLocation is the store that the flags or the environment name, or else the
// default: commands that read use it.
func (a *app) storeLocation() (string, error) {
	if named := cmp.Or(a.store, a.environmentStore); named != "" {
		return store.WithPassword(named, a.environmentPassword), nil
	}
	return store.Default()
}

// localLocation is the file of what is measured here: the store that was named, or the
// default where that is on a server.
func (a *app) localLocation() (string, error) {
	location, err := a.storeLocation()
	if err == nil && store.IsURL(location) {
		return store.Default()
	}
	return location, err
}

// storeToShow is the store as a command line that is printed names it: without a
// password, and not where the environment names it. What could not be pushed to a server
// is in a file.
func (a *app) storeToShow() string {
	if a.pushes.failure != nil {
		return a.pushes.file
	}
	return a.namedStore()
}

func (a *app) namedStore() string {
	shown, err := store.Shown(a.store)
	if err != nil {
		return "" // nothing was read from such a location
	}
	return shown
}

// openStore opens the store that the flags name, and makes it where there is none.
func (a *app) openStore(ctx context.Context) (*store.Store, error) {
	location, err := a.storeLocation()
	if err != nil {
		return nil, err
	}
	s, err := store.Open(ctx, location)
	return s, wrongLocation(err)
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
		return nil, usage(err, "assay run quick makes one; --store FILE or URL names another")
	}
	return s, wrongLocation(err)
}

// wrongLocation makes wrong usage of a location that no store can have, that cannot be written,
// or where something else lies.
func wrongLocation(err error) error {
	if store.IsWrongLocation(err) {
		return usage(err)
	}
	return err
}

// hostLock is the file by which those that measure on this machine take turns. Scripts of tests
// have one of their own.
var hostLock = hostlock.Path

// lab returns where runs are made. The progress of what is done in it is shown until the
// command ends, or closes it to print something.
func (a *app) lab(quiet bool) (*lab.Lab, error) {
	a.cleansUp.Store(true)
	a.progress = newProgress(a, quiet)
	cache, err := cacheDir()
	if err != nil {
		return nil, err
	}
	for _, folder := range []string{"", "workers", "packages", "libraries", "source", "data", "traces"} {
		if err := file.CheckCache(filepath.Join(cache, folder)); err != nil {
			return nil, usage(err)
		}
	}
	source, err := build.FindSource(cache)
	if err != nil {
		return nil, err
	}
	bundle, err := build.FindBundle()
	if err != nil {
		return nil, err
	}
	return &lab.Lab{Cache: cache, Source: source, Bundle: bundle, Version: version, HostLock: hostLock, Wire: a.wireTrace(), Watcher: a.progress, Ended: a.push}, nil
}

// commandLine is an assay command on the same store.
func (a *app) commandLine(words ...string) string {
	return wording.Command(a.storeToShow(), words...)
}
