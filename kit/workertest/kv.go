//go:build unix

package workertest

import (
	"bytes"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"time"

	"assay/kit/wire"
)

// kvChecks are about key-value stores, which are held against a model in
// memory.
var kvChecks = []check{
	{"records are loaded, and are there when the store is opened again", wire.CapKV, recordsLoaded},
	{"keys and values of any bytes are kept and ordered", wire.CapKV, oddRecords},
	{"random operations leave what a model has, also when opened again", wire.CapKV, randomOperations},
	{"a key that is not there is a miss", wire.CapKV, missingKeys},
	{"deleting a key that is not there is no error", wire.CapKV, absentDeletes},
	{"an empty value is kept, or refused", wire.CapKV, emptyValues},
	{"several clients put at the same time", wire.CapKV, puttingClients},
	{"several steps in a transaction are one operation", wire.CapKV, readModifyWrite},
	{"gets of one read transaction see the store of one moment", wire.CapKV, consistentViews},
	{"a read transaction sees what was committed before it", wire.CapKV, freshViews},
	{"one field of a value is replaced, and read", wire.CapKV, fieldsReplaced},
	{"sync can be asked for, and not", wire.CapKV, syncSettings},
	{"each unit leaves a mark where that is asked for", wire.CapKV, marksLeft},
	{"the store's own check has a name and finds nothing in a sound store, or is unsupported", wire.CapKV, soundStore},
}

func recordsLoaded(b *bench) {
	s := newStore(b, nil)
	records := map[string]string{}
	var order []string
	for i := range 2500 {
		key := fmt.Sprintf("%04d", i*7919%2500)
		records[key] = fmt.Sprintf("value %d", i)
		order = append(order, key)
	}
	s.load(records, order)
	s.agrees("after loading")
	s.reopen()
	s.agrees("after opening again")
}

func oddRecords(b *bench) {
	s := newStore(b, nil)
	long := bytes.Repeat([]byte{0xff}, 250)
	var rows [][]any
	for i, key := range [][]byte{{0}, {0, 0}, {1}, {0x7f}, {0x80}, {0xff}, {0xff, 0}, long, []byte("ä"), []byte("a"), []byte("a\x00b")} {
		value := bytes.Repeat([]byte{byte(i), 0, 0xff}, 1+i*i*200)
		rows = append(rows, []any{key, value})
		s.model[string(key)] = string(value)
	}
	s.right(wire.Operation{Steps: []wire.Step{putStep()}, Changes: true}, 1, rows...)
	s.agrees("after putting")
	s.reopen()
	s.agrees("after opening again")
}

// randomOperations runs a random sequence of puts, deletes, gets and scans, in
// transactions of different sizes. The seed is in every message.
func randomOperations(b *bench) {
	seed := uint64(time.Now().UnixNano())
	random := rand.New(rand.NewPCG(seed, 0))
	s := newStore(b, map[string]string{"sync": "0"})
	s.putTwice()
	for round := range 40 {
		about(fmt.Sprintf("round %d of seed %d", round, seed), func() {
			s.randomRound(random)
			if round%20 == 19 {
				s.agrees("while open")
				s.reopen()
				s.agrees("after opening again")
			}
		})
	}
}

// putTwice puts a key twice in one transaction. Random operations do so in most
// rounds, but not with every seed.
func (s *store) putTwice() {
	key := []byte("twice")
	s.model[string(key)] = "second"
	put := wire.Operation{Steps: []wire.Step{putStep()}, Changes: true, Transaction: 2}
	s.right(put, 1, []any{key, []byte("first")}, []any{key, []byte("second")})
	s.agrees("after two puts of a key in one transaction")
}

