//go:build unix

package runner

import (
	"errors"
	"os"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"assay/kit"
	"assay/kit/column"
	"assay/kit/wire"
)

type faultyEngine struct {
	kit.Engine
	name string
}

func (e faultyEngine) Open(request wire.Open) (kit.Database, wire.Opened, error) {
	if e.name == dies {
		os.Exit(3)
	}
	if e.name == fewFilesName {
		if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &syscall.Rlimit{Cur: 40, Max: 40}); err != nil {
			return nil, wire.Opened{}, err
		}
	}
	if e.name == retries {
		file, err := os.OpenFile(os.Getenv(logVariable)+".opened", os.O_CREATE|os.O_EXCL, 0o644)
		if err == nil {
			return nil, wire.Opened{}, errors.Join(errors.New("not yet"), file.Close())
		}
	}
	if e.name == full {
		return nil, wire.Opened{}, syscall.ENOSPC
	}
	db, opened, err := e.Engine.Open(request)
	return &faultyDatabase{Database: db, name: e.name, second: e.name == wrongSecond && !onceOnly("opened")}, opened, err
}

func (e faultyEngine) Capabilities() []string {
	all := e.Engine.Capabilities()
	if e.name == mute || lies[e.name].from > 0 {
		all = slices.DeleteFunc(all, func(c string) bool { return c == wire.CapAnswers })
	}
	return all
}

type faultyDatabase struct {
	kit.Database
	name    string
	second  bool // another process has opened it before
	reads   int
	done    bool
	working atomic.Int64 // clients that show what they read; or how many operations were done
}

func (d *faultyDatabase) Settings(names []string) ([]wire.Connection, error) {
	all, err := d.Database.Settings(names)
	d.reads++
	for _, c := range all {
		if d.name == repents && d.reads == 1 {
			c.Settings["cache_size"] = "7"
		}
		if d.name == weakens && d.reads == 2 && c.Name == "writer-2" {
			c.Settings["synchronous"] = "0"
		}
	}
	if d.name == forgets {
		all = all[:len(all)-1]
	}
	return all, err
}

// Pool is what the pools of the database under it did.
func (d *faultyDatabase) Pool() wire.Pool { return d.Database.(interface{ Pool() wire.Pool }).Pool() }

func (d *faultyDatabase) Prepare(op wire.Operation, trace *column.File) (kit.Operation, error) {
	if d.name == compiles && op.Statement == wire.Never {
		return nil, wire.Errorf(wire.Unsupported, "it has no form to run SQL without compiling it")
	}
	if d.name == forges && op.Changes {
		op.Steps[0].SQL = "INSERT INTO monster (id, hp) VALUES (?1, ?2 + (?1 = 107) - (?1 = 108))"
	}
	if d.second {
		op.Steps[0].SQL = strings.Replace(op.Steps[0].SQL, "hp FROM", "hp + 1 FROM", 1)
	}
	prepared, err := d.Database.Prepare(op, trace)
	if d.name == diesSecond && op.Changes {
		return skippingOperation{prepared, func(c kit.Client, position int) (int, error) {
			if position == inSecond {
				panic("the second process")
			}
			return c.Do(position)
		}}, err
	}
	if d.name == drops && op.Changes {
		rows := 0
		for _, step := range op.Steps {
			rows += step.Rows
		}
		return droppingOperation{prepared, rows}, err
	}
	if d.name == neverCommits && op.Changes {
		hold, failed := d.Database.Prepare(wire.Operation{Name: "hold", Changes: true, Steps: []wire.Step{{SQL: "SAVEPOINT held", Rows: -1}}}, trace)
		if err = errors.Join(err, failed); err != nil {
			return nil, err
		}
		begin, err := hold.Client()
		return skippingOperation{prepared, func(c kit.Client, position int) (int, error) {
			if !d.done {
				d.done = true
				if _, err := begin.Do(0); err != nil {
					return 0, err
				}
			}
			return c.Do(position)
		}}, err
	}
	if d.name == failsLast && op.Changes {
		return skippingOperation{prepared, func(c kit.Client, position int) (int, error) {
			if position == trace.Rows()-1 {
				return 0, errors.New("the last one failed")
			}
			return c.Do(position)
		}}, err
	}
	if d.name == forgetsLast && op.Changes {
		return skippingOperation{prepared, func(c kit.Client, position int) (int, error) {
			if position == trace.Rows()-1 {
				return 1, nil
			}
			return c.Do(position)
		}}, err
	}
	if d.name == quits {
		return skippingOperation{prepared, func(c kit.Client, position int) (int, error) {
			if d.working.Add(1) > 5_000 {
				os.Exit(3)
			}
			return c.Do(position)
		}}, err
	}
	if d.name == stalls {
		return skippingOperation{prepared, func(c kit.Client, position int) (int, error) {
			if d.working.Add(1)%stallEvery == 0 {
				time.Sleep(stallLength)
			}
			return c.Do(position)
		}}, err
	}
	if d.name == stale && strings.HasPrefix(op.Steps[0].SQL, "UPDATE") {
		return skippingOperation{prepared, func(c kit.Client, position int) (int, error) {
			if position%10 == 9 {
				position--
			}
			return c.Do(position)
		}}, err
	}
	return faultyOperation{prepared, d, op.Name == allPages}, err
}

