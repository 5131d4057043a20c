package oracle

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"fmt"
	"path/filepath"

	"assay/internal/dataset"
)

// answersAfterRules is raised whenever other answers than before are found: what was kept
// by other rules is found anew.
const answersAfterRules = 6

// AnswersAfter returns the digests of what an operation that changes data answers behind
// others, at the positions that follow them: those of the units of a mix that
// change nothing. One is empty where the answer is not known. Of one client of
// SQLite it follows from the sequence. Of several, and of an engine that may do
// something else, it is what was answered before all changes, where it is about one
// row, or about tables that nothing changes, and no change alters it at any moment of
// several orders. It returns nil where nothing is known, and so where the order
// decides which rows a statement changes, and where PostgreSQL may rightly change
// other rows than SQLite does. What is found is kept beside the data.
func (p Played) AnswersAfter(ctx context.Context, count int) ([]string, error) {
	if p.Engine == PostgreSQL && !Portable(p.Operation) {
		return nil, nil
	}
	ordered := p.Clients == 1 && p.Engine == SQLite
	key := sha256.Sum256(fmt.Append(nil, answersAfterRules, p.Data.Digest, p.Name(), count, ordered))
	path := filepath.Join(filepath.Dir(p.Data.Path), fmt.Sprintf("answers-after-%.16x.json", key))
	return dataset.KeepJSON(path, func() ([]string, error) {
		b := &answerFinder{Played: p, first: p.Done.Warm + p.Done.Measured}
		if err := b.find(ctx, count, ordered); err != nil {
			return nil, SystemError(ctx, err)
		}
		return b.told, nil
	})
}

// answerFinder finds out what is answered behind operations.
type answerFinder struct {
	Played
	first int      // position
	told  []string // by position, from the first on
	// single tells of each part whether what it answers is about one row at most of
	// the tables that change.
	single []bool
}

func (b *answerFinder) find(ctx context.Context, count int, ordered bool) error {
	before, positions := [][]int{dataset.Span(0, b.Done.Warm), dataset.Span(b.Done.Warm, b.first)}, dataset.Span(b.first, b.first+count)
	var err error
	if b.told, err = b.Data.Digests(ctx, b.Operation, b.Trace, positions); err != nil {
		return err
	}
	if ordered {
		return b.inSequence(ctx, before, positions)
	}
	return b.inOrders(ctx, append(before, positions), positions)
}

// inSequence finds the answers in the order of the sequence.
func (b *answerFinder) inSequence(ctx context.Context, before [][]int, positions []int) error {
	begin := func(ctx context.Context, conn *sql.Conn) error { return repeats(ctx, conn, b.Operation) }
	at := func(ctx context.Context, _ *sql.Conn, digester *dataset.Digester, position int) (err error) {
		if position >= b.first {
			b.told[position-b.first], err = digester.Digest(ctx, position)
		}
		return err
	}
	return b.Data.Replay(ctx, b.Operation, b.Trace, append(before, positions), dataset.Watch{Begin: begin, At: at})
}

// drop forgets all answers that are others by now.
func (b *answerFinder) drop(ctx context.Context, _ *sql.Conn, digester *dataset.Digester) error {
	for i, told := range b.told {
		if told == "" {
			continue
		}
		now, err := digester.Digest(ctx, b.first+i)
		if err != nil {
			return err
		}
		if now != told {
			b.told[i] = ""
		}
	}
	return nil
}
