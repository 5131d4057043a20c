package oracle

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"strings"

	"assay/internal/dataset"
	"assay/internal/plan/sqltext"
)

// table is one that an operation may change.
type table struct {
	name, log string
	columns   []string // those that are stored; the row id before them where there is no primary key
	declared  []string // the columns' types, in capitals
	key       []int    // of columns
	initial   []string // the columns' defaults, in SQL
}

// tablesOf lists the tables that hold rows of their own: no views, no virtual
// tables and nothing that belongs to one.
func tablesOf(ctx context.Context, conn *sql.Conn) (all []*table, err error) {
	const columns = `SELECT t.name, c.name, upper(c.type), c.pk, coalesce(c.dflt_value, '')
		FROM pragma_table_list AS t JOIN pragma_table_xinfo(t.name) AS c
		WHERE t.schema = 'main' AND t.type = 'table' AND t.name NOT LIKE 'sqlite\_%' ESCAPE '\' AND c.hidden = 0 ORDER BY t.name, c.cid`
	err = query(ctx, conn, columns, func(row []any) {
		name := row[0].(string)
		if len(all) == 0 || all[len(all)-1].name != name {
			all = append(all, &table{name: name, log: fmt.Sprintf("assay_log_%d", len(all))})
		}
		t := all[len(all)-1]
		if row[3] != int64(0) {
			t.key = append(t.key, len(t.columns))
		}
		t.columns, t.declared, t.initial = append(t.columns, row[1].(string)), append(t.declared, row[2].(string)), append(t.initial, row[4].(string))
	})
	for _, t := range all {
		if len(t.key) == 0 {
			t.columns, t.declared = slices.Insert(t.columns, 0, rowid), slices.Insert(t.declared, 0, rowid)
			t.initial, t.key = slices.Insert(t.initial, 0, ""), []int{0}
		}
	}
	return all, err
}

// volatile reports whether a column's default is another one each time.
func (t *table) volatile(column int) bool { return dataset.TextVaries(t.initial[column]) }

// rowid is the key of a table without one. Only SQLite has it.
const rowid = "rowid"

// list is the columns with something before each.
func (t *table) list(before string) string {
	names := make([]string, len(t.columns))
	for i, c := range t.columns {
		names[i] = before + sqltext.Quote(c)
	}
	return strings.Join(names, ", ")
}

// same is a condition that is true where two rows have the same key.
func (t *table) same(a, b string) string {
	var all []string
	for _, i := range t.key {
		all = append(all, a+sqltext.Quote(t.columns[i])+" IS "+b+sqltext.Quote(t.columns[i]))
	}
	return strings.Join(all, " AND ")
}

// What the log says of a row, besides the number of a column that was given a value.
const (
	wasPut int64 = -1 - iota // by an insert, or under another key
	gone                     // deleted, or put under another key
)

// keys are the columns of the key with something before each.
func (t *table) keys(before string) (names []string) {
	for _, c := range t.key {
		names = append(names, before+sqltext.Quote(t.columns[c]))
	}
	return names
}

// watch has SQLite log which operation does what to the table's rows.
func (t *table) watch(ctx context.Context, conn *sql.Conn) error {
	line := func(what int64, row, value string) string {
		return fmt.Sprintf("((SELECT position FROM temp.assay_now), %d, %s, %s)", what, strings.Join(t.keys(row), ", "), value)
	}
	put := []string{line(wasPut, "new.", "NULL")}
	var each []string
	for c, name := range t.columns {
		if slices.Contains(t.key, c) {
			continue
		}
		value := line(int64(c), "new.", "new."+sqltext.Quote(name))
		put = append(put, value)
		each = append(each, fmt.Sprintf("CREATE TEMP TRIGGER %s_%d AFTER UPDATE OF %s ON main.%s BEGIN INSERT INTO %s VALUES %s; END", t.log, c, sqltext.Quote(name), sqltext.Quote(t.name), t.log, value))
	}
	trigger := func(name, when string, lines ...string) string {
		return "CREATE TEMP TRIGGER " + t.log + name + " AFTER " + when + " BEGIN INSERT INTO " + t.log + " VALUES " + strings.Join(lines, ", ") + "; END"
	}
	on := " ON main." + sqltext.Quote(t.name)
	for _, text := range append(each,
		"CREATE TEMP TABLE "+t.log+" (assay_at, assay_what, "+strings.Join(t.keys(""), ", ")+", assay_value)",
		trigger("_i", "INSERT"+on, put...),
		trigger("_d", "DELETE"+on, line(gone, "old.", "NULL")),
		trigger("_m", "UPDATE"+on+" WHEN NOT ("+t.same("old.", "new.")+")", append([]string{line(gone, "old.", "NULL")}, put...)...),
	) {
		if _, err := conn.ExecContext(ctx, text); err != nil {
			return fmt.Errorf("watch table %s: %w; the SQL is:\n%s", t.name, err, text)
		}
	}
	return nil
}

