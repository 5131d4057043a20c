// Package handwritten is the loop that a developer would write by hand to time
// point reads, or gets and puts of a key-value store. It uses nothing of the kit:
// it is what the kit's own measured loop is compared with. Programs of it register
// nothing: they import the driver.
//
// A program reads lines: the DSN or path, then "NANOS FIRST" any number of times.
// Each runs the operation for that long, with the keys of the file that its first
// argument names, one a line, from position FIRST on, and is answered with a line
// "OPERATIONS NANOS".
package handwritten

import (
	"bufio"
	"bytes"
	"database/sql"
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"time"
)

// Query is the point read of the table monster.
const Query = "SELECT id, name, hp, attack FROM monster WHERE id = ?"

// Operation does what is timed, with a key.
type Operation[K any] func(key K) error

// Value is what puts put: 210 bytes that do not compress, as in a trace.
var Value = func() []byte {
	value := make([]byte, 210)
	random := rand.New(rand.NewPCG(1, 1))
	for i := range value {
		value[i] = byte(random.Uint32())
	}
	return value
}()

// SQL times point reads through database/sql with the driver of a name.
func SQL(driver string) {
	Direct(func(dsn string) (Operation[int64], error) {
		db, err := sql.Open(driver, dsn)
		if err != nil {
			return nil, err
		}
		db.SetMaxOpenConns(1)
		statement, err := db.Prepare(Query)
		return func(key int64) error { return read(statement, key) }, err
	})
}

// row is where columns are read into.
var row struct {
	id, hp, attack int64
	name           string
}

func read(statement *sql.Stmt, key int64) error {
	rows, err := statement.Query(key)
	if err != nil {
		return err
	}
	found := 0
	for rows.Next() {
		if err := rows.Scan(&row.id, &row.name, &row.hp, &row.attack); err != nil {
			return err
		}
		found++
	}
	err = rows.Err()
	if closed := rows.Close(); err == nil {
		err = closed
	}
	if err != nil || found != 1 {
		return fmt.Errorf("%d rows: %w", found, err)
	}
	return nil
}

// Direct times point reads of a driver with an API of its own: open opens a DSN.
func Direct(open func(dsn string) (Operation[int64], error)) {
	exit(serve(func(key []byte) (int64, error) { return strconv.ParseInt(string(key), 10, 64) }, open))
}

// Store times a key-value store: its program has a second argument, the operation,
// get or put.
func Store(open func(path string) (get, put Operation[[]byte], err error)) {
	exit(serve(func(key []byte) ([]byte, error) { return key, nil }, func(path string) (Operation[[]byte], error) {
		get, put, err := open(path)
		if os.Args[2] == "put" {
			return put, err
		}
		return get, err
	}))
}

func exit(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// serve opens what the first line names and answers each line after it by a
// window of the operation.
func serve[K any](parse func([]byte) (K, error), open func(string) (Operation[K], error)) error {
	text, err := os.ReadFile(os.Args[1])
	if err != nil {
		return err
	}
	var keys []K
	for _, field := range bytes.Fields(text) {
		key, err := parse(field)
		if err != nil {
			return err
		}
		keys = append(keys, key)
	}
	lines := bufio.NewScanner(os.Stdin)
	lines.Scan()
	operation, err := open(lines.Text())
	if err != nil {
		return err
	}
	for lines.Scan() {
		var nanos, first int
		if _, err := fmt.Sscan(lines.Text(), &nanos, &first); err != nil {
			return err
		}
		operations, took, err := loop(operation, keys, first, time.Duration(nanos))
		if err != nil {
			return err
		}
		fmt.Println(operations, int64(took))
	}
	return lines.Err()
}

// loop is what is timed.
func loop[K any](operation Operation[K], keys []K, first int, window time.Duration) (int, time.Duration, error) {
	start := time.Now()
	for n := 0; ; n++ {
		took := time.Since(start)
		if took >= window {
			return n, took, nil
		}
		if err := operation(keys[(first+n)%len(keys)]); err != nil {
			return 0, 0, err
		}
	}
}
