//go:build unix

package kvdb

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"assay/kit"
	"assay/kit/column"
	"assay/kit/column/columntest"
	"assay/kit/kv"
	"assay/kit/wire"
	"assay/kit/workertest"
)

// TestMain turns the test binary into a worker where it is started by the name
// of a fake.
func TestMain(m *testing.M) {
	if fault, ok := strings.CutPrefix(filepath.Base(os.Args[0]), "store-"); ok {
		os.Exit(Main(driver(fault)))
	}
	os.Exit(m.Run())
}

// driver is a store in memory, kept in one file, that is right but for one
// fault.
func driver(fault string) Driver {
	return Driver{Name: "memory", Version: "1", Settings: []string{kv.Sync}, Open: func(c Config) (Store, error) {
		s := &memory{fault: fault, file: filepath.Join(c.Path, "data"), keys: map[string]string{}, sync: c.Sync(true)}
		return s, s.read()
	}}
}

type memory struct {
	lock  sync.Mutex
	fault string
	file  string
	keys  map[string]string
	view  map[string]string // of the newest read transaction
	sync  bool
}

// read and Close keep a store as keys and values with their lengths.
func (m *memory) read() error {
	text, err := os.ReadFile(m.file)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	parts := strings.Split(string(text), "\x01\x02\x03")
	for i := 0; i+1 < len(parts); i += 2 {
		m.keys[parts[i]] = parts[i+1]
	}
	return err
}

func (m *memory) Close() error {
	var out strings.Builder
	for _, key := range slices.Sorted(maps.Keys(m.keys)) {
		if m.fault == "forgets" {
			m.fault = ""
			continue // one key is not there any more when it is opened again
		}
		out.WriteString(key + "\x01\x02\x03" + m.keys[key] + "\x01\x02\x03")
	}
	return os.WriteFile(m.file, []byte(out.String()), 0o600)
}

func (m *memory) Check() (string, error) {
	if m.fault == "finds damage" {
		return "", errors.New("damage")
	}
	return "memory", nil
}

func (m *memory) Get(key, into []byte) ([]byte, bool, error) {
	m.lock.Lock()
	defer m.lock.Unlock()
	value, ok := m.keys[string(key)]
	switch {
	case m.fault == "finds anything":
		return append(into, "x"...), true, nil
	case m.fault == "finds no empty value" && value == "":
		return into, false, nil
	}
	return append(into, value...), ok, nil
}

func (m *memory) Scan(from []byte, n int, visit func(key, value []byte) error) error {
	m.lock.Lock()
	defer m.lock.Unlock()
	keys := slices.Sorted(maps.Keys(m.keys))
	if m.fault == "unordered" && len(keys) > 1 {
		keys[0], keys[1] = keys[1], keys[0]
	}
	for _, key := range keys {
		if key < string(from) {
			continue
		}
		if n--; n < 0 {
			return nil
		}
		if err := visit([]byte(key), []byte(m.keys[key])); err != nil {
			return err
		}
	}
	return nil
}

func (m *memory) Put(key, value []byte) error {
	return m.Update(func(w Writer) error { return w.Put(key, value) })
}

func (m *memory) Delete(key []byte) error {
	return m.Update(func(w Writer) error { return w.Delete(key) })
}

func (m *memory) Update(change func(Writer) error) error {
	w := &writing{m, map[string]*string{}}
	if err := change(w); err != nil {
		return err
	}
	m.lock.Lock()
	defer m.lock.Unlock()
	for key, value := range w.changes {
		if value == nil {
			delete(m.keys, key)
		} else {
			m.keys[key] = *value
		}
	}
	return nil
}

// View copies the keys, unless its fault is to look at those of now, or always
// at those of the first time.
func (m *memory) View(look func(Getter) error) error {
	if m.fault == "views what changes" {
		return look(m)
	}
	m.lock.Lock()
	if m.view == nil || m.fault != "views the past" {
		m.view = maps.Clone(m.keys)
	}
	view := &memory{keys: m.view}
	m.lock.Unlock()
	return look(view)
}

func (m *memory) Durability() string { return "process" }

func (m *memory) Effective() map[string]string {
	value := "0"
	if m.sync || m.fault == "always syncs" {
		value = "1"
	}
	return map[string]string{kv.Sync: value}
}

type writing struct {
	*memory
	changes map[string]*string
}

func (w *writing) Put(key, value []byte) error {
	text := string(value)
	if _, before := w.changes[string(key)]; before && w.fault == "keeps the first" {
		return nil
	}
	w.changes[string(key)] = &text
	return nil
}

