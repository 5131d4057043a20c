package tune

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"assay"
	"assay/internal/dataset"
	"assay/internal/dataset/queryplan"
	"assay/internal/tune/expert"
	"assay/kit/wire"
)

// maxIndexes bounds the indexes that are tried: all of them share a launch.
const maxIndexes = 6

// statistics are the ways to tell the planner what the tables hold. The second is for
// every table, as SQLite's documentation has it for a connection that was just opened;
// without the number it looks at what the connection asked for before.
var statistics = []string{"ANALYZE", "PRAGMA optimize=0x10002"}

// tryIndexes adds what may be done to the data before any setting: indexes that the
// queries lack, and statistics. What cannot be done to the data here is a note.
func (t *Tuning) tryIndexes(ctx context.Context) error {
	if len(t.operations) == 0 {
		return nil
	}
	first := t.operations[0]
	if first.Operation.KV() || first.Operation.Call() {
		return nil
	}
	if slices.ContainsFunc(t.operations, func(o assay.Case) bool {
		return o.Dataset.Schema != first.Dataset.Schema || o.Dataset.File != first.Dataset.File
	}) {
		t.notes = append(t.notes, "the plan has several schemas: indexes and ANALYZE are not tried; --only workload=NAME chooses one")
		return nil
	}
	t.request.Step("looking for indexes that the queries lack, on a copy of the data")
	cache := t.lab.Datasets()
	cache.Timeout = t.request.Plan.Timeout
	base, err := t.largest(ctx, cache)
	if err != nil {
		return err
	}
	var factors []Factor
	for _, index := range t.lacking(ctx, base.Path) {
		factors = append(factors, Factor{Name: index, First: true, Levels: []Level{{}, {Prepare: []string{index}}}})
	}
	known := Factor{Name: "statistics", First: true, Levels: []Level{{}}}
	for _, statement := range statistics {
		known.Levels = append(known.Levels, Level{Prepare: []string{statement}})
	}
	return t.addStates(ctx, cache, base, append(factors, known))
}

// largest are the largest data of the operations.
func (t *Tuning) largest(ctx context.Context, cache dataset.Cache) (base *dataset.Data, err error) {
	made := map[string]bool{}
	for _, o := range t.operations {
		key := o.Cell.Workload + o.Cell.ParamString()
		if made[key] {
			continue
		}
		made[key] = true
		data, err := cache.Prepare(ctx, o.Dataset)
		if err != nil {
			return nil, err
		}
		if base == nil || data.Size() > base.Size() {
			base = data
		}
	}
	return base, nil
}

// lacking are the indexes that SQLite's adviser finds for the operations, those first
// that most statements lack.
func (t *Tuning) lacking(ctx context.Context, file string) []string {
	program := expert.Find()
	if program == "" {
		return nil
	}
	counts := map[string]int{}
	var all []string
	asked, named := map[string]bool{}, map[string]bool{}
	for _, o := range t.operations {
		for _, statement := range statements(o.Operation) {
			if asked[statement] {
				continue
			}
			asked[statement] = true
			found, err := expert.Ask(ctx, program, file, statement)
			if err != nil {
				t.notes = append(t.notes, fmt.Sprintf("no index for %s was looked for: %v", o.Cell.Operation, err))
			}
			for _, index := range found {
				if counts[index.SQL()]++; counts[index.SQL()] == 1 && !named[strings.ToLower(index.Name())] {
					named[strings.ToLower(index.Name())] = true // SQLite has no two of a name
					all = append(all, index.SQL())
				}
			}
		}
	}
	slices.SortStableFunc(all, func(a, b string) int { return counts[b] - counts[a] })
	if len(all) > maxIndexes {
		t.notes = append(t.notes, fmt.Sprintf("%d candidate indexes were found; the %d that most statements lack are tried", len(all), maxIndexes))
		all = all[:maxIndexes]
	}
	return all
}

func statements(op assay.Operation) []string {
	var all []string
	for _, step := range op.Steps {
		if !step.Script { // an index is looked for by the plan of a single statement
			all = append(all, step.SQL)
		}
	}
	for _, part := range op.Parts {
		all = append(all, statements(part.Operation)...)
	}
	return all
}