// skippingOperation does something else at some positions.
type skippingOperation struct {
	kit.Operation
	do func(kit.Client, int) (int, error)
}

func (o skippingOperation) Client() (kit.Client, error) {
	client, err := o.Operation.Client()
	return skippingClient{client, o.do}, err
}

type skippingClient struct {
	kit.Client
	do func(kit.Client, int) (int, error)
}

func (c skippingClient) Do(position int) (int, error) { return c.do(c.Client, position) }

// droppingOperation answers the expected number of rows, and does nothing.
type droppingOperation struct {
	kit.Operation
	rows int
}

func (o droppingOperation) Client() (kit.Client, error) { return droppingClient(o.rows), nil }

type droppingClient int

func (c droppingClient) Do(int) (int, error) { return int(c), nil }
func (c droppingClient) Close() error        { return nil }

type faultyOperation struct {
	kit.Operation
	db    *faultyDatabase
	fills bool // caches
}

func (o faultyOperation) Client() (kit.Client, error) {
	client, err := o.Operation.Client()
	if _, ok := client.(kit.Profiler); ok && (o.db.name == "honest" || o.db.name == missesPhased) {
		return client, err // it times its phases
	}
	if shower, ok := client.(kit.Shower); ok && (o.db.name == wrongBeside || o.db.name == wrongInside) {
		return faultyShower{shower, o.db}, err
	}
	return faultyClient{client, o.db, o.fills}, err
}

// faultyShower counts rows as its clients do, and reads other values.
type faultyShower struct {
	kit.Shower
	db *faultyDatabase
}

func (s faultyShower) Show(visit func(int, []any) error) (kit.Client, error) {
	shown, err := s.Shower.Show(func(step int, row []any) error {
		if s.db.name == wrongInside || s.db.working.Load() > 1 {
			row = append([]any{row[0].(int64) + 1}, row[1:]...)
		}
		return visit(step, row)
	})
	return shownClient{shown, s.db}, err
}

type shownClient struct {
	kit.Client
	db *faultyDatabase
}

func (c shownClient) Do(position int) (int, error) {
	c.db.working.Add(1)
	defer c.db.working.Add(-1)
	time.Sleep(time.Millisecond) // so that clients meet
	return c.Client.Do(position)
}

type faultyClient struct {
	kit.Client
	db    *faultyDatabase
	fills bool
}

func (c faultyClient) Show(visit func(int, []any) error) (kit.Client, error) {
	return c.Client.(kit.Shower).Show(visit)
}

func (c faultyClient) Do(position int) (int, error) {
	rows, err := c.Client.Do(position)
	if c.db.done || c.fills != (c.db.name == early) {
		return rows, err
	}
	switch c.db.name {
	case stumbles, early:
		rows, err = 0, errors.New("stumbled")
	case misses:
		rows++
	default:
		return rows, err // the only ones that may have several clients
	}
	c.db.done = true
	return rows, err
}
