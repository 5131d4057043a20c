//go:build unix

package main

import (
	"crypto/sha256"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

// TestInitScripts runs testdata/init/*.txtar. Each script has a folder own with
// a database, app.db, and one that this process has open in the middle of a
// transaction, live.db. The drivers that drafts name are fake workers.
func TestInitScripts(t *testing.T) {
	t.Parallel()
	testscript.Run(t, testscript.Params{
		Dir:                "testdata/init",
		RequireUniqueNames: true,
		Setup:              setupOwn,
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"status":   status,
			"outcomes": outcomes,
			"tidy":     tidy,
		},
	})
}

const own = `
CREATE TABLE user (id INTEGER PRIMARY KEY, mail TEXT NOT NULL UNIQUE, name TEXT, born DATE);
CREATE TABLE visit (user INTEGER NOT NULL REFERENCES user (id), day TEXT NOT NULL, n INT NOT NULL, PRIMARY KEY (user, day)) WITHOUT ROWID;
WITH RECURSIVE k (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM k WHERE i < 200)
INSERT INTO user SELECT i, 'u' || i || '@example.org', CASE WHEN i % 4 THEN 'Name ' || i END, date('2000-01-01', '-' || i || ' days') FROM k;
INSERT INTO visit SELECT id, '2024-01-0' || (1 + id % 9), id % 5 FROM user;`

func setupOwn(env *testscript.Env) error {
	if err := setup(env); err != nil {
		return err
	}
	for _, driver := range []string{"modernc", "glebarez"} { // which drafts name beside mattn
		worker := filepath.Join(env.WorkDir, "source", "workers", driver)
		if err := os.MkdirAll(worker, 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(worker, "worker"), []byte("#!/bin/sh\nexec fake-worker honest\n"), 0o755); err != nil {
			return err
		}
	}
	folder := filepath.Join(env.WorkDir, "own")
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return err
	}
	app, err := sql.Open("sqlite", filepath.Join(folder, "app.db"))
	if err != nil {
		return err
	}
	_, err = app.Exec(own)
	if err := errors.Join(err, app.Close()); err != nil {
		return err
	}
	if err := setupKinds(env); err != nil {
		return err
	}
	live, err := sql.Open("sqlite", filepath.Join(folder, "live.db")+"?_pragma=journal_mode(wal)")
	if err != nil {
		return err
	}
	env.Defer(func() { live.Close() })
	if _, err := live.Exec(own + "INSERT INTO user (mail) VALUES ('newest')"); err != nil {
		return err
	}
	writing, err := live.Begin()
	if err != nil {
		return err
	}
	env.Defer(func() { _ = writing.Commit() })
	_, err = writing.Exec("INSERT INTO user (mail) VALUES ('never seen')")
	return err
}

// setupKinds makes the applications of testdata/kinds: a folder each, with app.db and
// queries.sql.
func setupKinds(env *testscript.Env) error {
	for _, kind := range []string{"forge", "backend", "rails"} {
		folder := filepath.Join(env.WorkDir, kind)
		if err := os.CopyFS(folder, os.DirFS(filepath.Join("testdata", "kinds", kind))); err != nil {
			return err
		}
		schema, err := os.ReadFile(filepath.Join(folder, "schema.sql"))
		if err != nil {
			return err
		}
		db, err := sql.Open("sqlite", filepath.Join(folder, "app.db"))
		if err != nil {
			return err
		}
		_, err = db.Exec(string(schema))
		if err := errors.Join(err, db.Close()); err != nil {
			return fmt.Errorf("%s: %w", kind, err)
		}
	}
	return nil
}

// digests is a program that prints the files of the folder own: their names, when
// they were changed, and the digests of their content. It is no part of the test's
// own process, which would drop SQLite's locks on a file that it closes.
func digests() {
	entries, err := os.ReadDir("own")
	if err != nil {
		panic(err)
	}
	for _, e := range entries {
		content, err := os.ReadFile(filepath.Join("own", e.Name()))
		info, statErr := e.Info()
		if err := errors.Join(err, statErr); err != nil {
			panic(err)
		}
		fmt.Printf("%s %s %x\n", e.Name(), info.ModTime().UTC(), sha256.Sum256(content))
	}
}