func (s *store) randomRound(random *rand.Rand) {
	key := func() []byte { return fmt.Appendf(nil, "%03d", random.IntN(300)) }
	const size = 60
	transaction := []int{0, 1, 7, 60}[random.IntN(4)]
	var rows, want [][]any
	switch random.IntN(4) {
	case 0:
		for range size / max(1, transaction) * max(1, transaction) {
			k := key()
			if len(s.model) == 0 || s.model[string(k)] == "" {
				continue
			}
			rows = append(rows, []any{k})
		}
		rows = slices.CompactFunc(sortedRows(rows), func(a, b []any) bool { return bytes.Equal(a[0].([]byte), b[0].([]byte)) })
		rows = rows[:len(rows)/max(1, transaction)*max(1, transaction)]
		if len(rows) == 0 {
			return
		}
		for _, row := range rows {
			delete(s.model, string(row[0].([]byte)))
		}
		s.right(wire.Operation{Steps: []wire.Step{deleteStep()}, Changes: true, Transaction: transaction}, 1, rows...)
	case 1:
		for range size {
			k := key()
			if value, ok := s.model[string(k)]; ok {
				want = append(want, []any{[]byte(value)})
			}
			rows = append(rows, []any{k})
		}
		s.answered(getStep(-1), want, rows...)
	case 2:
		keys := slices.Sorted(maps.Keys(s.model))
		for range size {
			from, n := key(), random.IntN(20)
			rows = append(rows, []any{from, int64(n)})
			at, _ := slices.BinarySearch(keys, string(from))
			for _, k := range keys[at:min(at+n, len(keys))] {
				want = append(want, []any{[]byte(k), []byte(s.model[k])})
			}
		}
		if err := caught(func() { s.answered(scanStep(), want, rows...) }); refusal(err) == nil {
			must(err)
		}
	default:
		for range size / max(1, transaction) * max(1, transaction) {
			k, value := key(), fmt.Appendf(nil, "%x", random.Uint64())
			rows = append(rows, []any{k, value})
			s.model[string(k)] = string(value)
		}
		s.right(wire.Operation{Steps: []wire.Step{putStep()}, Changes: true, Transaction: transaction}, 1, rows...)
	}
}

func sortedRows(rows [][]any) [][]any {
	slices.SortFunc(rows, func(a, b []any) int { return bytes.Compare(a[0].([]byte), b[0].([]byte)) })
	return rows
}

func missingKeys(b *bench) {
	s := newStore(b, nil)
	s.load(map[string]string{"a": "1", "b": "2"}, []string{"a", "b"})
	m := s.run(wire.Operation{Steps: []wire.Step{getStep(1)}}, 1, []any{[]byte("a")}, []any{[]byte("aa")}, []any{[]byte("b")})
	expect("operations", m.Operations, int64(2))
	expect("misses", m.Misses, int64(1))
	expect("errors", m.Errors, int64(0))
}

func absentDeletes(b *bench) {
	s := newStore(b, nil)
	s.load(map[string]string{"a": "1"}, []string{"a"})
	s.right(wire.Operation{Steps: []wire.Step{deleteStep()}, Changes: true}, 1, []any{[]byte("b")})
	s.agrees("after deleting nothing")
}

// emptyValues lets a store refuse a value without bytes, but not lose it.
func emptyValues(b *bench) {
	s := newStore(b, nil)
	m := s.run(wire.Operation{Steps: []wire.Step{putStep()}, Changes: true}, 1, []any{[]byte("a"), []byte{}})
	want := [][]any{}
	if m.Errors == 0 {
		s.model["a"], want = "", append(want, []any{[]byte{}})
	}
	s.answered(getStep(-1), want, []any{[]byte("a")})
	s.agrees("after putting")
	s.reopen()
	s.agrees("after opening again")
}

func puttingClients(b *bench) {
	s := newStore(b, map[string]string{"sync": "0"})
	var rows [][]any
	for i := range 2000 {
		key, value := fmt.Sprintf("key %d", i), fmt.Sprint(i)
		rows = append(rows, []any{[]byte(key), []byte(value)})
		s.model[key] = value
	}
	s.right(wire.Operation{Steps: []wire.Step{putStep()}, Changes: true, RetryBusy: true}, 4, rows...)
	s.agrees("after putting")
}

