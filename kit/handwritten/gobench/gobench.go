// Package gobench is the benchmark of package testing that a developer would
// write for point reads through database/sql. It uses nothing of the kit.
package gobench

import (
	"bufio"
	"database/sql"
	"os"
	"strconv"
	"testing"
)

// The environment that PointRead takes its work from.
const (
	DSN  = "ASSAY_GOBENCH_DSN"  // of a database with the table monster
	Keys = "ASSAY_GOBENCH_KEYS" // file with the ids to read, one decimal number a line
)

// PointRead reads rows by primary key with a statement that is prepared once.
// It is skipped where DSN is not set.
func PointRead(b *testing.B, driver string) {
	if os.Getenv(DSN) == "" {
		b.Skip(DSN + " is not set")
	}
	keys := readKeys(b, os.Getenv(Keys))
	db, err := sql.Open(driver, os.Getenv(DSN))
	if err != nil {
		b.Fatal(err)
	}
	defer db.Close()
	db.SetMaxOpenConns(1)
	statement, err := db.Prepare("SELECT id, name, hp, attack FROM monster WHERE id = ?")
	if err != nil {
		b.Fatal(err)
	}
	defer statement.Close()
	var id, hp, attack int64
	var name string
	i := 0
	for b.Loop() {
		if err := statement.QueryRow(keys[i%len(keys)]).Scan(&id, &name, &hp, &attack); err != nil {
			b.Fatal(err)
		}
		i++
	}
}

func readKeys(b *testing.B, path string) []int64 {
	file, err := os.Open(path)
	if err != nil {
		b.Fatal(err)
	}
	defer file.Close()
	var keys []int64
	for lines := bufio.NewScanner(file); lines.Scan(); {
		key, err := strconv.ParseInt(lines.Text(), 10, 64)
		if err != nil {
			b.Fatal(err)
		}
		keys = append(keys, key)
	}
	if len(keys) == 0 {
		b.Fatalf("%s has no keys", path)
	}
	return keys
}
