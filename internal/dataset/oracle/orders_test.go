package oracle

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"assay"
	"assay/internal/dataset"
	"assay/kit/answer"
	"assay/kit/column"
)

// interleaved is an order in which so many clients may end operations that they
// take from one sequence.
func interleaved(random *rand.Rand, positions []int, clients int) (order []int) {
	var working []int
	for len(positions)+len(working) > 0 {
		for len(working) < clients && len(positions) > 0 {
			working, positions = append(working, positions[0]), positions[1:]
		}
		i := random.IntN(len(working))
		order = append(order, working[i])
		working = slices.Delete(working, i, i+1)
	}
	return order
}

// refusal says what of a database is not as the rows may be; empty where all is.
func refusal(t *testing.T, ctx context.Context, conn *sql.Conn, rows *Rows) string {
	t.Helper()
	digest := func(text string, types []assay.Type, keys ...[]any) string {
		names := make([]string, len(types))
		for i, of := range types {
			names[i] = string(of)
		}
		hash, err := answer.New(names), error(nil)
		for _, key := range keys {
			var found *sql.Rows
			if err == nil {
				found, err = conn.QueryContext(ctx, text, key...)
			}
			if err == nil {
				err = dataset.Visit(found, hash.Row)
			}
		}
		must(t, err)
		return hash.Sum()
	}
	for _, v := range rows.Values {
		file, err := column.Open(v.Path)
		must(t, err)
		defer file.Close()
		var keys [][]any
		for row := range file.Rows() {
			keys = append(keys, nil)
			for c := range file.Columns() {
				keys[row] = append(keys[row], file.Value(c, row))
			}
		}
		step := v.Get.Steps[0]
		if digest(step.SQL, step.Returns, keys[:v.Exact]...) != v.Digest {
			return fmt.Sprintf("%s: %d known rows", v.Get.Name, v.Exact)
		}
		for i, allowed := range v.Allowed {
			if key := keys[v.Exact+i]; !slices.Contains(allowed, digest(step.SQL, step.Returns, key)) {
				return fmt.Sprintf("%s: row %v of %d values", v.Get.Name, key, len(allowed))
			}
		}
	}
	for _, c := range rows.Counts {
		if digest(c.Query.SQL, c.Query.Returns, nil) != c.Digest {
			return c.Query.SQL
		}
	}
	return ""
}

