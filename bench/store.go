//go:build unix

package main

import (
	"fmt"
	"path/filepath"

	"assay"
	"assay/internal/plan"
	"assay/kit/kv"
	"assay/kit/wire"
)

// storePlan has the records and the operations of stores that are compared
// with loops written by hand.
const storePlan = `name: stores
workload: {records: {n: 1e5, key: "{{hex16 random}}:{{hex i}}", value: {bytes: 210}}}
operations:
  get: {kv: get}
  put: {kv: put, draw: uniform}
`

// stores compares gets and puts through a worker with loops written by hand. Puts of
// bbolt allocate much, and the collector makes them slower in a worker than in the small
// program: compare with GOGC=off.
func (t *tools) stores() error {
	p, err := plan.Decode("stores.yaml", []byte(storePlan))
	if err != nil {
		return err
	}
	for _, driver := range []string{"bbolt", "badger", "pebble"} {
		cases, err := p.Expand([]string{driver})
		if err != nil {
			return err
		}
		for _, c := range cases {
			pair, err := t.storePair(driver, c)
			if err != nil {
				return fmt.Errorf("%s: %w", driver, err)
			}
			ratio, err := t.ratio(pair)
			if err != nil {
				return fmt.Errorf("%ss of %s by hand: %w", c.Cell.Operation, driver, err)
			}
			say(c.Cell.Operation+"s of "+driver+", assay / by hand", ratio, "", "0.97 to 1.03", 0.97, 1.03)
		}
	}
	return nil
}

// storePair loads the records once and says how both programs are started.
func (t *tools) storePair(driver string, c assay.Case) (pair, error) {
	data, trace, keys, err := t.material(c)
	if err != nil {
		return pair{}, err
	}
	program, err := t.worker(driver)
	if err != nil {
		return pair{}, err
	}
	both, err := t.programs(driver)
	if err != nil {
		return pair{}, err
	}
	open := wire.Open{Settings: map[string]string{kv.Sync: "0"}, Readers: 1, Idle: 1, Writers: 1}
	store, err := data.Store(t.ctx, "bench-"+driver, func(path, records string) error { return t.fill(program, path, records, open) })
	if err != nil {
		return pair{}, err
	}
	step := c.Operation.Steps[0]
	operation := wire.Operation{Name: c.Cell.Operation, Trace: trace.Path, Changes: c.Operation.Changes,
		Steps: []wire.Step{{KV: step.KV, Query: step.Query, Args: len(step.Args), Rows: 1, Returns: []string{"blob"}}}}
	return pair{name: driver + "-" + c.Cell.Operation, length: trace.Length, copy: store.Copy, programs: both, open: open,
		operation: operation, args: []string{keys, c.Cell.Operation}}, nil
}

// fill loads the records into a new store.
func (t *tools) fill(program, path, records string, open wire.Open) error {
	open.Path = path
	worker, err := t.opened(program, filepath.Dir(path), open)
	if err != nil {
		return err
	}
	defer worker.Kill()
	if err := worker.Call(t.ctx, wire.TypeLoad, wire.Load{Records: records}, nil); err != nil {
		return err
	}
	_, err = worker.Stop(t.ctx)
	return err
}
