package handwritten

import (
	"bufio"
	"fmt"
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
