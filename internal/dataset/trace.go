package dataset

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"

	"github.com/google/renameio/v2"

	"assay"
	"assay/internal/dataset/seeded"
	"assay/kit/column"
	"assay/kit/wire"
)

// Trace is a column file with the arguments of an operation: a column for
// each argument of all steps, in order, and a row for each operation.
//
// The trace of a mix has two int columns instead: the index of a part and the
// position in that part's own trace, which is k for the part's k-th
// occurrence, or 0 of a part without arguments, which has the one position. Parts are the parts' traces, each as long as its part occurs.
type Trace struct {
	Path   string
	Digest string // SHA-256 of the file, hex
	Length int    // rows
	Parts  []Trace
}

// Trace finds or makes the trace of an operation. A row depends on nothing
// but its position and the seed: a longer trace begins with the shorter one.
func (d *Data) Trace(ctx context.Context, op assay.Operation, length int) (*Trace, error) {
	if length < 0 {
		return nil, fmt.Errorf("trace of operation %q: a length of %d", op.Name, length)
	}
	var trace *Trace
	var err error
	if len(op.Parts) > 0 {
		trace, err = d.mixTrace(ctx, op, length)
	} else {
		trace, err = d.argumentTrace(ctx, op, length, nil)
	}
	if err != nil {
		return nil, fmt.Errorf("trace of operation %q: %w", op.Name, err)
	}
	return trace, nil
}

// argumentTrace draws the arguments of an operation that is no mix. grown is
// by how much a mix has grown the data before each row; nil: by nothing.
func (d *Data) argumentTrace(ctx context.Context, op assay.Operation, length int, grown []int64) (_ *Trace, err error) {
	values := arguments(op)
	key, err := digest("trace", d.Spec.Seed, op.Name, values, length, op.Sorted, grown)
	if err != nil {
		return nil, err
	}
	if trace := d.keptColumns(key, length); trace != nil {
		return trace, nil
	}
	g, err := d.arguments(ctx, op, length)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, g.close()) }()
	g.grow(grown)
	order := func(i int) int { return i }
	if op.Sorted && len(values) > 0 {
		if order, err = g.sorted(ctx, length); err != nil {
			return nil, err
		}
	}
	if err := g.open(ctx, length, order); err != nil {
		return nil, err
	}
	row := make([]any, len(values))
	return d.columns(ctx, key, g.types(), length, func(i int) ([]any, error) { return row, g.row(order(i), row) })
}

// grow tells columns that draw from the latest keys how many there are.
func (g *generator) grow(grown []int64) {
	for i := range g.columns {
		if g.columns[i].Draw == assay.Latest {
			g.columns[i].grown = grown
		}
	}
}

// sorted returns the order of rows by their first argument, which is a key.
func (g *generator) sorted(ctx context.Context, length int) (func(int) int, error) {
	if err := g.open(ctx, length, func(i int) int { return i }); err != nil {
		return nil, err
	}
	keys, order := make([][]byte, length), make([]int, length)
	for i := range order {
		if err := g.groups[0].next(g); err != nil {
			return nil, err
		}
		keys[i], _ = g.columns[0].asked.([]byte)
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return bytes.Compare(keys[a], keys[b]) })
	return func(i int) int { return order[i] }, nil
}

func (d *Data) mixTrace(ctx context.Context, op assay.Operation, length int) (*Trace, error) {
	choose, err := d.chooser(ctx, op, length)
	if err != nil {
		return nil, err
	}
	counts := make([]int, len(op.Parts)) // of arguments
	for i, part := range op.Parts {
		counts[i] = len(arguments(part.Operation))
	}
	key, err := digest("mix", d.Spec.Seed, op.Name, choose.bounds, counts, length)
	if op.Sequence != "" {
		key, err = digest("sequence", op.Sequence, counts, length)
	}
	if err != nil {
		return nil, err
	}
	next, added, grown := make([]int64, len(op.Parts)), int64(0), make([][]int64, len(op.Parts))
	for i := range length {
		part := choose.part(i)
		grown[part] = append(grown[part], added)
		added += addedKeys(op.Parts[part].Operation)
	}
	types := []column.Type{column.Int, column.Int}
	if choose.after != nil {
		types = append(types, column.Int)
	}
	trace, err := d.columns(ctx, key, types, length, func(i int) ([]any, error) {
		part := choose.part(i)
		row := []any{int64(part), next[part]}
		if next[part]++; counts[part] == 0 {
			row[1] = int64(0)
		}
		if choose.after != nil {
			row = append(row, choose.after[i])
		}
		return row, nil
	})
	if err != nil {
		return nil, err
	}
	for i, count := range choose.count(length) {
		if !drawsLatest(op.Parts[i].Operation) {
			grown[i] = nil
		}
		part, err := d.argumentTrace(ctx, op.Parts[i].Operation, count, grown[i])
		if err != nil {
			return nil, fmt.Errorf("part %q: %w", op.Parts[i].Operation.Name, err)
		}
		trace.Parts = append(trace.Parts, *part)
	}
	return trace, nil
}