func (w *writing) Delete(key []byte) error {
	w.lock.Lock()
	defer w.lock.Unlock()
	if _, ok := w.keys[string(key)]; !ok && w.fault == "misses deletes" {
		return errors.New("no such key")
	}
	if w.fault != "deletes nothing" {
		w.changes[string(key)] = nil
	}
	return nil
}

// TestConformance: the suite finds what is wrong with a store, and nothing else.
func TestConformance(t *testing.T) {
	const random = "random operations leave what a model has, also when opened again"
	for fault, want := range map[string][]string{
		"":                     nil,
		"forgets":              {"records are loaded, and are there when the store is opened again", "keys and values of any bytes are kept and ordered", random, "an empty value is kept, or refused"},
		"finds anything":       {"a block executes exactly its operations", "a window lasts as long as asked", "a window in batches counts every operation", "several clients share one counter", "a window has ten operations of every client", "counters are those of the measurement alone", "clients that are measured tell the answer at each position", "a mix tells the answers of its reading parts", "a unit with another number of rows than expected has no digest", random, "a key that is not there is a miss", "an empty value is kept, or refused", "one field of a value is replaced, and read"},
		"finds no empty value": {"an empty value is kept, or refused"},
		"unordered":            {"records are loaded, and are there when the store is opened again", "keys and values of any bytes are kept and ordered", random, "several clients put at the same time", "several steps in a transaction are one operation", "one field of a value is replaced, and read"},
		"keeps the first":      {random},
		"views what changes":   {"gets of one read transaction see the store of one moment"},
		"views the past":       {"a read transaction sees what was committed before it"},
		"deletes nothing":      {random, "gets of one read transaction see the store of one moment"},
		"misses deletes":       {"deleting a key that is not there is no error"},
		"always syncs":         {"sync can be asked for, and not"},
		"finds damage":         {"the store's own check has a name and finds nothing in a sound store, or is unsupported"},
	} {
		t.Run(fault, func(t *testing.T) {
			t.Parallel()
			self, err := os.Executable()
			program := filepath.Join(t.TempDir(), "store-"+fault)
			if err == nil {
				err = os.Symlink(self, program)
			}
			must(t, err)
			var failed []string
			for result := range workertest.Run(t.Context(), program, workertest.Options{}) {
				if !result.OK {
					failed = append(failed, result.Name)
					t.Log(result)
				}
			}
			if !slices.Equal(failed, want) {
				t.Errorf("failed %q\nwant   %q", failed, want)
			}
		})
	}
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// open opens a store in memory with some records.
func open(t *testing.T, d Driver) *database {
	t.Helper()
	db, opened, err := New(d).Open(wire.Open{Path: t.TempDir(), Settings: map[string]string{kv.Sync: "0"}, Readers: 1, Writers: 1})
	must(t, err)
	if opened.Durability != "process" || opened.Issued[kv.Sync] != "0" {
		t.Errorf("opened %+v", opened)
	}
	return db.(*database)
}

func TestRefused(t *testing.T) {
	d := driver("")
	d.NoScan = "it has no order"
	db := open(t, d)
	trace := columntest.Open(t, []column.Type{column.Blob, column.Int}, []any{[]byte("a"), int64(1)})
	for want, op := range map[string]wire.Operation{
		"unsupported: step 1: a key-value store has get, put, delete, scan, update and get-field, and not \"SELECT 1\"": {Steps: []wire.Step{{SQL: "SELECT 1"}}},
		"unsupported: step 1: no scan with memory: it has no order":                                                     {Steps: []wire.Step{{KV: wire.Scan, Args: 2}}},
		"invalid: step 1: get takes 1 arguments, not 2":                                                                 {Steps: []wire.Step{{KV: wire.Get, Args: 2}}},
		"invalid: step 1: delete changes data":                                                                          {Steps: []wire.Step{{KV: wire.Delete, Args: 1}}},
		"unsupported: step 1: a scan in a transaction, or in an operation that changes data":                            {Transaction: 1, Steps: []wire.Step{{KV: wire.Scan, Args: 2}}},
		"invalid: step 1: update changes data":                                                                          {Steps: []wire.Step{{KV: wire.Update, Args: 2, Fields: 2}}},
		"invalid: step 1: there is no field 2 of 2":                                                                     {Changes: true, Steps: []wire.Step{{KV: wire.Update, Args: 2, Fields: 2, Field: 2}}},
		"invalid: step 1: put takes 3 arguments, not 2":                                                                 {Changes: true, Steps: []wire.Step{{KV: wire.Put, Args: 2, Fields: 2}}},
		"invalid: column 1 of the trace is not of the type that put takes":                                              {Changes: true, Steps: []wire.Step{{KV: wire.Put, Args: 2}}},
	} {
		_, err := db.Prepare(op, trace)
		var refused *wire.Error
		if !errors.As(err, &refused) || refused.Code+": "+refused.Message != want {
			t.Errorf("got %v\nwant %s", err, want)
		}
	}
	for want, request := range map[string]wire.Open{
		"memory has no setting page_size": {Path: t.TempDir(), Readers: 1, Settings: map[string]string{"page_size": "1"}},
		"memory takes no DSN and no SQL":  {Path: t.TempDir(), Readers: 1, DSN: "x"},
	} {
		if _, _, err := New(d).Open(request); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}

// Loading goes in batches that are bounded in records and in bytes.
func TestBatchEnd(t *testing.T) {
	small := columntest.Open(t, []column.Type{column.Blob, column.Blob}, slices.Repeat([][]any{{[]byte("k"), []byte("v")}}, 2500)...)
	large := columntest.Open(t, []column.Type{column.Blob, column.Blob}, slices.Repeat([][]any{{[]byte("k"), make([]byte, 3<<20)}}, 4)...)
	for _, c := range []struct {
		file       *column.File
		from, want int
	}{{small, 0, 1000}, {small, 1000, 2000}, {small, 2000, 2500}, {large, 0, 3}, {large, 3, 4}} {
		if got := batchEnd(c.file, c.from); got != c.want {
			t.Errorf("the batch from %d of %d ends at %d, want %d", c.from, c.file.Rows(), got, c.want)
		}
	}
}

// fieldsOf is what a store has after an operation, and the rows it answered.
func fieldsOf(t *testing.T, op wire.Operation, value string) (stored string, rows int, err error) {
	t.Helper()
	db := open(t, driver(""))
	must(t, db.store.Put([]byte("k"), []byte(value)))
	types, row := []column.Type{}, []any{}
	for _, s := range op.Steps {
		types, row = append(types, column.Blob), append(row, []byte("k"))
		for i := range s.Args - 1 {
			types, row = append(types, column.Blob), append(row, []byte{'x', 'y' + byte(i)})
		}
	}
	prepared, err := db.Prepare(op, columntest.Open(t, types, row))
	must(t, err)
	client, err := prepared.Client()
	must(t, err)
	rows, err = client.Do(0)
	found, _, getErr := db.store.Get([]byte("k"), nil)
	if getErr != nil {
		t.Fatal(getErr)
	}
	return string(found), rows, err
}

// An update replaces its field and nothing else, alone, behind a get and in a
// transaction; a put writes all fields.
func TestFields(t *testing.T) {
	get := wire.Step{KV: wire.Get, Args: 1, Rows: 1, Query: true, Fields: 3}
	update := wire.Step{KV: wire.Update, Args: 2, Rows: 1, Fields: 3, Field: 1}
	put := wire.Step{KV: wire.Put, Args: 4, Rows: 1, Fields: 3}
	for name, c := range map[string]struct {
		op   wire.Operation
		want string
	}{
		"update":                    {wire.Operation{Steps: []wire.Step{update}}, "aaxycc"},
		"update in a transaction":   {wire.Operation{Steps: []wire.Step{update}, Transaction: 1}, "aaxycc"},
		"get, update":               {wire.Operation{Steps: []wire.Step{get, update}}, "aaxycc"},
		"get, update, transaction":  {wire.Operation{Steps: []wire.Step{get, update}, Transaction: 1}, "aaxycc"},
		"put":                       {wire.Operation{Steps: []wire.Step{put}}, "xyxzx{"},
		"get, put in a transaction": {wire.Operation{Steps: []wire.Step{get, put}, Transaction: 1}, "xyxzx{"},
	} {
		c.op.Changes = true
		got, rows, err := fieldsOf(t, c.op, "aabbcc")
		if got != c.want || rows != len(c.op.Steps) || err != nil {
			t.Errorf("%s: got %q, %d rows, %v; want %q, %d rows", name, got, rows, err, c.want, len(c.op.Steps))
		}
		if _, _, err := fieldsOf(t, c.op, "aabbc"); (err != nil) != (c.want == "aaxycc") {
			t.Errorf("%s of a value of another length: got the error %v", name, err)
		}
	}
}

// Without a transaction, the steps of an operation are none; with it they are one.
func TestStepsWithoutTransaction(t *testing.T) {
	for transaction, want := range map[int]int{0: 2, 1: 1} {
		counted := &counting{}
		d := driver("")
		d.Open = func(c Config) (Store, error) {
			counted.memory = &memory{file: filepath.Join(c.Path, "data"), keys: map[string]string{}}
			return counted, nil
		}
		db := open(t, d)
		put := wire.Step{KV: wire.Put, Args: 2}
		row := []any{[]byte("a"), []byte("1"), []byte("b"), []byte("2")}
		prepared, err := db.Prepare(wire.Operation{Changes: true, Transaction: transaction, Steps: []wire.Step{put, put}},
			columntest.Open(t, []column.Type{column.Blob, column.Blob, column.Blob, column.Blob}, row))
		must(t, err)
		client, err := prepared.Client()
		must(t, err)
		if _, err := client.Do(0); err != nil {
			t.Fatal(err)
		}
		if counted.commits != want {
			t.Errorf("transaction %d: got %d commits of two puts, want %d", transaction, counted.commits, want)
		}
	}
}

// counting counts commits.
type counting struct {
	*memory
	commits int
}

func (c *counting) Durability() string { return "process" }

func (c *counting) Put(key, value []byte) error {
	c.commits++
	return c.memory.Put(key, value)
}

func (c *counting) Update(change func(Writer) error) error {
	c.commits++
	return c.memory.Update(change)
}

// A store without read transactions is not read without one where one is asked
// for.
func TestNoReadTransactions(t *testing.T) {
	d := driver("")
	whole := d.Open
	d.Open = func(c Config) (Store, error) {
		s, err := whole(c)
		return struct{ Store }{s}, err
	}
	trace := columntest.Open(t, []column.Type{column.Blob}, []any{[]byte("a")})
	_, err := open(t, d).Prepare(wire.Operation{Transaction: 1, Steps: []wire.Step{{KV: wire.Get, Args: 1}}}, trace)
	if want := "memory has no read transactions"; err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("got %v, want %s", err, want)
	}
}

// What clients show is what they read, in a read transaction too, whose rows are
// shown once however often the store runs it.
func TestShow(t *testing.T) {
	store := &memory{keys: map[string]string{"a": "onetwo", "b": "sixten"}}
	db := &database{driver: Driver{Name: "memory"}, store: twice{store}}
	var rows [][]any
	for _, key := range []string{"a", "b", "c", "a"} {
		rows = append(rows, []any{[]byte(key), []byte("b")})
	}
	trace := columntest.Open(t, []column.Type{column.Blob, column.Blob}, rows...)
	get := wire.Step{KV: wire.Get, Query: true, Args: 1, Rows: -1, Returns: []string{"blob"}}
	field := wire.Step{KV: wire.GetField, Query: true, Args: 1, Rows: -1, Fields: 2, Field: 1, Returns: []string{"blob"}}
	for _, c := range []struct {
		op        wire.Operation
		positions []int // units
		want      []string
	}{
		{wire.Operation{Steps: []wire.Step{get}}, []int{1, 2}, []string{"0 sixten", "1 rows", "0 rows"}},
		{wire.Operation{Steps: []wire.Step{field}}, []int{1, 2}, []string{"0 ten", "1 rows", "0 rows"}},
		{wire.Operation{Steps: []wire.Step{get, get}}, []int{0}, []string{"0 onetwo", "1 sixten", "2 rows"}},
		{wire.Operation{Steps: []wire.Step{get}, Transaction: 2}, []int{0, 1}, []string{"0 onetwo", "0 sixten", "2 rows", "0 onetwo", "1 rows"}},
	} {
		var got []string
		shown := show(t, db, c.op, trace, func(step int, row []any) error {
			got = append(got, fmt.Sprintf("%d %s", step, row[0]))
			return nil
		})
		for _, position := range c.positions {
			rows, err := shown.Do(position)
			must(t, err)
			got = append(got, fmt.Sprint(rows, " rows"))
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%d steps, %d operations to a transaction: got %q, want %q", len(c.op.Steps), c.op.Transaction, got, c.want)
		}
	}
}

// show returns a client of an operation that shows its rows.
func show(t *testing.T, db *database, op wire.Operation, trace *column.File, visit func(int, []any) error) kit.Client {
	t.Helper()
	prepared, err := db.Prepare(op, trace)
	must(t, err)
	client, err := prepared.Client()
	must(t, err)
	shown, err := client.(kit.Shower).Show(visit)
	must(t, err)
	return shown
}

// twice runs each read transaction two times.
type twice struct{ *memory }

func (s twice) View(look func(Getter) error) error {
	if err := s.memory.View(look); err != nil {
		return err
	}
	return s.memory.View(look)
}

// A store that stays busy ends the loading.
func TestLoadOfBusyStore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		always := errors.New("busy")
		db := &database{driver: Driver{Busy: func(err error) bool { return errors.Is(err, always) }}, store: busyStore{err: always}}
		records := columntest.Open(t, []column.Type{column.Blob, column.Blob}, []any{[]byte("a"), []byte("1")})
		if err := db.Load(records); !errors.Is(err, always) {
			t.Errorf("got %v, want %v", err, always)
		}
	})
}

type busyStore struct {
	Store
	err error
}

func (s busyStore) Update(func(Writer) error) error {
	time.Sleep(time.Second)
	return s.err
}
