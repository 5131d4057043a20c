//go:build unix

package runner

import (
	"net/url"
	"os"
	"slices"
	"strings"
)

// copyData makes the instance's folder with its copy of the data, or takes one
// over that an instance of an earlier launch had.
func (in *instance) copyData(j *job) (err error) {
	take := in.r.config.Work.copies.New
	if in.reuse = j.engine.reusable() && reusable(in.jobs); in.reuse {
		take = in.r.config.Work.copies.Take
	}
	if in.copied, err = take(j.source); err != nil {
		return err
	}
	in.dir, in.path = in.copied.Dir, in.copied.Path()
	return nil
}

// reusable reports whether another launch may have an instance's copy of the
// data: nothing that is measured changes it, and nothing asks for data that no
// cache has seen.
func reusable(jobs []*job) bool {
	return !slices.ContainsFunc(jobs, func(j *job) bool {
		return j.Operation.Changes || j.Operation.Cold || j.Operation.Call()
	})
}

// leave gives the copy back, or removes it with its folder.
func (in *instance) leave() error {
	dir, copied := in.dir, in.copied
	in.dir, in.copied = "", nil
	if copied != nil && in.reuse {
		return in.r.config.Work.copies.Give(copied)
	}
	return os.RemoveAll(dir)
}

// rawDSN puts the database's path into a DSN: escaped where it is a URI.
func (in *instance) rawDSN(raw string) string {
	path := in.address()
	if strings.HasPrefix(raw, "file:") {
		path = escaped(path)
	}
	return strings.ReplaceAll(raw, "{{path}}", path)
}

// escaped is a path as a file: URI has it.
func escaped(path string) string { return (&url.URL{Path: path}).EscapedPath() }

// quoted is a path as a text between quotes has it in SQL.
func quoted(path string) string { return strings.ReplaceAll(path, "'", "''") }

// withoutPath puts {{path}} back for the database's path, however it is
// written.
func (in *instance) withoutPath(text string) string {
	for _, path := range []string{escaped(in.address()), quoted(in.address()), in.address()} {
		text = strings.ReplaceAll(text, path, "{{path}}")
	}
	return text
}

// withPath puts the database's path into SQL.
func (in *instance) withPath(statements []string) []string {
	path := quoted(in.address())
	out := make([]string, len(statements))
	for i, text := range statements {
		out[i] = strings.ReplaceAll(text, "{{path}}", path)
	}
	return out
}
