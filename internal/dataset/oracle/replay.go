package oracle

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"

	"assay"
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
	unique    bool     // rows differ by more than the key
}

// tablesOf lists the tables that hold rows of their own: no views, no virtual
// tables and nothing that belongs to one.
func tablesOf(ctx context.Context, conn *sql.Conn) (all []*table, err error) {
	const query = `SELECT t.name, c.name, upper(c.type), c.pk, coalesce(c.dflt_value, ''),
		EXISTS (SELECT 1 FROM pragma_index_list(t.name) WHERE "unique" AND origin <> 'pk') FROM pragma_table_list AS t JOIN pragma_table_xinfo(t.name) AS c
		WHERE t.schema = 'main' AND t.type = 'table' AND t.name NOT LIKE 'sqlite\_%' ESCAPE '\' AND c.hidden = 0 ORDER BY t.name, c.cid`
	rows, err := conn.QueryContext(ctx, query)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		var name, column, declared, initial string
		var key int
		var unique bool
		if err := rows.Scan(&name, &column, &declared, &key, &initial, &unique); err != nil {
			return nil, err
		}
		if len(all) == 0 || all[len(all)-1].name != name {
			all = append(all, &table{name: name, log: fmt.Sprintf("assay_log_%d", len(all)), unique: unique})
		}
		t := all[len(all)-1]
		if key > 0 {
			t.key = append(t.key, len(t.columns))
		}
		t.columns, t.declared, t.initial = append(t.columns, column), append(t.declared, declared), append(t.initial, initial)
	}
	for _, t := range all {
		if len(t.key) == 0 {
			t.columns, t.declared = slices.Insert(t.columns, 0, rowid), slices.Insert(t.declared, 0, rowid)
			t.initial, t.key = slices.Insert(t.initial, 0, ""), []int{0}
		}
	}
	return all, rows.Err()
}