// Whatever the order in which several clients end their operations, what is there
// then is accepted; and what no order leaves is refused where that can be known.
// Most rows are written once to three times, with few values: so orders that were
// tried agree on much that others make false.
func TestEveryOrderIsAccepted(t *testing.T) {
	const clients, warm, measured, lone, orders = 16, 20, 60, 8, 15
	const two = "CREATE TABLE t (id INTEGER PRIMARY KEY, n INTEGER, m INTEGER NOT NULL DEFAULT 0)"
	id, flag := assay.Values{Kind: assay.Uniform, From: 1, To: 20}, assay.Values{Kind: assay.Uniform, From: 0, To: 1}
	null := assay.Values{Kind: assay.Expression, Query: "SELECT NULL"}
	flagged, few := []assay.Values{flag, id}, assay.Values{Kind: assay.Uniform, From: 0, To: 4}
	of := func(sql string, args ...assay.Values) assay.Operation {
		return assay.Operation{Name: sql, Changes: true, Steps: []assay.Step{{SQL: sql, Args: args, Rows: -1}}}
	}
	set := of("UPDATE t SET n = ? WHERE id = ?", flagged...)
	for name, c := range map[string]struct {
		schema string
		parts  []assay.Operation
		wrong  string // what no order does; empty: nothing can be known
	}{
		"flags":                         {two, []assay.Operation{set}, "UPDATE t SET n = 7 WHERE id BETWEEN 1 AND 60"},
		"flags, a count is known":       {two, []assay.Operation{set}, "DELETE FROM t WHERE id = 90"},
		"an expression of arguments":    {two, []assay.Operation{of("UPDATE t SET n = 1 - ? WHERE id = ?", flagged...)}, "UPDATE t SET n = 7 WHERE id <= 60"},
		"of a column that is not":       {two, []assay.Operation{of("UPDATE t SET n = m + ? WHERE id = ?", flagged...)}, "UPDATE t SET n = 7 WHERE id <= 60"},
		"sums":                          {two, []assay.Operation{of("UPDATE t SET n = n + ? WHERE id = ?", flagged...)}, "UPDATE t SET n = n + 1 WHERE id = 90"},
		"sums and flags":                {two, []assay.Operation{of("UPDATE t SET n = n + ? WHERE id = ?", flagged...), set}, "UPDATE t SET n = 7 WHERE id > 60"},
		"there and back":                {two, []assay.Operation{of("UPDATE t SET n = 1 - n WHERE id = ?", id)}, "UPDATE t SET n = 1 - n WHERE id = 1"},
		"from another column":           {two, []assay.Operation{set, of("UPDATE t SET m = n WHERE id = ?", id)}, "UPDATE t SET n = 7 WHERE id <= 60"},
		"the newest by itself":          {two, []assay.Operation{of("UPDATE t SET n = max(n, ?) WHERE id = ?", flagged...)}, "UPDATE t SET n = 1 - n WHERE id = 1"},
		"claims":                        {two, []assay.Operation{of("UPDATE t SET n = ? WHERE id = ? AND n = 0", flagged...)}, "DELETE FROM t WHERE id = 1"},
		"claims by a column that stays": {two, []assay.Operation{of("UPDATE t SET n = ? WHERE id = ? AND m = 0", flagged...)}, "UPDATE t SET n = 7 WHERE id <= 60"},
		"a query decides":               {two, []assay.Operation{set, of("UPDATE t SET m = 1 WHERE id = (SELECT min(id) FROM t WHERE n = ?)", flag)}, "DELETE FROM t WHERE id = 1"},
		"a limit decides":               {two, []assay.Operation{set, of("UPDATE t SET m = 1 WHERE id IN (SELECT id FROM t WHERE n = ? LIMIT 2)", flag)}, "DELETE FROM t WHERE id = 1"},
		"moves":                         {two, []assay.Operation{of("UPDATE OR REPLACE t SET id = id + ? WHERE id = ?", flagged...)}, ""},
		"inserts and deletes": {two, []assay.Operation{of("INSERT INTO t (id, n) VALUES (?, ?)", assay.Values{Kind: assay.Expression, Query: "SELECT 100 + :i"}, flag),
			of("DELETE FROM t WHERE id = ?", assay.Values{Kind: assay.Uniform, From: 1, To: 130})}, "UPDATE t SET n = 7"},
		"deletes":                    {two, []assay.Operation{of("DELETE FROM t WHERE id = ?", id), set}, "INSERT INTO t (id, n) VALUES (999, 0)"},
		"deletes of a flag":          {two, []assay.Operation{of("DELETE FROM t WHERE id = ? AND n = 1", id), set}, ""},
		"replaces, and from there":   {two, []assay.Operation{of("REPLACE INTO t (n, id) VALUES (?, ?)", few, id), of("UPDATE t SET m = n WHERE id = ?", id)}, "UPDATE t SET n = 77 WHERE id <= 60"},
		"replaces, and a claim":      {two, []assay.Operation{of("REPLACE INTO t (n, id) VALUES (?, ?)", few, id), of("UPDATE t SET m = 9 WHERE id = ? AND n = 1", id)}, ""},
		"replaces, and a removal":    {two, []assay.Operation{of("REPLACE INTO t (n, id) VALUES (?, ?)", few, id), of("DELETE FROM t WHERE id = ? AND n = 1", id)}, ""},
		"from there, and upserts":    {two, []assay.Operation{of("UPDATE t SET n = m WHERE id = ?", id), of("INSERT INTO t (m, id) VALUES (?, ? + 10) ON CONFLICT (id) DO UPDATE SET n = 8", few, id)}, ""},
		"replaces and deletes":       {two, []assay.Operation{of("REPLACE INTO t (n, id) VALUES (?, ?)", flagged...), of("DELETE FROM t WHERE id = ?", id)}, "UPDATE t SET n = 7 WHERE id > 60"},
		"replaces":                   {two, []assay.Operation{of("REPLACE INTO t (n, id) VALUES (?, ?)", flagged...)}, "UPDATE t SET n = 7 WHERE id <= 60"},
		"replaces another row":       {two + "; CREATE UNIQUE INDEX u ON t (m, n) WHERE m > 0", []assay.Operation{of("REPLACE INTO t (m, n, id) VALUES (1, ?, ?)", flagged...)}, ""},
		"the first one stays":        {two, []assay.Operation{of("INSERT OR IGNORE INTO t (n, id) VALUES (?, ? + 80)", flagged...)}, ""},
		"the first one stays, again": {two, []assay.Operation{of("INSERT INTO t (n, id) VALUES (?, ? + 80) ON CONFLICT DO NOTHING", flagged...)}, ""},
		"upserts":                    {two, []assay.Operation{of("INSERT INTO t (n, id) VALUES (?, ? + 80) ON CONFLICT (id) DO UPDATE SET n = excluded.n", flagged...)}, "UPDATE t SET n = 7 WHERE id > 80"},
		"upserts of one column":      {two, []assay.Operation{of("INSERT INTO t (m, n, id) VALUES (?1, ?1, ?2 + 80) ON CONFLICT (id) DO UPDATE SET n = excluded.n", flagged...)}, "UPDATE t SET n = 7 WHERE id > 80"},
		"counting upserts":           {two, []assay.Operation{of("INSERT INTO t (n, id) VALUES (?, ?) ON CONFLICT (id) DO UPDATE SET n = n + excluded.n", flagged...)}, "UPDATE t SET n = 7 WHERE id <= 60"},
		"ids of the engine":          {two, []assay.Operation{of("INSERT INTO t (n) VALUES (?)", flag)}, "DELETE FROM t WHERE id = 1"},
		"ids of the engine, by NULL": {two, []assay.Operation{of("INSERT INTO t (id, n) VALUES (?, ?)", null, flag)}, "DELETE FROM t WHERE id = 1"},
		"no key":                     {"CREATE TABLE t (id INTEGER, n INTEGER, m INTEGER)", []assay.Operation{of("INSERT INTO t (id, n) VALUES (1, ?)", flag)}, "DELETE FROM t WHERE id = 7"},
		"keys that are equal": {"CREATE TABLE t (id TEXT PRIMARY KEY COLLATE NOCASE, n INTEGER, m INTEGER)",
			[]assay.Operation{of("REPLACE INTO t (id, n) VALUES ('a' || ?, 1)", id), of("REPLACE INTO t (id, n) VALUES ('A' || ?, 1)", id)}, ""},
		"a trigger": {two + "; CREATE TABLE u (id INTEGER PRIMARY KEY, n INTEGER); CREATE TRIGGER r AFTER UPDATE ON t BEGIN INSERT OR IGNORE INTO u VALUES (new.id, new.n); END",
			[]assay.Operation{set}, "UPDATE t SET n = 7 WHERE id <= 60"},
		"a trigger of a trigger": {two + "; CREATE TABLE u (id INTEGER PRIMARY KEY, n INTEGER); CREATE TRIGGER r AFTER UPDATE OF n ON t BEGIN REPLACE INTO u VALUES (new.id, new.n); END" +
			"; CREATE TRIGGER s AFTER INSERT ON u BEGIN UPDATE t SET m = (SELECT count(*) FROM u WHERE n = 1) WHERE id = 61; END", []assay.Operation{set}, ""},
		"a trigger that refuses": {two + "; CREATE TRIGGER r BEFORE UPDATE ON t WHEN old.n = new.n BEGIN SELECT RAISE(IGNORE); END", []assay.Operation{set}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := tableOf(t, c.schema, 100)
			op := c.parts[0]
			if len(c.parts) > 1 {
				op = assay.Operation{Name: "mix", Changes: true}
				for _, part := range c.parts {
					op.Parts = append(op.Parts, assay.Part{Operation: part, Weight: 1})
				}
			}
			trace, err := d.Trace(t.Context(), op, warm+measured+lone)
			must(t, err)
			rows, err := Played{d, op, trace, Done{Warm: warm, Measured: measured, OneClient: lone}, clients, SQLite}.Rows(t.Context())
			must(t, err)
			if rows == nil {
				if c.wrong != "" {
					t.Error("got that nothing is known")
				}
				return
			}
			random := rand.New(rand.NewPCG(1, 2))
			begin := func(context.Context, *sql.Conn) error { return nil }
			for range orders {
				all := [][]int{interleaved(random, dataset.Span(0, warm), clients), interleaved(random, dataset.Span(warm, warm+measured), clients), dataset.Span(warm+measured, warm+measured+lone)}
				ended := 0
				end := func(ctx context.Context, conn *sql.Conn, _ *dataset.Digester) error {
					if ended++; ended < len(all) {
						return nil
					}
					if got := refusal(t, ctx, conn, rows); got != "" {
						return fmt.Errorf("got that an order is refused: %s", got)
					}
					if c.wrong == "" {
						return nil
					}
					if _, err := conn.ExecContext(ctx, c.wrong); err != nil {
						return err
					}
					if refusal(t, ctx, conn, rows) == "" {
						return errors.New("got that what no order leaves is accepted")
					}
					return nil
				}
				must(t, d.Replay(t.Context(), op, trace, all, dataset.Watch{Begin: begin, End: end}))
			}
		})
	}
}

