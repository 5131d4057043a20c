//go:build unix

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
	"syscall"
	"time"
	"unsafe"
)

// Query is the point read of the table monster.
const Query = "SELECT id, name, hp, attack FROM monster WHERE id = ?"

// Operation does what is timed, with a key.
type Operation[K any] func(key K) error

// Value returns what is put next: 210 bytes that do not compress. Like those of a trace,
// they are many, and do not stay in the processor's caches.
func Value() []byte {
	last = (last + valueSize) % len(values)
	return values[last : last+valueSize : last+valueSize]
}

const valueSize = 210

var (
	values []byte
	last   int
)

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
	exit(serve(numbers, open))
}

// Store times a key-value store: its program has a second argument, the operation,
// get or put.
func Store(open func(path string) (get, put Operation[[]byte], err error)) {
	values = outside[byte](valueSize << 16)
	_, _ = rand.NewChaCha8([32]byte{}).Read(values) // it has no error
	exit(serve(lines, func(path string) (Operation[[]byte], error) {
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

// keys are what operations take their keys from: so many, each by its number.
type keys[K any] struct {
	count int
	key   func(int) K
}

// outside makes room outside of the heap. How often Go collects, and what it looks through
// then, depends on the heap: with its keys and values there, a loop would pay for the
// collector what a worker, which maps its trace, does not.
func outside[T any](n int) []T {
	data, err := syscall.Mmap(-1, 0, n*int(unsafe.Sizeof(*new(T))), syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE)
	exit(err)
	return unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(data))), n)
}

func numbers(text []byte) (keys[int64], error) {
	all := outside[int64](bytes.Count(text, []byte("\n")))
	i := 0
	for line := range bytes.Lines(text) {
		n, err := strconv.ParseInt(string(bytes.TrimSpace(line)), 10, 64)
		if err != nil {
			return keys[int64]{}, err
		}
		all[i] = n
		i++
	}
	return keys[int64]{len(all), func(i int) int64 { return all[i] }}, nil
}

func lines(text []byte) (keys[[]byte], error) {
	all := outside[byte](len(text))
	copy(all, text)
	ends := outside[int](bytes.Count(text, []byte("\n")) + 1) // each behind its line, and before the first
	i := 1
	for line := range bytes.Lines(text) {
		ends[i] = ends[i-1] + len(line)
		i++
	}
	return keys[[]byte]{len(ends) - 1, func(i int) []byte { return all[ends[i] : ends[i+1]-1 : ends[i+1]-1] }}, nil
}

// serve opens what the first line names and answers each line after it by a
// window of the operation.
func serve[K any](parse func([]byte) (keys[K], error), open func(string) (Operation[K], error)) error {
	text, err := os.ReadFile(os.Args[1])
	if err != nil {
		return err
	}
	all, err := parse(text)
	if err != nil {
		return err
	}
	requests := bufio.NewScanner(os.Stdin)
	requests.Scan()
	operation, err := open(requests.Text())
	if err != nil {
		return err
	}
	for requests.Scan() {
		var nanos, first int
		if _, err := fmt.Sscan(requests.Text(), &nanos, &first); err != nil {
			return err
		}
		operations, took, err := loop(operation, all, first, time.Duration(nanos))
		if err != nil {
			return err
		}
		fmt.Println(operations, int64(took))
	}
	return requests.Err()
}

// loop is what is timed.
func loop[K any](operation Operation[K], all keys[K], first int, window time.Duration) (int, time.Duration, error) {
	start := time.Now()
	for n := 0; ; n++ {
		took := time.Since(start)
		if took >= window {
			return n, took, nil
		}
		if err := operation(all.key((first + n) % all.count)); err != nil {
			return 0, 0, err
		}
	}
}
