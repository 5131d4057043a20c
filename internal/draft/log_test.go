package draft

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"assay"
	"assay/internal/dataset/recording"
	"assay/traffic"

	"modernc.org/sqlite"
)

// readLogs reads logs without recording them.
func readLogs(logs ...Log) (*logged, error) { return recordLogs(context.Background(), nil, logs...) }

// record does something with a database whose traffic is recorded, and returns the
// log.
func record(t *testing.T, database string, most int64, do func(db *sql.DB)) []byte {
	t.Helper()
	path := filepath.Join(t.TempDir(), "app.ndjson")
	r, err := traffic.Open(path, most)
	must(t, err)
	name := "recorded " + path
	sql.Register(name, r.Driver(&sqlite.Driver{}))
	db, err := sql.Open(name, "file:"+database+"?_pragma=busy_timeout(10000)&_pragma=journal_mode(wal)&_pragma=synchronous(0)")
	must(t, err)
	do(db)
	must(t, errors.Join(db.Close(), r.Close()))
	return []byte(read(t, path))
}

// draftedFromLog drafts a plan from the recorded traffic alone.
func draftedFromLog(t *testing.T, schema string, do func(db *sql.DB)) *Draft {
	t.Helper()
	database := create(t, schema)
	o := options(database, "")
	o.Logs = []Log{{"app.ndjson", record(t, database, 1<<30, func(db *sql.DB) {
		db.SetMaxOpenConns(1)
		do(db)
	})}}
	d, err := draftIn(t, t.Context(), o)
	must(t, err)
	return d
}

// ask runs a query to its end.
func ask(t *testing.T, db *sql.DB, query string, args ...any) {
	t.Helper()
	rows, err := db.Query(query, args...)
	must(t, err)
	for rows.Next() {
	}
	must(t, rows.Close())
}

const shopSchema = `CREATE TABLE item (id INTEGER PRIMARY KEY, name TEXT NOT NULL, stock INTEGER NOT NULL);
	CREATE TABLE sale (id INTEGER PRIMARY KEY, item_id INTEGER NOT NULL REFERENCES item (id), at INTEGER NOT NULL);
	WITH RECURSIVE k (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM k WHERE i < 2000) INSERT INTO item SELECT i, 'item ' || i, 1000 FROM k;
	WITH RECURSIVE k (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM k WHERE i < 5000) INSERT INTO sale SELECT i, 1 + i % 2000, i FROM k;`

// TestLog drafts a plan from traffic whose weights, transactions and skew are known.
func TestLog(t *testing.T) {
	database := create(t, shopSchema)
	const theta, items, reads, sales = 0.8, 2000, 4500, 500
	log := record(t, database, 1<<30, func(db *sql.DB) {
		db.SetMaxOpenConns(1)
		draw := rand.New(rand.NewPCG(1, 2))
		sums := make([]float64, items+1)
		for i := 1; i <= items; i++ {
			sums[i] = sums[i-1] + math.Pow(float64(i), -theta)
		}
		for i := range reads + sales {
			u := draw.Float64() * sums[items]
			rank := 1
			for sums[rank] < u {
				rank++
			}
			id := 1 + rank*7919%items // frequent ones are scattered
			if i%10 < 9 {
				var name string
				must(t, db.QueryRow("SELECT name FROM item WHERE id = ?", id).Scan(&name))
				continue
			}
			tx, err := db.Begin()
			must(t, err)
			_, err = tx.Exec("UPDATE item SET stock = stock - 1 WHERE id = ?", id)
			if err == nil {
				_, err = tx.Exec("INSERT INTO sale (item_id, at) VALUES (?, 77)", id)
			}
			must(t, errors.Join(err, tx.Commit()))
		}
	})
	o := options(database, "")
	o.Queries, o.Logs = "", []Log{{"app.ndjson", log}}
	d, err := draftIn(t, t.Context(), o)
	must(t, err)
	all := expanded(t, d)
	var weights []int
	for _, part := range all["app"].Parts {
		weights = append(weights, part.Weight)
	}
	if len(weights) != 2 || weights[0] != 900_000 || weights[1] != 100_000 {
		t.Errorf("got weights %v, want 900000 reads and 100000 sales in 1000000", weights)
	}
	if sale := all["transaction-1"]; len(sale.Steps) != 2 || sale.Transaction != 1 {
		t.Errorf("the sale has %d steps in a transaction of %d, want 2 and 1:\n%s", len(sale.Steps), sale.Transaction, d.Text)
	}
	if got := all["select-item-1"].Steps[0].Args[0]; got.Query != "SELECT a1 FROM recorded.q1 ORDER BY at" || got.Draw != assay.InOrder {
		t.Errorf("items are drawn by %+v, want those of the log in their order", got)
	}
	if !strings.Contains(d.Text, "clients: 1\n") || !strings.HasPrefix(d.Measured[0], "5000 operations of 2 kinds, ") {
		t.Errorf("got %q and\n%s\nwant 5000 operations of one client", d.Measured, d.Text)
	}
	for _, text := range d.Differs {
		if strings.Contains(text, "rows each time") {
			t.Errorf("the drafted rows differ from the log: %s", text)
		}
	}
}

