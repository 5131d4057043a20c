package sqltext

import (
	"slices"
	"strings"
)

var (
	clockWords = []string{"CURRENT_TIMESTAMP", "CURRENT_TIME", "CURRENT_DATE"}
	dateCalls  = []string{"date", "time", "datetime", "julianday", "unixepoch", "strftime", "timediff"}
	otherCalls = []string{"randomblob", "last_insert_rowid", "changes", "total_changes", "sqlite_version", "sqlite_source_id"}
)

// Varying finds what may rightly answer otherwise each time, or with another driver: the
// clock, chance, what the connection did before, the version of SQLite. It is empty where
// there is nothing.
func Varying(tokens []Token) (found string, at Token) {
	for i, t := range tokens {
		switch word := strings.ToLower(t.Text); {
		case t.Kind != Word:
		case slices.Contains(clockWords, strings.ToUpper(word)):
			return t.Text, t
		case i+1 >= len(tokens) || tokens[i+1].Kind != '(':
		case slices.Contains(otherCalls, word):
			return word + "()", t
		case word == "random" && len(Call(tokens[i+1:])) == 0:
			return "random()", t
		case slices.Contains(dateCalls, word) && ofNow(word, Call(tokens[i+1:])):
			return word + " of now", t
		}
	}
	return "", Token{}
}

// Zoned finds a date that depends on the machine's time zone.
func Zoned(tokens []Token) (at Token, found bool) {
	for i, t := range tokens {
		if t.Kind == Word && i+1 < len(tokens) && slices.Contains(dateCalls, strings.ToLower(t.Text)) && has(Call(tokens[i+1:]), "'localtime'", "'utc'") {
			return t, true
		}
	}
	return Token{}, false
}

// Call returns what stands between the parentheses that the tokens begin with.
func Call(tokens []Token) []Token {
	if len(tokens) == 0 || tokens[0].Kind != '(' {
		return nil
	}
	for i, t := range tokens[1:] {
		if t.Kind == ')' && t.Depth == tokens[0].Depth {
			return tokens[1 : i+1]
		}
	}
	return tokens[1:]
}

// Split returns what stands between the commas outside of the parentheses in the tokens: at
// least one part, which may be empty.
func Split(tokens []Token) [][]Token {
	all := [][]Token{nil}
	for _, t := range tokens {
		if t.Kind == ',' && t.Depth == tokens[0].Depth {
			all = append(all, nil)
		} else {
			all[len(all)-1] = append(all[len(all)-1], t)
		}
	}
	return all
}

// ofNow reports whether a date function takes the clock: by name, or because no time is
// given.
func ofNow(function string, arguments []Token) bool {
	return len(arguments) == 0 || function == "strftime" && len(Split(arguments)) == 1 || has(arguments, "'now'", "'subsec'", "'subsecond'")
}

func has(tokens []Token, texts ...string) bool {
	return slices.ContainsFunc(tokens, func(t Token) bool { return t.Kind == String && slices.Contains(texts, strings.ToLower(t.Text)) })
}
