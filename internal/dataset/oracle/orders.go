package oracle

import (
	"context"
	"database/sql"
	"fmt"
	"hash/maphash"
	"maps"
	"net/url"
	"slices"
	"strings"

	"assay/internal/plan/sqltext"
)

// play holds what one order of the operations did to a table.
type play struct {
	turns        map[int]int // of the positions, in this order
	before, rows int64       // how many there are at first, and in the end
	histories    map[string]*history
	// final has the rows in the end, of those keys that were touched.
	final map[string][]any
	moves map[move]int
}

// move is that an operation puts rows, or removes some.
type move struct {
	position int
	what     int64
}

// history holds what became of one row in a play.
type history struct {
	key    []any
	before bool // it was there at first
	writes [phases]writes
	events []event // in the order of the play
}

// event is that an operation does something to a row: wasPut, gone, or the column that it sets.
type event struct {
	position int
	what     int64
	value    uint64 // the hash of a column's
}

// writes holds what was done to a row in a phase.
type writes struct {
	put, gone bool
	// values has those that its columns were given, by their text.
	values map[int64]map[string]any
}

// seed is the seed of the hashes of values.
var seed = maphash.MakeSeed()

// read adds what was logged, and empties the log.
func (p *play) read(ctx context.Context, conn *sql.Conn, t *table, done Done) error {
	err := query(ctx, conn, "SELECT * FROM temp."+t.log+" ORDER BY rowid", func(row []any) {
		position, what, value := int(row[0].(int64)), row[1].(int64), row[len(row)-1]
		l := p.of(row[2 : len(row)-1])
		d := &l.writes[done.phase(position)]
		e := event{position: position, what: what}
		switch what {
		case wasPut:
			d.put = true
			p.moves[move{position, what}]++
		case gone:
			d.gone = true
			p.moves[move{position, what}]++
		default:
			text := textOf(value)
			e.value = maphash.String(seed, text)
			if d.values == nil {
				d.values = map[int64]map[string]any{}
			}
			if d.values[what] == nil {
				d.values[what] = map[string]any{}
			}
			d.values[what][text] = value
		}
		l.events = append(l.events, e)
	})
	if err == nil {
		_, err = conn.ExecContext(ctx, "DELETE FROM temp."+t.log)
	}
	return err
}

func (p *play) of(key []any) *history {
	text := textOf(key...)
	if p.histories[text] == nil {
		p.histories[text] = &history{key: slices.Clone(key)}
	}
	return p.histories[text]
}

// end reads the rows that were touched as they are in the end, and whether they were there at
// first.
func (p *play) end(ctx context.Context, conn *sql.Conn, t *table, data string) error {
	if err := conn.QueryRowContext(ctx, "SELECT count(*) FROM main."+sqltext.Quote(t.name)).Scan(&p.rows); err != nil || len(p.histories) == 0 {
		return err
	}
	file := url.URL{Scheme: "file", OmitHost: true, Path: data, RawQuery: "mode=ro&immutable=1"}
	if _, err := conn.ExecContext(ctx, "ATTACH ? AS assay_first", file.String()); err != nil {
		return err
	}
	err := p.each(ctx, conn, "assay_first", t, func(text string, _ []any) { p.histories[text].before = true })
	if err == nil {
		err = p.each(ctx, conn, "main", t, func(text string, row []any) { p.final[text] = slices.Clone(row) })
	}
	if err == nil {
		_, err = conn.ExecContext(ctx, "DETACH assay_first")
	}
	return err
}

// each visits those of the touched rows that a database has.
func (p *play) each(ctx context.Context, conn *sql.Conn, of string, t *table, visit func(text string, row []any)) error {
	where := make([]string, len(t.key))
	for i, key := range t.keys("") {
		where[i] = key + " IS ?"
	}
	stmt, err := conn.PrepareContext(ctx, "SELECT "+t.list("+")+" FROM "+of+"."+sqltext.Quote(t.name)+" WHERE "+strings.Join(where, " AND "))
	if err != nil {
		return err
	}
	defer stmt.Close()
	for text, l := range p.histories {
		rows, err := stmt.QueryContext(ctx, l.key...)
		if err == nil {
			err = each(rows, func(row []any) { visit(text, row) })
		}
		if err != nil {
			return fmt.Errorf("table %s: %w", t.name, err)
		}
	}
	return nil
}

// there reports whether a row that was there at first, or not, is so when a turn comes at which
// nothing is done to it.
func (p *play) there(text string, before bool, turn int) bool {
	if l := p.histories[text]; l != nil {
		for _, e := range l.events {
			if p.turns[e.position] > turn {
				break
			}
			if e.what < 0 {
				before = e.what == wasPut
			}
		}
	}
	return before
}

// compared is in what the plays of a table agree. Of each two operations the first two plays
// show either one behind the other. What only the order of three decides is likely to show in
// the others: some row among all differs.
type compared struct {
	// decided tells that the order decides which rows an operation changes; keyless that new
	// rows get their keys in the order of the operations.
	decided, keyless bool
	// counted tells that each operation puts as many rows in every play, and removes as many.
	counted bool
	// computed are the columns that an operation gives another value in another order.
	computed map[int64]bool
}

func comparePlays(plays []*play) *compared {
	c := &compared{computed: map[int64]bool{}, counted: true}
	texts := map[string]bool{} // of the rows, and whether they are there at first
	for _, p := range plays {
		vanished, now := false, p.before // a unique index makes rows go that nothing else touches
		for text, l := range p.histories {
			texts[text] = l.before
			if l.before {
				now--
			}
			there := p.final[text] != nil
			if there {
				now++
			}
			vanished = vanished || there != p.there(text, l.before, len(p.turns))
		}
		vanished = vanished || now != p.rows
		c.decided = c.decided || vanished
		c.counted = c.counted && !vanished && p.rows == plays[0].rows && maps.Equal(p.moves, plays[0].moves)
	}
	for text, before := range texts {
		c.row(plays, text, before)
	}
	return c
}

// assignment is the n-th value that an operation gives a column.
type assignment struct {
	position int
	what     int64
	nth      int
}

// row adds what becomes of a row.
func (c *compared) row(plays []*play, text string, before bool) {
	type did struct{ put, gone bool }
	values, all := map[assignment]uint64{}, map[int]did{} // in any play
	each := make([]map[int]did, len(plays))               // in each play
	for i, p := range plays {
		each[i] = map[int]did{}
		l := p.histories[text]
		if l == nil {
			continue
		}
		times := map[assignment]int{}
		for _, e := range l.events {
			d, of := each[i][e.position], assignment{position: e.position, what: e.what}
			d.put, d.gone = d.put || e.what == wasPut, d.gone || e.what == gone
			each[i][e.position] = d
			all[e.position] = did{all[e.position].put || d.put, all[e.position].gone || d.gone}
			times[of]++
			of.nth = times[of]
			if before, known := values[of]; known && before != e.value {
				c.computed[e.what] = true
			}
			values[of] = e.value
		}
	}
	for position, most := range all {
		for i, p := range plays {
			d, does := each[i][position]
			switch put := (move{position, wasPut}); {
			case does:
				c.decided = c.decided || d.gone != most.gone
			case most.put && p.moves[put] == plays[0].moves[put]:
				c.keyless = true
			case most.put || p.there(text, before, p.turns[position]):
				c.decided = true
			}
		}
	}
}
