package sqldb

import (
	"database/sql"
	"database/sql/driver"
	"errors"
	"reflect"
	"slices"
	"testing"
	"time"

	"assay/kit/wire"
)

// scanOne scans one value of a driver as a declared type, as while measuring.
func scanOne(t *testing.T, declared string, value driver.Value) (got any, err error) {
	t.Helper()
	f := &fake{respond: func(int, string, []driver.Value) answer { return answer{rows: [][]driver.Value{{value}}} }}
	db, err := sql.Open(f.register().SQLName, "")
	must(t, err)
	defer db.Close()
	dest := newDestinations([]string{declared})
	rows, err := db.Query("SELECT")
	must(t, err)
	_, err = dest.scan(rows, func(row []any) error { got = row[0]; return nil }, nil)
	return got, err
}

// TestVerifiedAsStored: what is verified is scanned as the driver returns it, and
// never as database/sql converts it.
func TestVerifiedAsStored(t *testing.T) {
	stored := []driver.Value{5.5, "5", nil, int64(7), []byte("x")}
	f := &fake{respond: func(int, string, []driver.Value) answer {
		return answer{rows: [][]driver.Value{stored}}
	}}
	db := openFake(t, f, wire.Open{Readers: 1, Idle: 1})
	var got []any
	err := db.Query("SELECT", []string{"int", "int", "int", "bool", "text"}, func(row []any) error { got = slices.Clone(row); return nil })
	want := []any{5.5, "5", nil, int64(7), []byte("x")}
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("got %v, %v; want %v", got, err, want)
	}
}

// TestDestinations: what a driver returns becomes a value of the declared
// type. Drivers differ in what they return for one and the same.
func TestDestinations(t *testing.T) {
	day := time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC) // of a number in a column declared TIMESTAMP
	for declared, cases := range map[string][]struct {
		returned driver.Value
		want     any
	}{
		"int":  {{int64(-7), int64(-7)}, {"8", int64(8)}, {[]byte("9"), int64(9)}, {day, day}},
		"real": {{1.5, 1.5}, {int64(2), 2.0}, {"2.5", 2.5}, {day, day}},
		"text": {{"grün", "grün"}, {[]byte("a"), "a"}, {"", ""}},
		"blob": {{[]byte{0, 255}, []byte{0, 255}}, {"a", []byte("a")}, {[]byte{}, []byte{}}},
		"bool": {{true, true}, {int64(0), false}, {int64(1), true}, {int64(7), true}, {int64(-1), true}, {"1", true}},
	} {
		for _, c := range cases {
			for _, suffix := range []string{"", "?"} {
				if got, err := scanOne(t, declared+suffix, c.returned); err != nil || !reflect.DeepEqual(got, c.want) {
					t.Errorf("%T as %s%s: got %#v, %v; want %#v", c.returned, declared, suffix, got, err, c.want)
				}
			}
		}
		if got, err := scanOne(t, declared+"?", nil); err != nil || got != nil {
			t.Errorf("NULL as %s?: %#v, %v", declared, got, err)
		}
		// database/sql scans NULL as an empty blob; of the others it is refused.
		if got, err := scanOne(t, declared, nil); (err == nil) != (declared == "blob") {
			t.Errorf("NULL as %s: %#v, %v", declared, got, err)
		}
	}
	if _, err := scanOne(t, "int", "many"); err == nil {
		t.Error("a word was scanned as int")
	}
}

// TestBrokenRows: an error in the midst of the rows is told.
func TestBrokenRows(t *testing.T) {
	broken := errors.New("disk I/O error")
	f := &fake{respond: func(int, string, []driver.Value) answer {
		return answer{rows: [][]driver.Value{{int64(1)}, {int64(2)}, {broken}}}
	}}
	db := openFake(t, f, wire.Open{Readers: 1, Idle: 1})
	rows := 0
	if err := db.Query("SELECT", []string{"int"}, func([]any) error { rows++; return nil }); !errors.Is(err, broken) || rows != 2 {
		t.Errorf("%d rows, %v", rows, err)
	}
}
