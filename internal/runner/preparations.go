//go:build unix

package runner

import (
	"context"
	"time"

	"assay"
	"assay/internal/dataset/oracle"
	"assay/kit/postgres/cluster"
	"assay/kit/process"
)

// storage is what the file system of the databases allows.
type storage struct {
	durability assay.Durability // the strongest class
	loss       string           // why that is not assay.Power
}

// preparations are what is made once for all cells that need it, by what it follows
// from.
type preparations struct {
	keys     map[string]*oracle.Keys
	rows     map[string]*oracle.Rows
	ordered  map[string]bool     // checks whose answer depends on the order of commits
	told     map[string][]string // what is answered behind blocks, and in those of one unit
	server   cluster.Programs    // the installed PostgreSQL; without a version until it was looked for
	clusters map[string]filled   // the datasets that are in PostgreSQL, by their path
	late     map[string]error    // what took too long to prepare, each with its *failure
}

func newPreparations() preparations {
	return preparations{keys: map[string]*oracle.Keys{}, rows: map[string]*oracle.Rows{}, ordered: map[string]bool{}, told: map[string][]string{},
		clusters: map[string]filled{}, late: map[string]error{}}
}

// once returns what is known by a key, or finds it. What it does not find within the
// limit stays unknown, and that is no error.
func once[T any](ctx context.Context, known map[string]T, key string, limit time.Duration, find func(context.Context) (T, error)) (T, error) {
	if found, ok := known[key]; ok {
		return found, nil
	}
	limited, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	found, err := find(limited)
	if err != nil && limited.Err() == nil || ctx.Err() != nil {
		return found, err
	}
	known[key] = found
	return found, nil
}

// observations are what was seen beside the trials, which checks and figures of later
// ones need.
type observations struct {
	limits     map[int]float64    // requests a second that the load generator reaches, by clients
	unloadable map[int]error      // why the load generator cannot have so many clients
	tracings   map[string]tracing // of the syncs of cells, by traceKey
	paces      paces
	stalls     map[string]bool // of what a call took much longer than the worker said, by the key of paces
	noDelays   map[string]bool // targets whose delays the system did not confirm
}

// clock is how far a run is.
type clock struct {
	spent time.Duration // of the budget, before this process
	began time.Time     // measuring, in this process
	lost  time.Duration // in pauses of this process, before it began
	round int           // counts from 1
}

func (c *clock) begin() {
	c.began = time.Now()
	_, c.lost = process.Pauses()
}

// elapsed is what is spent of the budget: a pause of this process is not.
func (c clock) elapsed() time.Duration {
	if c.began.IsZero() {
		return c.spent
	}
	_, lost := process.Pauses()
	return c.spent + time.Since(c.began) - (lost - c.lost)
}