// A log whose queries find other rows than the drafted ones says so.
func TestLogDiffers(t *testing.T) {
	database := create(t, shopSchema)
	const query = "SELECT id FROM sale WHERE item_id = ?"
	log := record(t, database, 1<<30, func(db *sql.DB) {
		db.SetMaxOpenConns(1)
		for i := range 100 {
			ask(t, db, query, 1+i)
		}
	})
	db, err := sql.Open("sqlite", database)
	must(t, err)
	_, err = db.Exec("DELETE FROM sale WHERE id % 2") // the database is not as it was
	must(t, errors.Join(err, db.Close()))
	o := options(database, "-- name: sales\n"+query)
	o.Logs = []Log{{"app.ndjson", log}}
	d, err := draftIn(t, t.Context(), o)
	must(t, err)
	if len(d.Operations) != 2 || d.Operations[0] != "sales" {
		t.Errorf("got operations %q, want the query under its name, and the mix", d.Operations)
	}
	if len(d.Differs) != 1 || !strings.HasPrefix(d.Differs[0], "sales: statement 1 has 1.") || !strings.Contains(d.Differs[0], " rows each time here, and 2.") {
		t.Errorf("got differences %q, want that sales finds fewer rows here than in the log", d.Differs)
	}
}

// How many operations come at once is measured.
func TestLogClients(t *testing.T) {
	var text strings.Builder
	fmt.Fprintln(&text, `{"traffic":2}`+"\n"+`{"id":"a","sql":"SELECT 1"}`)
	for i := range 1000 {
		for conn := range 4 {
			fmt.Fprintf(&text, `{"at":%d,"conn":%d,"tx":0,"s":"a","rows":1,"ns":900000}`+"\n", i*1_000_000+conn*1000, conn+1)
		}
	}
	l, err := readLogs(Log{"app.ndjson", []byte(text.String())})
	must(t, err)
	if l.clients != 4 || l.peak != 4000 || l.rate < 3900 || l.rate > 4100 {
		t.Errorf("got %d clients, %d in a second, %.0f a second; want 4, 4000 and about 4000", l.clients, l.peak, l.rate)
	}
}

