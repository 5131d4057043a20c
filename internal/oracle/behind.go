package oracle

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/google/renameio/v2"

	"assay"
	"assay/internal/dataset"
)

// Behind returns the digests of what an operation that changes data answers behind
// others, at the positions that follow them: those of the units of a mix that
// change nothing. One is empty where the answer is not known. Of one client of
// SQLite it follows from the sequence. Of several, and of an engine that may do
// something else, it is what was answered before all changes, where no change in
// any of two opposite orders alters it. It returns nil where nothing is known. What
// is found is kept beside the data.
func Behind(ctx context.Context, d *dataset.Data, op assay.Operation, trace *dataset.Trace, done Done, count, clients int, engine Engine) ([]string, error) {
	ordered := clients == 1 && engine == SQLite
	key := sha256.Sum256(fmt.Append(nil, d.Digest, Name(op, trace, done), count, ordered))
	path := filepath.Join(filepath.Dir(d.Path), fmt.Sprintf("behind-%.16x.json", key))
	var told []string
	if text, err := os.ReadFile(path); err == nil && json.Unmarshal(text, &told) == nil {
		return told, nil
	}
	b := &behind{data: d, op: op, trace: trace, first: done.Warm + done.Measured}
	if err := b.find(ctx, done, count, ordered); err != nil {
		if err := unplayable(ctx, err); err != nil {
			return nil, err
		}
		b.told = nil
	}
	text, err := json.Marshal(b.told)
	if err != nil {
		return nil, err
	}
	return b.told, renameio.WriteFile(path, text, 0o644)
}

func (b *behind) find(ctx context.Context, done Done, count int, ordered bool) error {
	before, positions := [][]int{span(0, done.Warm), span(done.Warm, b.first)}, span(b.first, b.first+count)
	var err error
	if b.told, err = b.data.Digests(ctx, b.op, b.trace, positions); err != nil {
		return err
	}
	if ordered {
		return b.play(ctx, before, positions, b.tell)
	}
	b.changes = make([]bool, count)
	for i, digest := range b.told {
		b.changes[i] = digest == ""
	}
	for range 2 {
		if err := b.play(ctx, before, positions, b.drop); err != nil {
			return err // it is only right in the order of the sequence
		}
		for _, phase := range append(before, positions) {
			slices.Reverse(phase)
		}
	}
	return nil
}

// behind finds out what is answered behind operations.
type behind struct {
	data    *dataset.Data
	op      assay.Operation
	trace   *dataset.Trace
	first   int      // position
	told    []string // by position, from the first on
	changes []bool   // likewise: it changes data
}

// play plays the phases before, and then position by position. Look is called
// before the first of them and after each, with the one that was played and the
// next one; -1 where there is none.
func (b *behind) play(ctx context.Context, before [][]int, positions []int, look func(ctx context.Context, teller *dataset.Teller, played, next int) error) error {
	phases := slices.Clone(before)
	for i := range positions {
		phases = append(phases, positions[i:i+1])
	}
	begin := func(ctx context.Context, conn *sql.Conn) error { return repeats(ctx, conn, b.op) }
	around := slices.Concat([]int{-1}, positions, []int{-1})
	done := 0
	end := func(ctx context.Context, _ *sql.Conn, teller *dataset.Teller) error {
		if done++; done < len(before) {
			return nil
		}
		i := done - len(before)
		return look(ctx, teller, around[i], around[i+1])
	}
	return b.data.Replay(ctx, b.op, b.trace, phases, begin, end)
}

// tell notes the answer at the position that is next.
func (b *behind) tell(ctx context.Context, teller *dataset.Teller, _, next int) (err error) {
	if next >= 0 {
		b.told[next-b.first], err = teller.Digest(ctx, next)
	}
	return err
}

// drop forgets all answers that are others by now.
func (b *behind) drop(ctx context.Context, teller *dataset.Teller, played, _ int) error {
	if played >= 0 && !b.changes[played-b.first] {
		return nil
	}
	for i, told := range b.told {
		if told == "" {
			continue
		}
		now, err := teller.Digest(ctx, b.first+i)
		if err != nil {
			return err
		}
		if now != told {
			b.told[i] = ""
		}
	}
	return nil
}