// addedKeys returns how many keys an operation adds to a store each time.
func addedKeys(op assay.Operation) int64 {
	if len(op.Steps) == 1 && op.Steps[0].KV == wire.Put && op.Steps[0].Args[0].To == math.MaxInt64 {
		return 1
	}
	return 0
}

func drawsLatest(op assay.Operation) bool {
	return slices.ContainsFunc(arguments(op), func(v assay.Values) bool { return v.Draw == assay.Latest })
}

func (d *Data) columnPath(key string) string {
	return filepath.Join(filepath.Dir(d.Path), "trace-"+key+".col")
}

// keptColumns finds a column file; nil where there is none.
func (d *Data) keptColumns(key string, length int) *Trace {
	if sum, ok := cachedColumns(d.columnPath(key)); ok {
		return &Trace{Path: d.columnPath(key), Digest: sum, Length: length}
	}
	return nil
}

// columns finds or writes a column file.
func (d *Data) columns(ctx context.Context, key string, types []column.Type, length int, row func(int) ([]any, error)) (*Trace, error) {
	if trace := d.keptColumns(key, length); trace != nil {
		return trace, nil
	}
	sum, err := d.writeColumns(ctx, d.columnPath(key), types, length, row)
	if err != nil {
		return nil, err
	}
	return &Trace{Path: d.columnPath(key), Digest: sum, Length: length}, nil
}

// writeColumns writes a column file in a scratch folder, and moves it into the cache
// with its digest. Another process that does the same writes the same bytes.
func (d *Data) writeColumns(ctx context.Context, path string, types []column.Type, length int, row func(int) ([]any, error)) (sum string, err error) {
	work, err := d.scratch()
	if err != nil {
		return "", err
	}
	defer work.Remove()
	builder := column.NewFileBuilder(work.Path, types...)
	defer func() { err = errors.Join(err, builder.Close()) }()
	for i := range length {
		if i%1024 == 0 && ctx.Err() != nil {
			return "", ctx.Err()
		}
		values, err := row(i)
		if err == nil {
			err = builder.Append(values...)
		}
		if err != nil {
			return "", err
		}
	}
	made := filepath.Join(work.Path, "columns")
	if err := builder.WriteFile(made); err != nil {
		return "", fmt.Errorf("write %s: %w", path, err)
	}
	if sum, err = fileSum(made); err != nil {
		return "", err
	}
	if err := os.Rename(made, path); err != nil {
		return "", err
	}
	return sum, renameio.WriteFile(path+besideSum, []byte(sum), 0o644)
}

// cachedColumns returns the digest of a column file of the cache that is still
// what was written: its digest lies beside it. The name says what it holds.
func cachedColumns(path string) (sum string, ok bool) {
	want, err := os.ReadFile(path + besideSum)
	if err != nil {
		return "", false
	}
	sum, err = fileSum(path)
	return sum, err == nil && sum == string(want)
}

func arguments(op assay.Operation) []assay.Values {
	values := []assay.Values{}
	for _, step := range op.Steps {
		values = append(values, step.Args...)
	}
	return values
}

type chooser struct {
	key    uint64
	bounds []uint64 // bounds[i] is the sum of the weights up to part i
	parts  []int    // of a sequence
	after  []int64  // how many units of it have ended before each begins; nil: all before it
}

// chooser chooses the parts of a mix by chance, or reads them.
func (d *Data) chooser(ctx context.Context, op assay.Operation, length int) (c *chooser, err error) {
	if op.Sequence == "" {
		return newChooser(d.Spec.Seed, op), nil
	}
	session, done, err := d.session(ctx, d.drawn)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, done()) }()
	rows, err := session.QueryContext(ctx, op.Sequence)
	if err != nil {
		return nil, err
	}
	c = &chooser{bounds: make([]uint64, len(op.Parts))}
	err = Visit(rows, func(row []any) error {
		part, _ := row[0].(int64)
		if part < 0 || part >= int64(len(op.Parts)) {
			return fmt.Errorf("part %d does not exist", part)
		}
		c.parts = append(c.parts, int(part))
		if len(row) > 1 {
			after, _ := row[1].(int64)
			c.after = append(c.after, after)
		}
		return nil
	})
	if err == nil && len(c.parts) < length {
		err = fmt.Errorf("a sequence of %d units is asked for %d", len(c.parts), length)
	}
	return c, err
}

