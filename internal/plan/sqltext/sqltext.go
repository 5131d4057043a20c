// Package sqltext splits SQL, as SQLite reads it, into tokens. It knows
// quotes, comments and parameters, and no grammar.
package sqltext

import (
	"slices"
	"strings"
)

// Kinds of tokens. A token of any other kind is the character itself.
const (
	Word      byte = 'w'
	Number    byte = 'n'
	String    byte = 's' // with its quotes
	Quoted    byte = 'i' // identifier in quotes, without them
	Numbered  byte = '?' // parameter ? or ?N
	Named     byte = ':' // parameter :name, @name or $name
	separator byte = ' ' // a space or a comment, which is no token
)

// Token is a token of SQL.
type Token struct {
	Kind     byte
	Text     string
	Depth    int // of parentheses around it
	From, To int // where it stands in the SQL, in bytes
}

// Is reports whether the token is this word, in any case.
func (t Token) Is(word string) bool { return t.Kind == Word && strings.EqualFold(t.Text, word) }

// Name returns the token as an identifier; false where it is none. Keywords
// are not told apart.
func (t Token) Name() (string, bool) { return t.Text, t.Kind == Word || t.Kind == Quoted }

// Parameter reports whether an argument takes the token's place.
func (t Token) Parameter() bool { return t.Kind == Numbered || t.Kind == Named }

// Scan splits SQL into tokens without spaces and comments. It is false where
// a quote or a comment has no end; the tokens are those before it.
func Scan(sql string) (tokens []Token, whole bool) {
	depth := 0
	for i := 0; i < len(sql); {
		size, kind, ended := next(sql[i:])
		if !ended {
			return tokens, false
		}
		t := Token{Kind: kind, Text: sql[i : i+size], From: i, To: i + size}
		i += size
		switch kind {
		case separator:
			continue
		case ')':
			depth--
		case Quoted:
			t.Text = unquote(t.Text)
		}
		t.Depth = depth
		tokens = append(tokens, t)
		if kind == '(' {
			depth++
		}
	}
	return tokens, true
}

// Replace is SQL with other text in the places of those tokens for which by reports true.
func Replace(sql string, by func(Token) (text string, replace bool)) string {
	tokens, _ := Scan(sql)
	var b strings.Builder
	end := 0
	for _, t := range tokens {
		if text, replace := by(t); replace {
			b.WriteString(sql[end:t.From] + text)
			end = t.To
		}
	}
	return b.String() + sql[end:]
}

// unquote takes the quotes off; within them a doubled one is a quote.
func unquote(text string) string {
	quote, inner := text[:1], text[1:len(text)-1]
	if quote == "[" {
		return inner
	}
	return strings.ReplaceAll(inner, quote+quote, quote)
}

// next measures the first token.
func next(sql string) (size int, kind byte, ended bool) {
	c := sql[0]
	switch {
	case strings.IndexByte(" \t\r\n\f", c) >= 0:
		return 1, separator, true
	case strings.HasPrefix(sql, "--"):
		if end := strings.IndexByte(sql, '\n'); end >= 0 {
			return end + 1, separator, true
		}
		return len(sql), separator, true
	case strings.HasPrefix(sql, "/*"):
		end := strings.Index(sql[2:], "*/")
		return end + 4, separator, end >= 0
	case c == '\'':
		size, ended = quotedLength(sql, c)
		return size, String, ended
	case c == '"' || c == '`':
		size, ended = quotedLength(sql, c)
		return size, Quoted, ended
	case c == '[':
		end := strings.IndexByte(sql, ']')
		return end + 1, Quoted, end >= 0
	case c == '?':
		return 1 + wordLength(sql[1:]), Numbered, true
	case c == ':' || c == '@' || c == '$':
		if n := wordLength(sql[1:]); n > 0 {
			return 1 + n, Named, true
		}
		return 1, c, true
	}
	if n := numberLength(sql); n > 0 {
		return n, Number, true
	}
	if n := wordLength(sql); n > 0 {
		return n, Word, true
	}
	return 1, c, true
}

// quotedLength measures a quoted text, in which a doubled quote is a quote.
func quotedLength(sql string, quote byte) (int, bool) {
	for i := 1; i < len(sql); i++ {
		if sql[i] != quote {
			continue
		}
		if i+1 == len(sql) || sql[i+1] != quote {
			return i + 1, true
		}
		i++
	}
	return 0, false
}

// numberLength measures a number, with its exponent.
func numberLength(sql string) int {
	digit := func(i int) bool { return i < len(sql) && sql[i] >= '0' && sql[i] <= '9' }
	if !digit(0) && !(sql[0] == '.' && digit(1)) {
		return 0
	}
	for i := 1; i < len(sql); i++ {
		sign := (sql[i] == '+' || sql[i] == '-') && (sql[i-1] == 'e' || sql[i-1] == 'E') && digit(i+1) && !strings.HasPrefix(sql, "0x")
		if !sign && sql[i] != '.' && wordLength(sql[i:i+1]) == 0 {
			return i
		}
	}
	return len(sql)
}

// wordLength measures a word; like SQLite, a $ behind its first letter is part
// of it.
func wordLength(sql string) int {
	for i := range len(sql) {
		c := sql[i]
		letter := c == '_' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c >= 0x80 || c == '$' && i > 0
		if !letter {
			return i
		}
	}
	return len(sql)
}

// verbs are the words that say what a statement does to data.
var verbs = []string{"SELECT", "VALUES", "INSERT", "UPDATE", "DELETE", "REPLACE"}

// Verb returns the word that says what a statement does, in upper case: the
// first one, or the one behind the tables that WITH defines.
func Verb(tokens []Token) string {
	if len(tokens) == 0 {
		return ""
	}
	if !tokens[0].Is("WITH") {
		return strings.ToUpper(tokens[0].Text)
	}
	for _, t := range tokens[1:] {
		if word := strings.ToUpper(t.Text); t.Kind == Word && t.Depth == 0 && slices.Contains(verbs, word) {
			return word
		}
	}
	return "WITH"
}

// Statements splits tokens at the semicolons between statements. Those within
// a trigger are part of it. No statement is empty, and none has a semicolon at
// its end.
func Statements(tokens []Token) [][]Token {
	var all [][]Token
	start := 0
	for i := range len(tokens) + 1 {
		if i < len(tokens) && (tokens[i].Kind != ';' || inTrigger(tokens[start:i])) {
			continue
		}
		if start < i {
			all = append(all, tokens[start:i])
		}
		start = i + 1
	}
	return all
}

// inTrigger reports whether a semicolon behind the tokens belongs to a trigger,
// whose end is the word END behind another semicolon.
func inTrigger(tokens []Token) bool {
	words := tokens
	for _, optional := range []string{"EXPLAIN", "QUERY", "PLAN"} {
		words = skip(words, optional)
	}
	if len(words) == 0 || !words[0].Is("CREATE") {
		return false
	}
	words = skip(skip(words[1:], "TEMP"), "TEMPORARY")
	if len(words) == 0 || !words[0].Is("TRIGGER") {
		return false
	}
	last := len(words) - 1
	return !(words[last].Is("END") && words[last-1].Kind == ';')
}

func skip(tokens []Token, word string) []Token {
	if len(tokens) > 0 && tokens[0].Is(word) {
		return tokens[1:]
	}
	return tokens
}

// Quote writes an identifier of SQL.
func Quote(name string) string { return `"` + strings.ReplaceAll(name, `"`, `""`) + `"` }