func query(ctx context.Context, conn *sql.Conn, text string, visit func(row []any), args ...any) error {
	rows, err := conn.QueryContext(ctx, text, args...)
	if err != nil {
		return fmt.Errorf("%w; the SQL is:\n%s", err, text)
	}
	return each(rows, visit)
}

func each(rows *sql.Rows, visit func(row []any)) error {
	return dataset.Visit(rows, func(row []any) error { visit(row); return nil })
}

// textOf tells values apart, and one list of values from another.
func textOf(values ...any) string {
	var b strings.Builder
	for _, v := range values {
		if truth, ok := v.(bool); ok {
			v = map[bool]int64{true: 1}[truth]
		}
		if blob, ok := v.([]byte); ok {
			fmt.Fprintf(&b, "%d blob %s ", len(blob), blob)
			continue
		}
		text := fmt.Sprint(v)
		fmt.Fprintf(&b, "%d %T %s ", len(text), v, text)
	}
	return b.String()
}

// replays holds what an operation does to tables, in different orders.
type replays struct {
	Played
	tables []*table
	plays  map[*table][]*play
}

// replay plays phases, and looks at the data after each.
func (r *replays) replay(ctx context.Context, phases [][]int, look func(context.Context, *sql.Conn, *dataset.Digester) error) error {
	all, turns := map[*table]*play{}, map[int]int{}
	for _, positions := range phases {
		for _, position := range positions {
			turns[position] = len(turns)
		}
	}
	begin := func(ctx context.Context, conn *sql.Conn) (err error) {
		if r.tables == nil {
			if err := repeats(ctx, conn, r.Operation); err != nil {
				return err
			}
			if r.tables, err = tablesOf(ctx, conn); err != nil {
				return err
			}
		}
		if _, err := conn.ExecContext(ctx, "CREATE TEMP TABLE assay_now (position); INSERT INTO temp.assay_now VALUES (NULL)"); err != nil {
			return err
		}
		for _, t := range r.tables {
			all[t] = &play{turns: turns, histories: map[string]*history{}, final: map[string][]any{}, moves: map[move]int{}}
			if err := t.watch(ctx, conn); err != nil {
				return err
			}
			if err := conn.QueryRowContext(ctx, "SELECT count(*) FROM main."+sqltext.Quote(t.name)).Scan(&all[t].before); err != nil {
				return err
			}
		}
		return nil
	}
	at := func(ctx context.Context, conn *sql.Conn, _ *dataset.Digester, position int) error {
		_, err := conn.ExecContext(ctx, "UPDATE temp.assay_now SET position = ?", position)
		return err
	}
	ended := 0
	end := func(ctx context.Context, conn *sql.Conn, digester *dataset.Digester) error {
		ended++
		for _, t := range r.tables {
			if err := all[t].read(ctx, conn, t, r.Done); err != nil {
				return err
			}
			if ended < len(phases) {
				continue
			}
			if err := all[t].end(ctx, conn, t, r.Data.Path); err != nil {
				return err
			}
		}
		if ended == len(phases) {
			for t, p := range all {
				r.plays[t] = append(r.plays[t], p)
			}
		}
		return look(ctx, conn, digester)
	}
	return r.Data.Replay(ctx, r.Operation, r.Trace, phases, dataset.Watch{Begin: begin, At: at, End: end})
}
