// Package setting is what the settings of all engines have in common: a name, the
// values that it takes, and how an engine reads them back. Which settings an engine
// has is in the packages sqlite, postgres and kv.
package setting

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Table lists the settings of an engine, by name.
type Table []Setting

// Lookup returns the setting of that name; the second result is false where
// there is none.
func (t Table) Lookup(name string) (Setting, bool) {
	for _, s := range t {
		if s.Name == name {
			return s, true
		}
	}
	return Setting{}, false
}

// Own returns those of some settings that are in the table, and whether there are others.
func (t Table) Own(settings map[string]string) (own map[string]string, others bool) {
	own = map[string]string{}
	for name, value := range settings {
		if _, ok := t.Lookup(name); ok {
			own[name] = value
		} else {
			others = true
		}
	}
	return own, others
}

// Names returns the names of all settings, sorted.
func (t Table) Names() []string {
	names := make([]string, len(t))
	for i, s := range t {
		names[i] = s.Name
	}
	slices.Sort(names)
	return names
}

// Setting is one setting of an engine.
type Setting struct {
	Name string
	// OfFile is true where the setting is fixed while the file is prepared, before it
	// has tables. The others are set, and read back, on every connection.
	OfFile bool
	// Pragma is true where SQLite's PRAGMA Name reads the setting back. SQLite's
	// others are given at opening and can only be proved by behaviour.
	Pragma bool
	// Words are the values that have a name; empty for numbers and switches.
	Words []string
	// Want says which values there are, for messages.
	Want string

	normal func(value string) (string, bool)
	// numbered are the words of the numbers that it reads back as, from 0 on.
	numbered []string
}

// Word is a value that was read back, as people write it: synchronous 1 is NORMAL,
// foreign_keys 1 is ON. Values without a word are themselves.
func (s Setting) Word(value string) string {
	i, err := strconv.Atoi(value)
	if err != nil || i < 0 || i >= len(s.numbered) {
		return value
	}
	return strings.ToUpper(s.numbered[i])
}

// Normal returns the setting's value as it is read back: journal_mode WAL is wal,
// synchronous normal is 1, foreign_keys on is 1, busy_timeout 5s is 5000. It fails
// for a value that the engine would ignore or misread.
func (s Setting) Normal(value string) (string, error) {
	normal, ok := s.normal(strings.TrimSpace(value))
	if !ok {
		return "", fmt.Errorf("%s cannot be %q: want %s", s.Name, value, s.Want)
	}
	return normal, nil
}

// InFile makes the setting one of the file.
func (s Setting) InFile() Setting {
	s.OfFile = true
	return s
}

// AtOpen makes the setting one that is given at opening, and has no PRAGMA.
func (s Setting) AtOpen() Setting {
	s.Pragma = false
	return s
}

func pragma(name, want string, normal func(string) (string, bool)) Setting {
	return Setting{Name: name, Pragma: true, Want: want, normal: normal}
}

// Words is a setting that reads back as one of some words.
func Words(name string, all ...string) Setting {
	s := pragma(name, either(all), func(value string) (string, bool) {
		i := position(all, value)
		if i < 0 {
			return "", false
		}
		return all[i], true
	})
	s.Words = all
	return s
}

// Numbered is a setting whose words read back as their position.
func Numbered(name string, all ...string) Setting {
	want := fmt.Sprintf("%s, or 0 to %d", strings.Join(all, ", "), len(all)-1)
	s := pragma(name, want, func(value string) (string, bool) {
		if i := position(all, value); i >= 0 {
			return strconv.Itoa(i), true
		}
		return whole(value, 0, int64(len(all)-1))
	})
	s.Words, s.numbered = all, all
	return s
}

// Boolean is a switch that reads back as 0 or 1.
func Boolean(name string) Setting {
	s := pragma(name, "on or off", func(value string) (string, bool) {
		switch strings.ToLower(value) {
		case "on", "true", "yes", "1":
			return "1", true
		case "off", "false", "no", "0":
			return "0", true
		}
		return "", false
	})
	s.numbered = []string{"off", "on"}
	return s
}

// Switch is a switch of another engine, that reads back as one of two words.
func Switch(name, off, on string) Setting {
	s := Boolean(name)
	return Custom(name, s.Want, func(value string) (string, bool) {
		number, ok := s.normal(value)
		return map[string]string{"0": off, "1": on}[number], ok
	})
}

// Integer is a setting that reads back as a whole number of a range.
func Integer(name string, low, high int64) Setting {
	want := fmt.Sprintf("a whole number from %d to %d", low, high)
	if high == math.MaxInt64 {
		want = fmt.Sprintf("a whole number of %d or more", low)
	}
	return pragma(name, want, func(value string) (string, bool) { return whole(value, low, high) })
}

// Custom is a connection's setting of another engine. normal returns a value as
// it is read back, and false for what is none; want says which there are.
func Custom(name, want string, normal func(value string) (string, bool)) Setting {
	return Setting{Name: name, Want: want, normal: normal}
}

// Milliseconds is a time that reads back in milliseconds.
func Milliseconds(name string) Setting {
	return pragma(name, "milliseconds or a duration such as 5s", func(value string) (string, bool) {
		if d, err := time.ParseDuration(value); err == nil && d%time.Millisecond == 0 {
			value = strconv.FormatInt(d.Milliseconds(), 10)
		}
		return whole(value, 0, math.MaxInt32)
	})
}

// PowerOfTwo is a setting that reads back as a power of two of a range.
func PowerOfTwo(name string, low, high int) Setting {
	return pragma(name, fmt.Sprintf("a power of two from %d to %d", low, high), func(value string) (string, bool) {
		n, err := strconv.Atoi(value)
		if err != nil || n < low || n > high || n&(n-1) != 0 {
			return "", false
		}
		return strconv.Itoa(n), true
	})
}

func whole(value string, low, high int64) (string, bool) {
	n, err := strconv.ParseInt(value, 10, 64)
	if err != nil || n < low || n > high {
		return "", false
	}
	return strconv.FormatInt(n, 10), true
}

func position(all []string, word string) int {
	for i, w := range all {
		if strings.EqualFold(w, word) {
			return i
		}
	}
	return -1
}

func either(all []string) string {
	last := len(all) - 1
	return strings.Join(all[:last], ", ") + " or " + all[last]
}
