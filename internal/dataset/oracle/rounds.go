package oracle

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"

	"assay/internal/dataset"
)

// minRounds is into how many rounds the changes of a phase are parted, if there are
// as many.
const minRounds = 100

// parted parts positions into rounds, so that no row is changed twice in a round: what a row was
// at any moment is seen after one of them. Rows has those that each position changes.
func parted(positions []int, rows map[int][]changedRow) (rounds [][]int) {
	next := map[changedRow]int{} // the first round in which a row may be changed again
	most := (len(positions) + minRounds - 1) / minRounds
	for _, position := range positions {
		round := 0
		for _, row := range rows[position] {
			round = max(round, next[row])
		}
		for round < len(rounds) && len(rounds[round]) >= most {
			round++
		}
		if round == len(rounds) {
			rounds = append(rounds, nil)
		}
		rounds[round] = append(rounds[round], position)
		for _, row := range rows[position] {
			next[row] = round + 1
		}
	}
	return rounds
}

// changedRow is a row of a table.
type changedRow struct {
	table *table
	key   string
}

// changed are the rows that each position changes in the first play.
func (r *replays) changed() map[int][]changedRow {
	all := map[int][]changedRow{}
	for t, plays := range r.plays {
		for key, l := range plays[0].histories {
			for i, e := range l.events {
				if i == 0 || l.events[i-1].position != e.position {
					all[e.position] = append(all[e.position], changedRow{t, key})
				}
			}
		}
	}
	return all
}

// changing returns the positions of a mix at which it changes data.
func (b *answerFinder) changing(positions []int) (changing []int, err error) {
	mix, err := b.Trace.Arguments(b.Operation)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, mix.Close()) }()
	for _, position := range positions {
		if part, _ := mix.Part(position); b.Operation.Parts[part].Operation.Changes {
			changing = append(changing, position)
		}
	}
	return changing, nil
}

// inOrders drops the answers that a change alters at any moment of three orders: that of the
// sequence, the opposite one and a shuffled one.
func (b *answerFinder) inOrders(ctx context.Context, all [][]int, positions []int) error {
	phases := make([][]int, len(all))
	for i := range all {
		var err error
		if phases[i], err = b.changing(all[i]); err != nil {
			return err
		}
	}
	r := &replays{Played: b.Played, plays: map[*table][]*play{}}
	look := func(ctx context.Context, conn *sql.Conn, _ *dataset.Digester) (err error) {
		var tables []*table
		for t, plays := range r.plays {
			if len(plays[0].histories) > 0 {
				tables = append(tables, t)
			}
		}
		b.single, err = singles(ctx, conn, b.Operation, tables)
		return err
	}
	if err := r.replay(ctx, phases, look); err != nil {
		return err
	}
	if err := b.dropSeveralRows(positions); err != nil {
		return err
	}
	changed := r.changed()
	random := rand.New(rand.NewPCG(b.Data.Spec.Seed, uint64(b.first)))
	for order := range 3 {
		var rounds [][]int
		for _, phase := range phases {
			switch order {
			case 0:
			case 1:
				slices.Reverse(phase)
			default:
				random.Shuffle(len(phase), func(i, j int) { phase[i], phase[j] = phase[j], phase[i] })
			}
			rounds = append(rounds, parted(phase, changed)...)
		}
		if err := r.replay(ctx, rounds, b.drop); err != nil {
			return err // it is only right in the order of the sequence
		}
	}
	for t, plays := range r.plays {
		if comparePlays(plays).decided {
			return fmt.Errorf("the order decides which rows of %s change", t.name)
		}
	}
	return nil
}