func newChooser(seed uint64, op assay.Operation) *chooser {
	c := &chooser{key: seeded.Key(seed, "mix/"+op.Name, 0)}
	total := uint64(0)
	for _, part := range op.Parts {
		total += uint64(part.Weight)
		c.bounds = append(c.bounds, total)
	}
	return c
}

func (c *chooser) part(row int) int {
	if c.parts != nil {
		return c.parts[row]
	}
	x := seeded.Below(seeded.WordsOf(c.key, row).At(1), c.bounds[len(c.bounds)-1])
	part := 0
	for x >= c.bounds[part] {
		part++
	}
	return part
}

// count returns how often each part occurs in a trace.
func (c *chooser) count(length int) []int {
	counts := make([]int, len(c.bounds))
	for i := range length {
		counts[c.part(i)]++
	}
	return counts
}

func (t *Trace) open() (*column.File, error) {
	file, err := column.Open(t.Path)
	if errors.Is(err, os.ErrNotExist) {
		return nil, fmt.Errorf("the trace is gone from the cache: %w", err)
	}
	return file, err
}

// Arguments holds the arguments of an operation, or of the parts of a mix.
type Arguments struct {
	choice *column.File // which part of a mix is done at a position; nil: of no mix
	parts  []assay.Operation
	values []*column.File // by part
}

// Args are the arguments of a step at a position.
type Args struct {
	file       *column.File
	first, row int
}

// Value is an argument as it is bound.
func (a Args) Value(i int) any { return a.file.Value(a.first+i, a.row) }

// Bytes is an argument of a store, until the arguments are closed.
func (a Args) Bytes(i int) []byte { return a.file.Bytes(a.first+i, a.row) }

// parts are the operations of a mix with their traces, or the one that is no mix.
func (t *Trace) parts(op assay.Operation) (operations []assay.Operation, traces []Trace) {
	if len(op.Parts) == 0 {
		return []assay.Operation{op}, []Trace{*t}
	}
	for _, part := range op.Parts {
		operations = append(operations, part.Operation)
	}
	return operations, t.Parts
}

// Arguments opens the trace of an operation and those of its parts.
func (t *Trace) Arguments(op assay.Operation) (_ *Arguments, err error) {
	if len(op.Parts) > 0 && len(t.Parts) != len(op.Parts) {
		return nil, fmt.Errorf("operation %q has %d parts, its trace %d", op.Name, len(op.Parts), len(t.Parts))
	}
	operations, traces := t.parts(op)
	a := &Arguments{parts: operations}
	defer func() {
		if err != nil {
			err = errors.Join(fmt.Errorf("operation %q: %w", op.Name, err), a.Close())
		}
	}()
	if len(op.Parts) > 0 {
		if a.choice, err = t.open(); err != nil {
			return nil, err
		}
		if a.choice.Columns() < 2 || a.choice.Rows() == 0 {
			return nil, fmt.Errorf("%s is not the trace of a mix, or empty", t.Path)
		}
	}
	for i := range traces {
		file, err := traces[i].open()
		if err != nil {
			return nil, err
		}
		a.values = append(a.values, file)
		if want := len(arguments(operations[i])); file.Columns() != want || a.choice == nil && file.Rows() == 0 {
			return nil, fmt.Errorf("its trace has %d columns and %d rows; it wants %d columns and at least one row", file.Columns(), file.Rows(), want)
		}
	}
	return a, nil
}

// Part is the part that is done at a position, around the trace's end, and where in its own
// trace; of no mix 0 and the position.
func (a *Arguments) Part(position int) (part, own int) {
	if a.choice == nil {
		return 0, position
	}
	position %= a.choice.Rows()
	return int(a.choice.Int(0, position)), int(a.choice.Int(1, position))
}

// At calls do for the steps at a position, around the trace's end.
func (a *Arguments) At(position int, do func(*assay.Step, Args) error) error {
	part, own := a.Part(position)
	return a.ofPart(part, own, do)
}

// ofPart is At of a position in the trace of a part.
func (a *Arguments) ofPart(part, own int, do func(*assay.Step, Args) error) error {
	args := Args{file: a.values[part]}
	args.row = own % args.file.Rows()
	if args.row%transactionOperations == 0 { // a file of a million values is large
		args.file.Release()
	}
	steps := a.parts[part].Steps
	for i := range steps {
		if err := do(&steps[i], args); err != nil {
			return fmt.Errorf("operation %q, step %d at position %d: %w; the SQL is:\n%s", a.parts[part].Name, i+1, args.row, err, steps[i].SQL)
		}
		args.first += len(steps[i].Args)
	}
	return nil
}

// Close closes the traces.
func (a *Arguments) Close() error {
	var errs []error
	if a.choice != nil {
		errs = append(errs, a.choice.Close())
	}
	for _, file := range a.values {
		errs = append(errs, file.Close())
	}
	return errors.Join(errs...)
}