// addStates adds to the space what changes the data: a statement that fails, or that
// leaves the file as another one does, is no candidate.
func (t *Tuning) addStates(ctx context.Context, cache dataset.Cache, base *dataset.Data, factors []Factor) error {
	before, err := os.Stat(base.Path)
	if err != nil {
		return err
	}
	seen := map[string]bool{base.Digest: true}
	var kept []Factor
	for _, f := range factors {
		levels := f.Levels[:1:1]
		for _, level := range f.Levels[1:] {
			data, err := cache.Derive(ctx, base, level.Prepare)
			switch {
			case ctx.Err() != nil:
				return err
			case err != nil:
				t.notes = append(t.notes, fmt.Sprintf("not tried: %v", errors.Unwrap(err)))
			case !seen[data.Digest]:
				seen[data.Digest] = true
				levels = append(levels, level)
			}
		}
		if f.Levels = levels; len(levels) > 1 {
			kept = append(kept, f)
		}
	}
	t.space = t.space.With(kept)
	return t.measureStates(ctx, cache, base, before.Size())
}

// measureStates notes by how much each state of the data makes the file larger.
func (t *Tuning) measureStates(ctx context.Context, cache dataset.Cache, base *dataset.Data, before int64) error {
	t.grows = map[string]int64{}
	for _, p := range t.space.FirstPoints() {
		data, err := cache.Derive(ctx, base, t.space.Prepare(p))
		if err != nil {
			return err
		}
		after, err := os.Stat(data.Path)
		if err != nil {
			return err
		}
		t.grows[t.space.state(p)] = after.Size() - before
	}
	return nil
}

// Unindexed says of a query plan, as EXPLAIN QUERY PLAN prints it, which tables it
// reads from end to end without an index, and of which it makes an index for each
// query. An index of these may be worth more than any setting.
func Unindexed(plan string) []string {
	var all []string
	for _, step := range queryplan.Parse(plan) {
		text := ""
		switch {
		case step.Automatic:
			text = "makes an index of " + step.Table + " for each query"
		case step.Unindexed():
			text = "reads all of " + step.Table
		}
		if text != "" && !slices.Contains(all, text) {
			all = append(all, text)
		}
	}
	return all
}

// tryUses adds what the program may do in another way before any setting: keep its
// statements, have a pool of another size, and commit changes together.
func (t *Tuning) tryUses() {
	if t.engine.isStore() {
		return
	}
	clients := 0
	for _, o := range t.operations {
		clients = max(clients, o.Cell.Clients)
	}
	var factors []Factor
	for _, uses := range [][]assay.Use{
		{{Statement: string(wire.Once)}},
		{{Pool: clients}, {Pool: (clients + 3) / 4}},
		{{Transaction: 10}, {Transaction: 100}},
	} {
		f := Factor{First: true, Levels: []Level{{}}}
		for _, u := range uses {
			if t.isOther(u) {
				f.Levels = append(f.Levels, Level{Use: u})
			}
		}
		if len(f.Levels) > 1 {
			f.Name = f.Levels[1].Use.String()
			factors = append(factors, f)
		}
	}
	t.space = t.space.With(factors)
}

// isOther reports whether a use changes an operation, to one that the plan does not have
// already, that was not ruled out by --only, and that keeps to the memory.
func (t *Tuning) isOther(u assay.Use) bool {
	var used []assay.Case
	places, changes := map[string]bool{}, false
	for _, o := range t.operations {
		other := u.Of(o)
		changes = changes || other.Cell.Peer() != o.Cell.Peer()
		if places[other.Cell.Peer()] || !t.isChosen(o.Cell, other.Cell) {
			return false
		}
		places[other.Cell.Peer()] = true
		used = append(used, other)
	}
	allowed := max(int64(t.request.Memory), t.engine.memory(t.effective, connections(t.operations)))
	return changes && t.engine.memory(t.effective, connections(used)) <= allowed
}

// isChosen reports whether --only, which chose a cell, would choose it after a change.
func (t *Tuning) isChosen(before, after assay.Cell) bool {
	for key, values := range t.request.Only {
		was, _ := before.Coordinate(key)
		if is, _ := after.Coordinate(key); is != was && !slices.Contains(values, is) {
			return false
		}
	}
	return true
}

func (t *Tuning) uses(points []Point) map[string]assay.Use {
	all := map[string]assay.Use{}
	for _, p := range points {
		if u := t.space.Use(p); u != (assay.Use{}) {
			all[t.profile(p).Name] = u
		}
	}
	return all
}
