// Package handwritten is the loop that a developer would write by hand to time
// point reads through database/sql. It uses nothing of the kit: it is what the
// kit's own measured loop is compared with.
package handwritten

import (
	"bufio"
	"database/sql"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"time"
)

// Main reads lines "DSN", then "NANOS FIRST" any number of times: each runs
// point reads of the table monster for that long, with the keys read from the
// file named by the second argument, one decimal number a line, from position
// FIRST on. It answers each with a line "OPERATIONS NANOS". It is started as
// PROGRAM KEYS and registers nothing: the program imports the driver.
func Main(driver string) {
	if err := serve(driver, os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func serve(driver string, in io.Reader, out io.Writer) error {
	keys, err := readKeys(os.Args[1])
	if err != nil {
		return err
	}
	lines := bufio.NewScanner(in)
	lines.Scan()
	db, err := sql.Open(driver, lines.Text())
	if err != nil {
		return err
	}
	defer db.Close()
	db.SetMaxOpenConns(1)
	statement, err := db.Prepare("SELECT id, name, hp, attack FROM monster WHERE id = ?")
	if err != nil {
		return err
	}
	defer statement.Close()
	for lines.Scan() {
		var nanos, first int
		if _, err := fmt.Sscan(lines.Text(), &nanos, &first); err != nil {
			return err
		}
		operations, took, err := loop(statement, keys, first, time.Duration(nanos))
		if err != nil {
			return err
		}
		fmt.Fprintln(out, operations, int64(took))
	}
	return lines.Err()
}

func loop(statement *sql.Stmt, keys []int64, first int, window time.Duration) (int, time.Duration, error) {
	var id, hp, attack int64
	var name string
	start := time.Now()
	for n := 0; ; n++ {
		took := time.Since(start)
		if took >= window {
			return n, took, nil
		}
		rows, err := statement.Query(keys[(first+n)%len(keys)])
		if err != nil {
			return 0, 0, err
		}
		found := 0
		for rows.Next() {
			if err := rows.Scan(&id, &name, &hp, &attack); err != nil {
				return 0, 0, err
			}
			found++
		}
		if err := rows.Close(); err != nil || found != 1 {
			return 0, 0, fmt.Errorf("%d rows: %w", found, err)
		}
	}
}

func readKeys(path string) ([]int64, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var keys []int64
	for field := range strings.FieldsSeq(string(text)) {
		key, err := strconv.ParseInt(field, 10, 64)
		if err != nil {
			return nil, err
		}
		keys = append(keys, key)
	}
	return keys, nil
}