func readModifyWrite(b *bench) {
	s := newStore(b, nil)
	s.load(map[string]string{"a": "1", "b": "2"}, []string{"a", "b"})
	op := wire.Operation{Steps: []wire.Step{getStep(1), putStep()}, Changes: true, Transaction: 1}
	s.model = map[string]string{"a": "3", "b": "4"}
	s.right(op, 1, []any{[]byte("a"), []byte("a"), []byte("3")}, []any{[]byte("b"), []byte("b"), []byte("4")})
	s.agrees("after reading and writing")
}

// fieldsReplaced updates single fields and writes values of several, with and
// without a transaction.
func fieldsReplaced(b *bench) {
	s := newStore(b, nil)
	s.load(map[string]string{"a": "112233", "b": "445566", "c": "778899"}, []string{"a", "b", "c"})
	get, put := getStep(1), putStep()
	get.Fields, get.Returns = 3, []string{"blob", "blob", "blob"}
	put.Fields, put.Args = 3, 4
	update := wire.Step{KV: wire.Update, Args: 2, Rows: 1, Fields: 3, Field: 1}
	field := wire.Step{KV: wire.GetField, Query: true, Args: 1, Rows: 1, Returns: []string{"blob"}, Fields: 3, Field: 2}
	s.model = map[string]string{"a": "11xx33", "b": "44yy66", "c": "uuvvww"}
	s.right(wire.Operation{Steps: []wire.Step{update}, Changes: true}, 1, []any{[]byte("a"), []byte("xx")})
	s.right(wire.Operation{Steps: []wire.Step{get, update}, Changes: true, Transaction: 1}, 1, []any{[]byte("b"), []byte("b"), []byte("yy")})
	s.right(wire.Operation{Steps: []wire.Step{put}, Changes: true}, 1, []any{[]byte("c"), []byte("uu"), []byte("vv"), []byte("ww")})
	s.agrees("after updating fields")
	s.answered(get, [][]any{{[]byte("11"), []byte("xx"), []byte("33")}}, []any{[]byte("a")})
	s.answered(field, [][]any{{[]byte("66")}, {[]byte("ww")}}, []any{[]byte("b")}, []any{[]byte("c")})
}

func syncSettings(b *bench) {
	for _, value := range []string{"1", "0"} {
		var s *store
		about("sync="+value, func() { s = newStore(b, map[string]string{"sync": value}) })
		for _, c := range b.settings("sync") {
			if got, shown := c.Settings["sync"]; shown && got != value {
				fail("%s reads sync=%s, want %s", c.Name, got, value)
			}
		}
		s.restart()
	}
}

// restart ends the worker and starts a new one, without opening anything.
func (s *store) restart() {
	about("close", s.stop)
	s.worker = s.another().worker
}

func marksLeft(b *bench) {
	s := newStore(b, nil)
	var rows [][]any
	for i := range 20 {
		rows = append(rows, []any{fmt.Appendf(nil, "%d", i), []byte("value")})
	}
	name, err := s.tryPrepare(wire.Operation{Steps: []wire.Step{putStep()}, Changes: true, Transaction: 5}, 1, rows...)
	must(err)
	marks := b.path() + ".marks"
	b.measure(wire.Measure{Operation: name, Operations: 20, Marks: marks})
	expectSize(marks, 4)
}

// expectSize checks a file's size in bytes.
func expectSize(path string, want int64) {
	info, err := os.Stat(path)
	must(err)
	expect("bytes of "+filepath.Base(path), info.Size(), want)
}

// soundStore passes what nothing is wrong with: a check that failed there would turn every crash
// into a corruption.
func soundStore(b *bench) {
	s := newStore(b, nil)
	s.load(map[string]string{"a": "1", "b": "22", "c": "333"}, []string{"a", "b", "c"})
	s.sound()
	s.reopen()
	s.sound()
}

func (s *store) sound() {
	var checked wire.Checked
	err := s.ask(wire.TypeCheck, nil, &checked)
	if refusal(err) != nil {
		return
	}
	must(err)
	if checked.Name == "" {
		fail("the reply to check says no name")
	}
}
