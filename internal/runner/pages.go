//go:build unix

package runner

import (
	"context"
	"errors"

	"assay"
	"assay/internal/dataset"
	"assay/kit/wire"
)

// allPages is the name by which a worker has prepared the reading of all pages.
const allPages = "all pages"

// fillCaches reads all pages of the data on every instance before its operations are verified
// and measured. Otherwise it would depend on these what SQLite has in its cache: a scan fills
// it, and points that are read at random take longer than windows last.
func (l *jointLaunch) fillCaches(ctx context.Context) error {
	errs := make([]error, len(l.instances))
	l.r.time.together(l.r.random, len(l.instances), func(i int) {
		in := l.instances[i]
		if len(in.pages) > 0 && l.lives(in) {
			errs[i] = whileResumed(ctx, in, func() error { return in.readAllPages(ctx) })
		}
	})
	for i, err := range errs {
		if err == nil {
			continue
		}
		if err := l.giveUp(l.instances[i].member, l.instances[i], whileReading(err)); err != nil {
			return err
		}
	}
	return nil
}

// whileReading says of a failure what was being done: it is not one of the operation whose
// outcome it becomes.
func whileReading(err error) error {
	var f *failure
	if errors.As(err, &f) {
		return &failure{f.outcome, "read all of the data before windows: " + f.reason}
	}
	return err
}

// lives reports whether an instance has anything left to be measured.
func (l *jointLaunch) lives(in *instance) bool {
	for _, j := range in.jobs {
		if !l.has(j, in.twin) {
			return true
		}
	}
	return false
}

// readAllPages has each client read all pages, which its connection's cache keeps if there is room.
func (in *instance) readAllPages(ctx context.Context) error {
	op := assay.Operation{Name: allPages, Statement: string(wire.Each)} // which every worker has, and which leaves nothing compiled
	for _, query := range in.pages {
		op.Steps = append(op.Steps, assay.Step{SQL: query, Query: true, Rows: 1, Returns: []assay.Type{"int"}})
	}
	clients := in.first.Cell.Clients
	if _, err := in.prepare(ctx, allPages, op, &dataset.Trace{}, clients); err != nil {
		return err
	}
	_, err := in.warm(ctx, wire.Measure{Operation: allPages, Operations: int64(clients)})
	return err
}
