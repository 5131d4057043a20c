package sqlite

import (
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"
)

// InOrder returns the names of settings in the order in which they are set:
// the busy timeout, so that the others can wait for locks, those that must come
// before others, and the rest by name.
func InOrder(settings map[string]string) []string {
	first := []string{"busy_timeout", "locking_mode", "page_size", "auto_vacuum", "journal_mode"}
	place := func(name string) int {
		if i := slices.Index(first, name); i >= 0 {
			return i
		}
		return len(first)
	}
	names := slices.Sorted(maps.Keys(settings))
	slices.SortStableFunc(names, func(a, b string) int { return place(a) - place(b) })
	return names
}

// URIParameter returns the parameter of a file: URI for a setting, such as
// mode=ro; empty where SQLite has none.
func URIParameter(name, value string) string {
	switch name + "=" + value {
	case "read_only=0":
		return "mode=rwc"
	case "read_only=1":
		return "mode=ro"
	case "immutable=0", "immutable=1":
		return name + "=" + value
	case "shared_cache=0":
		return "cache=private"
	case "shared_cache=1":
		return "cache=shared"
	}
	return ""
}

// Spell writes a value as people do: where read-back gives a number that has a
// name, the name; words in capitals, in quotes where SQL needs them (UTF-8).
func Spell(name, value string) string {
	s, _ := Lookup(name)
	if n, err := strconv.Atoi(value); err == nil && n >= 0 && n < len(s.Words) {
		value = s.Words[n]
	} else if !slices.Contains(s.Words, value) {
		return value
	}
	word := strings.ToUpper(value)
	if strings.Contains(word, "-") {
		return "'" + word + "'"
	}
	return word
}

// IsWAL reports whether a database file is in WAL mode: bytes 18 and 19 of its
// header are 2 (https://www.sqlite.org/fileformat.html).
func IsWAL(path string) (bool, error) {
	file, err := os.Open(path)
	if err != nil {
		return false, err
	}
	defer file.Close()
	var version [2]byte
	_, err = file.ReadAt(version[:], 18)
	return version == [2]byte{2, 2}, err
}
