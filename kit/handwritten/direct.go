package handwritten

import (
	"bufio"
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"time"
)

// Loop runs point reads for a window of time, with the keys from position first
// on, and returns how many there were and what they took.
type Loop func(keys []int64, first int, window time.Duration) (int, time.Duration, error)

// Direct is Main for a driver with an API of its own: open opens a DSN and
// returns the loop.
func Direct(open func(dsn string) (Loop, error)) {
	if err := direct(open); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func direct(open func(string) (Loop, error)) error {
	keys, err := readKeys(os.Args[1])
	if err != nil {
		return err
	}
	return windows(keys, open)
}

// StoreLoop runs gets or puts for a window of time, with the keys from position
// first on, and returns how many there were and what they took.
type StoreLoop func(keys [][]byte, first int, window time.Duration) (int, time.Duration, error)

// Value is what puts put: 210 bytes that do not compress, as in a trace.
var Value = func() []byte {
	value := make([]byte, 210)
	random := rand.New(rand.NewPCG(1, 1))
	for i := range value {
		value[i] = byte(random.Uint32())
	}
	return value
}()

// Store is Direct for a key-value store. The program is started as PROGRAM KEYS
// OPERATION, which is get or put, and keys are texts, one a line.
func Store(open func(path, operation string) (StoreLoop, error)) {
	if err := store(open); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func store(open func(path, operation string) (StoreLoop, error)) error {
	text, err := os.ReadFile(os.Args[1])
	if err != nil {
		return err
	}
	return windows(bytes.Fields(text), func(path string) (StoreLoop, error) { return open(path, os.Args[2]) })
}

// windows opens what the first line names and answers each line after it by a
// window of the loop.
func windows[K any, L ~func([]K, int, time.Duration) (int, time.Duration, error)](keys []K, open func(string) (L, error)) error {
	lines := bufio.NewScanner(os.Stdin)
	lines.Scan()
	loop, err := open(lines.Text())
	if err != nil {
		return err
	}
	for lines.Scan() {
		var nanos, first int
		if _, err := fmt.Sscan(lines.Text(), &nanos, &first); err != nil {
			return err
		}
		operations, took, err := loop(keys, first, time.Duration(nanos))
		if err != nil {
			return err
		}
		fmt.Println(operations, int64(took))
	}
	return lines.Err()
}
