package oracle

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"

	"assay/internal/dataset"
	"assay/internal/plan/sqltext"
)

// minRounds is into how many rounds the changes of a phase are parted, if there are
// as many.
const minRounds = 100

// rounds are the positions of a phase that change data, parted so that no row is
// changed twice in a round: what a row was at any moment is seen after one of them.
type rounds struct {
	all  [][]int
	most int            // changes of a round
	next map[string]int // the first round in which a row may be changed again
}

func (r *rounds) add(position int, rows []string) {
	round := 0
	for _, row := range rows {
		round = max(round, r.next[row])
	}
	for round < len(r.all) && len(r.all[round]) >= r.most {
		round++
	}
	if round == len(r.all) {
		r.all = append(r.all, nil)
	}
	r.all[round] = append(r.all[round], position)
	for _, row := range rows {
		r.next[row] = round + 1
	}
}

// rounds plays the changes of each phase one by one to see which rows they change.
// It fails where the order decides that.
func (b *answerFinder) rounds(ctx context.Context, phases [][]int) ([]*rounds, error) {
	var found []*rounds
	var singles [][]int
	var of []*rounds // each of the singles
	for _, positions := range phases {
		changes, err := b.changing(positions)
		if err != nil {
			return nil, err
		}
		r := &rounds{most: (len(changes) + minRounds - 1) / minRounds, next: map[string]int{}}
		found = append(found, r)
		for i := range changes {
			singles, of = append(singles, changes[i:i+1]), append(of, r)
		}
	}
	var watched []*table
	begin := func(ctx context.Context, conn *sql.Conn) (err error) {
		watched, err = b.watch(ctx, conn)
		return err
	}
	done := 0
	end := func(ctx context.Context, conn *sql.Conn, _ *dataset.Teller) error {
		var rows []string
		for _, t := range watched {
			touched, err := t.touched(ctx, conn)
			if err != nil {
				return err
			}
			rows = append(rows, touched...)
		}
		of[done].add(singles[done][0], rows)
		done++
		return nil
	}
	return found, b.Data.Replay(ctx, b.Operation, b.Trace, singles, dataset.Watch{Begin: begin, End: end})
}

// changing are those of the positions of a mix at which it changes data.
func (b *answerFinder) changing(positions []int) (changing []int, err error) {
	choice, err := b.Trace.Choice(b.Operation)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, choice.Close()) }()
	for _, position := range positions {
		if part, _ := choice.At(position); b.Operation.Parts[part].Operation.Changes {
			changing = append(changing, position)
		}
	}
	return changing, nil
}

// watch logs what becomes of the rows of the tables that change.
func (b *answerFinder) watch(ctx context.Context, conn *sql.Conn) (watched []*table, err error) {
	if err := repeats(ctx, conn, b.Operation); err != nil {
		return nil, err
	}
	tables, err := tablesOf(ctx, conn)
	if err != nil {
		return nil, err
	}
	nulls, err := nullsOf(b.Operation, b.Trace)
	if err != nil {
		return nil, err
	}
	influences, err := influencesOf(ctx, conn, b.Operation, nulls, tables)
	if err != nil {
		return nil, err
	}
	for _, t := range tables {
		switch in := influences[t]; {
		case in == nil:
			continue
		case in.decided:
			return nil, fmt.Errorf("the order decides which rows of %s change", t.name)
		}
		if err := t.watch(ctx, conn); err != nil {
			return nil, err
		}
		watched = append(watched, t)
	}
	b.single, err = singles(ctx, conn, b.Operation, watched)
	return watched, err
}

// touched are the rows that were logged since it was called last.
func (t *table) touched(ctx context.Context, conn *sql.Conn) (rows []string, err error) {
	var keys []string
	for _, c := range t.key {
		keys = append(keys, sqltext.Quote(t.columns[c]))
	}
	err = query(ctx, conn, "SELECT DISTINCT "+strings.Join(keys, ", ")+" FROM "+t.log, func(row []any) {
		rows = append(rows, t.name+" "+textOf(row...))
	})
	if err == nil && len(rows) > 0 {
		_, err = conn.ExecContext(ctx, "DELETE FROM "+t.log)
	}
	return rows, err
}