// inserted are the columns that an INSERT without a list fills, in small letters.
func (t *table) inserted() (names []string) {
	for i, c := range t.columns {
		if t.declared[i] != rowid {
			names = append(names, strings.ToLower(c))
		}
	}
	return names
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

// The kinds of a row in the log.
const (
	wasThere = "was"  // what an update replaced
	wasPut   = "put"  // by an insert or an update
	gone     = "gone" // deleted, or put under another key
)

// watch has SQLite log what becomes of the table's rows.
func (t *table) watch(ctx context.Context, conn *sql.Conn) error {
	into := "INSERT INTO " + t.log + " SELECT "
	for _, text := range []string{
		"CREATE TEMP TABLE " + t.log + " (assay_kind, " + t.list("") + ")",
		"CREATE TEMP TRIGGER " + t.log + "_i AFTER INSERT ON main." + sqltext.Quote(t.name) + " BEGIN " + into + "'" + wasPut + "', " + t.list("new.") + "; END",
		"CREATE TEMP TRIGGER " + t.log + "_d AFTER DELETE ON main." + sqltext.Quote(t.name) + " BEGIN " + into + "'" + gone + "', " + t.list("old.") + "; END",
		"CREATE TEMP TRIGGER " + t.log + "_u AFTER UPDATE ON main." + sqltext.Quote(t.name) + " BEGIN " +
			into + "CASE WHEN " + t.same("old.", "new.") + " THEN '" + wasThere + "' ELSE '" + gone + "' END, " + t.list("old.") + "; " +
			into + "'" + wasPut + "', " + t.list("new.") + "; END",
	} {
		if _, err := conn.ExecContext(ctx, text); err != nil {
			return fmt.Errorf("watch table %s: %w; the SQL is:\n%s", t.name, err, text)
		}
	}
	return nil
}

// play is what one order of the operations did to a table.
type play struct {
	rows  int64 // in the end
	lives map[string]*life
	// final has the rows in the end, of those keys that were touched.
	final map[string][]any
}

// life is what became of one row in a play.
type life struct {
	key   []any
	deeds [phases]deeds
}

// deeds is what was done to a row in a phase.
type deeds struct {
	put, updated, gone bool
	// values has for each column those that replaced others, by their text.
	values []map[string]any
}

// read adds what was logged in a phase, and empties the log.
func (p *play) read(ctx context.Context, conn *sql.Conn, t *table, now phase) error {
	var was []any
	err := query(ctx, conn, "SELECT assay_kind, "+t.list("")+" FROM "+t.log+" ORDER BY rowid", func(row []any) {
		kind, values := row[0].(string), slices.Clone(row[1:])
		d := &p.of(t, values).deeds[now]
		switch kind {
		case gone:
			d.gone = true
		case wasThere:
			was = values
		case wasPut:
			d.put, d.updated = d.put || was == nil, d.updated || was != nil
			d.write(values, was)
			was = nil
		}
	})
	if err == nil {
		_, err = conn.ExecContext(ctx, "DELETE FROM "+t.log)
	}
	if err == nil {
		err = conn.QueryRowContext(ctx, "SELECT count(*) FROM main."+sqltext.Quote(t.name)).Scan(&p.rows)
	}
	return err
}

func (p *play) of(t *table, values []any) *life {
	key := make([]any, len(t.key))
	for i, c := range t.key {
		key[i] = values[c]
	}
	text := textOf(key...)
	if p.lives[text] == nil {
		p.lives[text] = &life{key: key}
	}
	return p.lives[text]
}

// write notes the columns that a row was given another value in.
func (d *deeds) write(values, was []any) {
	if d.values == nil {
		d.values = make([]map[string]any, len(values))
	}
	for i, v := range values {
		if was != nil && textOf(was[i]) == textOf(v) {
			continue
		}
		if d.values[i] == nil {
			d.values[i] = map[string]any{}
		}
		d.values[i][textOf(v)] = v
	}
}

// end reads the rows that were touched as they are in the end.
func (p *play) end(ctx context.Context, conn *sql.Conn, t *table) error {
	where := make([]string, len(t.key))
	for i, c := range t.key {
		where[i] = sqltext.Quote(t.columns[c]) + " IS ?"
	}
	stmt, err := conn.PrepareContext(ctx, "SELECT "+t.list("+")+" FROM main."+sqltext.Quote(t.name)+" WHERE "+strings.Join(where, " AND "))
	if err != nil {
		return err
	}
	defer stmt.Close()
	for text, l := range p.lives {
		rows, err := stmt.QueryContext(ctx, l.key...)
		if err == nil {
			err = each(rows, func(row []any) { p.final[text] = slices.Clone(row) })
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func query(ctx context.Context, conn *sql.Conn, text string, visit func(row []any)) error {
	rows, err := conn.QueryContext(ctx, text)
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

func (r *replays) replay(ctx context.Context, phases [][]int) error {
	all := map[*table]*play{}
	now := warmingUp
	begin := func(ctx context.Context, conn *sql.Conn) (err error) {
		if r.tables == nil {
			if err := repeats(ctx, conn, r.Operation); err != nil {
				return err
			}
			if r.tables, err = tablesOf(ctx, conn); err != nil {
				return err
			}
			if r.several {
				nulls, err := nullsOf(r.Operation, r.Trace)
				if err != nil {
					return err
				}
				if r.influences, err = influencesOf(ctx, conn, r.Operation, nulls, r.tables); err != nil {
					return err
				}
			}
		}
		for _, t := range r.tables {
			all[t] = &play{lives: map[string]*life{}, final: map[string][]any{}}
			if err := t.watch(ctx, conn); err != nil {
				return err
			}
		}
		return nil
	}
	end := func(ctx context.Context, conn *sql.Conn, _ *dataset.Teller) error {
		defer func() { now++ }()
		for _, t := range r.tables {
			p := all[t]
			if err := p.read(ctx, conn, t, now); err != nil {
				return err
			}
			if now < alone {
				continue
			}
			if err := p.end(ctx, conn, t); err != nil {
				return err
			}
			if err := r.sample(ctx, conn, t, p); err != nil {
				return err
			}
		}
		return nil
	}
	if err := r.Data.Replay(ctx, r.Operation, r.Trace, phases, dataset.Watch{Begin: begin, End: end}); err != nil {
		return err
	}
	for t, p := range all {
		r.plays[t] = append(r.plays[t], p)
	}
	return nil
}

// sample chooses rows of the first play's end, of which nothing is done to most:
// the same ones each time.
func (r *replays) sample(ctx context.Context, conn *sql.Conn, t *table, p *play) error {
	if len(p.lives) == 0 || r.untouched[t] != nil {
		return nil
	}
	r.untouched[t] = [][]any{}
	stride := max(1, (p.rows+sampledUntouched-1)/sampledUntouched)
	text := fmt.Sprintf("SELECT %s FROM (SELECT %s, row_number() OVER () AS assay_number FROM main.%s) WHERE assay_number %% %d = %d",
		t.list("+"), t.list(""), sqltext.Quote(t.name), stride, r.random.Int64N(stride))
	return query(ctx, conn, text, func(row []any) { r.untouched[t] = append(r.untouched[t], slices.Clone(row)) })
}

// typesOf are the declared types of the table's columns.
func (r *replays) typesOf(ctx context.Context, t *table) []assay.Type {
	types := make([]assay.Type, len(t.columns))
	for i, c := range t.columns {
		if t.volatile(i) || r.Engine == PostgreSQL && !t.sameElsewhere(i) {
			continue
		}
		found, err := r.Data.Describe(ctx, fmt.Sprintf("SELECT %s FROM main.%s LIMIT 1000", sqltext.Quote(c), sqltext.Quote(t.name)), nil)
		if err != nil {
			continue // nothing tells the type: it is not looked at
		}
		types[i] = assay.Type(strings.TrimSuffix(string(found[0]), "?") + "?")
	}
	return types
}
