package plan

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"assay/internal/sys/near"
)

// Error is one mistake in a plan.
type Error struct {
	File         string
	Line, Column int // both count from 1
	Message      string
	Suggestion   string // what was probably meant; empty where nothing is close
}

// Error returns the mistake as file:line:column: message (did you mean "..."?).
func (e *Error) Error() string {
	text := fmt.Sprintf("%s:%d:%d: %s", e.File, e.Line, e.Column, e.Message)
	if e.Suggestion != "" {
		text += fmt.Sprintf(" (did you mean %q?)", e.Suggestion)
	}
	return text
}

// Errors are all mistakes of a plan, in the order of the file.
type Errors []*Error

// Error returns the mistakes, one a line.
func (e Errors) Error() string {
	lines := make([]string, len(e))
	for i, mistake := range e {
		lines[i] = mistake.Error()
	}
	return strings.Join(lines, "\n")
}

// Unwrap returns the mistakes one by one, for errors.As.
func (e Errors) Unwrap() []error {
	list := make([]error, len(e))
	for i, mistake := range e {
		list[i] = mistake
	}
	return list
}

// place says where something stands in the plan. The zero place is that of a
// key which the plan does not have.
type place struct{ line, column int }

func (p place) set() bool { return p.line > 0 }

// mistakes collects what is wrong with a plan while it is read.
type mistakes struct {
	file string
	list Errors
	seen map[Error]bool
	// misspelt are the maps with a key that is unknown, perhaps one that is missed.
	misspelt map[place]bool
	replay   bool // arguments that are to be written are none
}

// mistakes finds those of a plan.
func (p *Plan) mistakes() *mistakes {
	m := newMistakes(p.file)
	m.replay = p.replay
	return m
}

func newMistakes(file string) *mistakes {
	return &mistakes{file: file, seen: map[Error]bool{}, misspelt: map[place]bool{}}
}

// at reports a mistake once, however often the same text is resolved.
func (m *mistakes) at(p place, format string, args ...any) {
	m.add(Error{m.file, max(p.line, 1), max(p.column, 1), fmt.Sprintf(format, args...), ""})
}

// unknown reports a word that is none of the known ones.
func (m *mistakes) unknown(p place, what, word string, known []string) {
	message, suggestion := mismatch(what, word, known)
	m.add(Error{m.file, max(p.line, 1), max(p.column, 1), message, suggestion})
}

func (m *mistakes) add(e Error) {
	if !m.seen[e] {
		m.seen[e] = true
		m.list = append(m.list, &e)
	}
}

// err returns the mistakes in the order of the file, or nil.
func (m *mistakes) err() error {
	if len(m.list) == 0 {
		return nil
	}
	slices.SortStableFunc(m.list, func(a, b *Error) int {
		return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
	})
	return m.list
}

// mismatch words a message about something unknown, and finds what was
// probably meant. Without a close word, the message lists what there is.
func mismatch(what, word string, known []string) (message, suggestion string) {
	const longest = 60
	if letters := []rune(word); len(letters) > longest {
		word = string(letters[:longest]) + "..."
	}
	message = fmt.Sprintf("unknown %s %q", what, word)
	if suggestion = near.Word(word, known); suggestion != "" {
		return message, suggestion
	}
	if len(known) == 0 {
		return message + ": there is none", ""
	}
	const limit = 12
	list := strings.Join(known[:min(len(known), limit)], ", ")
	if len(known) > limit {
		list += ", ..."
	}
	return message + ": there is " + list, ""
}

var amountPattern = regexp.MustCompile(`(?i)^([0-9]{1,9}) *([kmg])i?b?$`)

// amountHint says how an amount of memory is written for a setting of SQLite, which
// wants whole numbers; empty where the value is none.
func amountHint(name, value string) string {
	parts := amountPattern.FindStringSubmatch(strings.TrimSpace(value))
	if parts == nil {
		return ""
	}
	n, _ := strconv.ParseInt(parts[1], 10, 64)
	kib := n << map[string]int{"k": 0, "m": 10, "g": 20}[strings.ToLower(parts[2])]
	switch name {
	case "cache_size":
		return fmt.Sprintf("; %s is -%d, which is KiB below zero", value, kib)
	case "mmap_size", "journal_size_limit":
		return fmt.Sprintf("; %s is %d bytes", value, kib<<10)
	}
	return ""
}