// Each process of a program has a log of its own: names, connections and transactions are those
// of its log, and each has its part of the clients. They are sorted by when each log began.
func TestLogsOfProcesses(t *testing.T) {
	log := func(began, text string, conns int) Log {
		var all strings.Builder
		fmt.Fprintf(&all, `{"traffic":2,"began":"2026-11-27T20:00:%sZ"}`+"\n"+`{"id":"a","sql":%q}`+"\n", began, text)
		for i := range 1000 {
			for conn := range conns {
				fmt.Fprintf(&all, `{"at":%d,"conn":%d,"tx":0,"s":"a","rows":1,"ns":900000}`+"\n", i*1_000_000+conn*1000, conn+1)
			}
		}
		// The next log's connection 1 is in no transaction.
		all.WriteString(`{"at":2000000000,"conn":1,"tx":7,"s":"begin","ns":1}` + "\n" + `{"dropped":1}` + "\n")
		return Log{text, []byte(all.String())}
	}
	idle := Log{"idle", []byte(`{"traffic":2,"began":"2026-11-27T20:00:00Z"}` + "\n" + `{"dropped":0}` + "\n")}
	l, err := readLogs(log("02", "SELECT 1", 3), idle, log("00", "SELECT 2 + 3", 2), log("02", "SELECT 1", 1))
	must(t, err)
	if l.processes != 3 || l.clients != 2 || l.count != 6000 || len(l.shapes) != 2 || l.withoutEnd != 3 || l.dropped != 3 || l.noLastLine {
		t.Errorf("got %d processes of %d clients, %d operations of %d kinds, %d without an end, %d dropped; want 3 of 2, which are 4 at once, 6000 of 2, 3, 3",
			l.processes, l.clients, l.count, len(l.shapes), l.withoutEnd, l.dropped)
	}
	if l.peak != 4000 || l.rate < 1900 || l.rate > 2100 { // 2000 in the first second, 4000 in the third
		t.Errorf("got %d in a second, %.0f a second; want 4000 and about 2000", l.peak, l.rate)
	}
	if _, err := readLogs(log("00", "SELECT 1", 1), Log{"torn", []byte("SELECT 1")}); err == nil || !strings.HasPrefix(err.Error(), "torn: line 1 is not") {
		t.Errorf("got %v, want the log that cannot be read", err)
	}
}

// A program with several processes gets a plan with as many.
func TestProcessesOfPlan(t *testing.T) {
	database := create(t, "CREATE TABLE item (id INTEGER PRIMARY KEY, stock INTEGER); INSERT INTO item VALUES (1, 5), (2, 6)")
	log := record(t, database, 1<<30, func(db *sql.DB) {
		for range 20 {
			ask(t, db, "SELECT stock FROM item WHERE id = ?", 1)
		}
	})
	for processes, want := range map[int]string{1: "\n    clients: ", 3: "\n    processes: 3\n    clients: "} {
		o := options(database, "")
		for i := range processes {
			o.Logs = append(o.Logs, Log{fmt.Sprint(i), log})
		}
		d, err := draftIn(t, t.Context(), o)
		must(t, err)
		if !strings.Contains(d.Text, want) || strings.Contains(d.Text, "processes: ") != (processes > 1) {
			t.Errorf("%d processes: got\n%s\nwant %q in it", processes, d.Text, want)
		}
		expanded(t, d)
	}
}

func TestLogMistakes(t *testing.T) {
	const head = `{"traffic":2}` + "\n"
	for name, c := range map[string]struct{ text, want string }{
		"another file":    {"SELECT 1", "line 1 is not a JSON object"},
		"another version": {`{"traffic":1}`, "line 1 is not the beginning of a log of version 2"},
		"no text":         {head + `{"s":"abc","at":1,"conn":1}`, `line 2: the text of statement "abc" is not in the lines before`},
		"negative":        {head + `{"s":"begin","at":-1}`, "line 2: a time or a number of rows is negative"},
		"nothing":         {head, "there is no statement in it that succeeded"},
		"torn inside":     {head + "{\"s\":\n{\"dropped\":0}\n", "line 2 is not a JSON object"},
	} {
		if _, err := readLogs(Log{"app.ndjson", []byte(c.text)}); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want %q", name, err, c.want)
		}
	}
	if _, err := readLogs(Log{"app.ndjson", []byte(head + `{"id":"a","sql":"SELECT 1"}` + "\n" + `{"s":"a","at":1,"conn":1,"rows":1,"ns":5}` + "\n" + `{"s":"a","a`)}); err != nil {
		t.Errorf("a last line that is cut off: got %v", err)
	}
}