// Whatever the order, an answer that is known is given at any moment behind the
// block.
func TestAnswersBehindEveryOrder(t *testing.T) {
	const clients, warm, measured, count, orders = 16, 20, 60, 30, 15
	id, flag := assay.Values{Kind: assay.Uniform, From: 1, To: 20}, assay.Values{Kind: assay.Uniform, From: 0, To: 1}
	query := func(sql string, args ...assay.Values) assay.Operation {
		return assay.Operation{Name: sql, Steps: []assay.Step{{SQL: sql, Args: args, Query: true, Rows: 1, Returns: []assay.Type{"int"}}}}
	}
	for name, c := range map[string]struct {
		change string
		args   []assay.Values
		known  bool // some answers
	}{
		"flags":               {"UPDATE t SET n = ? WHERE id = ?", []assay.Values{flag, id}, true},
		"there and back":      {"UPDATE t SET n = 1 - n WHERE id = ?", []assay.Values{id}, true},
		"claims":              {"UPDATE t SET n = ? WHERE id = ? AND n = 0", []assay.Values{flag, id}, false},
		"ids of the engine":   {"INSERT INTO t (n) VALUES (?)", []assay.Values{flag}, true},
		"the first one stays": {"INSERT OR IGNORE INTO t (n, id) VALUES (?, ? + 80)", []assay.Values{flag, id}, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := tableOf(t, schema, 40)
			change := assay.Operation{Name: "change", Changes: true, Steps: []assay.Step{{SQL: c.change, Args: c.args, Rows: -1}}}
			op := assay.Operation{Name: "mix", Changes: true, Count: measured, Parts: []assay.Part{{Operation: change, Weight: 3},
				{Operation: query("SELECT n FROM t WHERE id = ?", assay.Values{Kind: assay.Uniform, From: 1, To: 25}), Weight: 3},
				{Operation: query("SELECT count(*) FROM t WHERE n = ?", flag), Weight: 1}}}
			trace, err := d.Trace(t.Context(), op, warm+measured+count)
			must(t, err)
			told, err := Played{d, op, trace, Done{Warm: warm, Measured: measured}, clients, SQLite}.AnswersAfter(t.Context(), count)
			must(t, err)
			if known := slices.ContainsFunc(told, func(digest string) bool { return digest != "" }); known != c.known {
				t.Errorf("got that answers are known: %t, want %t", known, c.known)
			}
			random := rand.New(rand.NewPCG(1, 2))
			begin := func(context.Context, *sql.Conn) error { return nil }
			for range orders {
				all := [][]int{interleaved(random, dataset.Span(0, warm), clients), interleaved(random, dataset.Span(warm, warm+measured), clients)}
				for _, position := range interleaved(random, dataset.Span(warm+measured, warm+measured+count), clients) {
					all = append(all, []int{position})
				}
				ended := 0
				end := func(ctx context.Context, _ *sql.Conn, digester *dataset.Digester) error {
					if ended++; ended < 2 {
						return nil
					}
					for i, want := range told {
						got, err := digester.Digest(ctx, warm+measured+i)
						if err == nil && want != "" && got != want {
							err = fmt.Errorf("got that the answer at position %d is refused", i)
						}
						if err != nil {
							return err
						}
					}
					return nil
				}
				must(t, d.Replay(t.Context(), op, trace, all, dataset.Watch{Begin: begin, End: end}))
			}
		})
	}
}