// FuzzLog holds that any log gives an error or operations whose numbers add up.
func FuzzLog(f *testing.F) {
	f.Add("{\"traffic\":2}\n{\"id\":\"a\",\"sql\":\"SELECT ?\"}\n{\"s\":\"begin\",\"conn\":1}\n{\"s\":\"a\",\"conn\":1,\"args\":[5],\"ns\":5}\n{\"s\":\"commit\",\"conn\":1,\"at\":7}\n")
	f.Add("{\"traffic\":2}\n{\"id\":\"a\",\"sql\":\"SELECT 7, :a, ?1\"}\n{\"s\":\"a\",\"conn\":1,\"args\":[5],\"ns\":5}\n")
	f.Add("{\"traffic\":2}\n{\"id\":\"a\",\"sql\":\"SELECT :literal9, 7\"}\n{\"s\":\"a\",\"conn\":1,\"args\":[5],\"ns\":5}\n")
	f.Fuzz(func(t *testing.T, text string) {
		out, err := recording.Create(t.Context(), filepath.Join(t.TempDir(), "recorded.db"))
		must(t, err)
		l, err := recordLogs(t.Context(), out, Log{"app.ndjson", []byte(text)})
		if _, failed := out.Close(t.Context(), ""); failed != nil {
			t.Error(failed)
		}
		if err != nil {
			return
		}
		if l.clients < 1 || len(l.shapes) == 0 || math.IsNaN(l.rate) {
			t.Errorf("got %d clients, %d shapes and a rate of %g", l.clients, len(l.shapes), l.rate)
		}
		attach(nil, l)
	})
}

// Several connections at once lose no line.
func TestLogOfManyWriters(t *testing.T) {
	database := create(t, shopSchema)
	log := record(t, database, 1<<30, func(db *sql.DB) {
		if err := db.Ping(); err != nil { // the first connection alone changes the journal mode
			t.Fatal(err)
		}
		var all sync.WaitGroup
		for n := range 4 {
			all.Go(func() {
				for i := range 100 {
					var name string
					if err := db.QueryRow("SELECT name FROM item WHERE id = ?", n*100+i+1).Scan(&name); err != nil {
						t.Error(err)
					}
				}
			})
		}
		all.Wait()
	})
	l, err := readLogs(Log{"app.ndjson", log})
	if err != nil || len(l.shapes) != 1 || l.shapes[0].count != 400 || l.dropped != 0 {
		t.Errorf("got %+v and error %v, want 400 operations of one kind", l, err)
	}
}

// Transactions that do not begin, or have no end, take no other operation with them.
func TestLogTransactionsWithoutEnd(t *testing.T) {
	const head = `{"traffic":2}` + "\n" + `{"id":"a","sql":"SELECT 1"}` + "\n"
	const alone = `{"s":"a","at":50,"conn":1,"tx":0,"ns":1}` + "\n"
	begin := func(tx int) string { return fmt.Sprintf(`{"s":"begin","at":10,"conn":1,"tx":%d}`+"\n", tx) }
	within := func(tx int) string { return fmt.Sprintf(`{"s":"a","at":20,"conn":1,"tx":%d}`+"\n", tx) }
	commit := func(tx int) string { return fmt.Sprintf(`{"s":"commit","at":30,"conn":1,"tx":%d}`+"\n", tx) }
	const failed = `{"s":"commit","at":25,"conn":1,"tx":1,"err":"busy"}` + "\n"
	for name, c := range map[string]struct {
		text              string
		count, withoutEnd int
	}{
		"a failed begin":                     {`{"s":"begin","at":10,"conn":1,"tx":0,"err":"busy"}` + "\n" + alone + alone, 2, 0},
		"a failed commit that is tried anew": {begin(1) + within(1) + failed + commit(1) + alone, 2, 0},
		"a failed commit that is given up":   {begin(1) + within(1) + failed + alone + alone, 2, 1},
		"a begin before an end":              {begin(1) + within(1) + begin(2) + within(2) + commit(2), 1, 1},
		"a transaction under way":            {alone + begin(1) + within(1), 1, 1},
		"rows that a transaction overtook":   {begin(1) + `{"s":"a","at":5,"conn":1,"tx":0}` + "\n" + within(1) + commit(1), 2, 0},
	} {
		l, err := readLogs(Log{"app.ndjson", []byte(head + c.text)})
		if err != nil || len(l.shapes) != 1 || l.shapes[0].count != c.count || l.withoutEnd != c.withoutEnd {
			t.Errorf("%s: got %+v and error %v, want %d operations and %d transactions without end", name, l, err, c.count, c.withoutEnd)
			continue
		}
		if got := strings.Contains(strings.Join(l.summary(), "\n"), fmt.Sprintf("%d transactions have no COMMIT", c.withoutEnd)); got != (c.withoutEnd > 0) {
			t.Errorf("%s: got the summary %q with %d transactions without end", name, l.summary(), c.withoutEnd)
		}
	}
}

// A log that is full can be read, and says how much is not in it.
func TestLogThatIsFull(t *testing.T) {
	log := record(t, create(t, shopSchema), 1000, func(db *sql.DB) {
		long := "SELECT id" + strings.Repeat(", name", 200) + " FROM item"
		for _, query := range []string{"DELETE FROM sale", long, long, "DELETE FROM sale", "DELETE FROM item"} {
			if _, err := db.Exec(query); err != nil {
				t.Fatal(err)
			}
		}
	})
	l, err := readLogs(Log{"app.ndjson", log})
	if err != nil || len(l.shapes) != 1 || l.shapes[0].count != 1 || l.dropped != 4 {
		t.Errorf("got %+v and error %v from\n%s\nwant one operation and 4 dropped", l, err, log)
	}
}

// A log without its end does not pass for one from which nothing was dropped.
func TestLogSummary(t *testing.T) {
	const text = `{"traffic":2}` + "\n" + `{"id":"a","sql":"SELECT 1 FROM item"}` + "\n" + `{"s":"a","at":0,"conn":1,"tx":0,"ns":1}` + "\n" +
		`{"s":"a","at":50000,"conn":1,"tx":0,"ns":1}` + "\n"
	for end, missing := range map[string]bool{"": true, `{"drop`: true, `{"dropped":0}` + "\n": false} {
		l, err := readLogs(Log{"app.ndjson", []byte(text + end)})
		must(t, err)
		got := strings.Join(l.summary(), "\n")
		if strings.Contains(got, "the last line of a log is missing") != missing || !strings.Contains(got, " 39999 a second") {
			t.Errorf("end %q: got %q", end, got)
		}
	}
}

// Of queries that a log cannot tell apart one stands for all.
func TestLogOfQueriesThatAreAlike(t *testing.T) {
	scripts, err := split("-- name: pens\nSELECT id FROM item WHERE name = 'pen'\n;\n-- name: ink\nSELECT id FROM item WHERE name = 'ink';")
	must(t, err)
	l, err := readLogs(Log{"app.ndjson", []byte("{\"traffic\":2}\n{\"id\":\"1\",\"sql\":\"SELECT id FROM item WHERE name = 'x'\"}\n{\"s\":\"1\",\"at\":1,\"conn\":1}\n")})
	must(t, err)
	all := attach(scripts, l)
	if len(all) != 2 || all[0].shape == nil || all[1].shape != nil {
		t.Fatalf("got %d operations, want 2 and the traffic with the first", len(all))
	}
	if want := []string{"The log cannot tell it from ink: its weight in the mix is that of both."}; !slices.Equal(all[0].notes, want) {
		t.Errorf("got notes %q, want %q", all[0].notes, want)
	}
	got := (&mix{measured: true}).unfit(&operation{script: *all[1]})
	if want := "the log cannot tell it from pens, which stands for both"; got != want {
		t.Errorf("ink is left out of the mix because %q, want %q", got, want)
	}
}

// A rare operation is as rare in the mix.
func TestLogOfRareOperations(t *testing.T) {
	m := &mix{measured: true}
	for name, count := range map[string]int{"often": 19_999, "rare": 1} {
		m.reads = append(m.reads, &operation{script: script{name: name, shape: &shape{count: count}}})
	}
	if got := m.weights(true); !strings.Contains(got, "often: 999950") || !strings.Contains(got, "rare: 50") {
		t.Errorf("got %s, want 50 of a million for one of 20000", got)
	}
}

// A mix that cannot be played is not missing without a word.
func TestMixThatIsLeftOutIsTold(t *testing.T) {
	o := options(create(t, shopSchema), "SELECT name FROM item WHERE id = ?; UPDATE item SET stock = ? WHERE id = ?;")
	o.Folder, o.Timeout, o.Total, o.CopyTimeout, o.Block, o.CPU = t.TempDir(), time.Minute, 3*time.Minute, time.Minute, time.Hour, usedCPU
	o.Progress = func(what string) {
		if what != "trying all of them together" {
			return
		}
		copies, err := filepath.Glob(filepath.Join(o.Folder, "*", "data.db"))
		for _, name := range copies {
			err = errors.Join(err, os.WriteFile(name, []byte("no database"), 0o600))
		}
		if err != nil || copies == nil {
			t.Errorf("got copies %q and error %v, want one", copies, err)
		}
	}
	d, err := Make(t.Context(), o)
	must(t, err)
	if len(d.LeftOut) != 1 || !strings.HasPrefix(d.LeftOut[0], "the mix of all operations: ") {
		t.Errorf("got %q left out, want the mix", d.LeftOut)
	}
}

// A mix that is in time is tried once; a limit shortens the blocks of every profile.
func TestBlocksOfAMix(t *testing.T) {
	o := options(create(t, shopSchema), "SELECT name FROM item WHERE id = ?; UPDATE item SET stock = ? WHERE id = ?;")
	tries := 0
	o.Progress = func(what string) {
		if what == "trying all of them together" {
			tries++
		}
	}
	d, err := draftIn(t, t.Context(), o)
	must(t, err)
	// A tenth of the mix changes one page: the log would take ten times as many.
	if want := "count: 10000"; tries != 1 || !strings.Contains(d.Text, want) {
		t.Errorf("got %d tries and no %q:\n%s", tries, want, d.Text)
	}
	c := counts{"current": 1000, "web": 5000, "durable": 1000}
	c.bound(500)
	if want := (counts{"current": 500, "web": 500, "durable": 500}); !reflect.DeepEqual(c, want) {
		t.Errorf("got blocks %v, want %v", c, want)
	}
}

// The warm-up of a block, a tenth of it, fills the log once, within what a block may
// take.
func TestBlocksThatFillTheLog(t *testing.T) {
	for _, c := range []struct {
		name          string
		reads, writes int // of a log
		each          time.Duration
		web, synced   int64
		untried       bool // what it takes is not known
	}{
		{"commits that wait", 4, 1, 100 * time.Microsecond, 10_000, 5000, false},
		{"as many changes as reads", 1, 1, 100 * time.Microsecond, 10_000, 2000, false},
		{"few changes", 99, 1, 100 * time.Microsecond, 10_000, 10_000, false},
		{"changes alone", 0, 1, 100 * time.Microsecond, 10_000, 1000, false},
		{"no change", 1, 0, time.Microsecond, 10_000, 10_000, false},
		{"slow", 9, 1, 800 * time.Microsecond, 6000, 6000, false},
		{"very slow", 9, 1, time.Second, 5000, 5000, false},
		{"nothing that is tried", 0, 0, 0, 10_000, 10_000, false},
		{"what may be slow", 99, 1, time.Microsecond, 5000, 5000, true},
	} {
		m := &mix{measured: true}
		for verb, n := range map[string]int{"SELECT": c.reads, "DELETE": c.writes} {
			o := &operation{script: script{queries: []*query{{verb: verb}}, shape: &shape{count: n}}, each: c.each}
			if n > 0 && o.changes() {
				m.writes = append(m.writes, o)
			} else if n > 0 {
				m.reads = append(m.reads, o)
			}
		}
		if c.untried {
			m.reads[0].steps = []*statement{{arguments: "SELECT TODO"}}
		}
		got := m.lengths()
		if want := (counts{"current": c.synced, "web": c.web, "durable": c.synced}); !reflect.DeepEqual(got, want) {
			t.Errorf("%s: got blocks %v, want %v", c.name, got, want)
		}
	}
}

// Reads and changes have their shares of an assumed mix, however many there are of each.
func TestAssumedShares(t *testing.T) {
	for _, numbers := range [][2]int{{4, 6}, {25, 25}, {1, 20}, {9, 1}} {
		m := &mix{reads: make([]*operation, numbers[0]), writes: make([]*operation, numbers[1])}
		read := &operation{script: script{queries: []*query{{verb: "SELECT"}}}}
		change := &operation{script: script{queries: []*query{{verb: "UPDATE"}}}}
		reads, writes := numbers[0]*m.weight(read), numbers[1]*m.weight(change)
		if 10*reads != 9*(reads+writes) {
			t.Errorf("%v reads and changes: got %d to %d, want 90 to 10", numbers, reads, writes)
		}
	}
}
