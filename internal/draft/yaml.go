package draft

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"unicode"
)

// plainScalar is a text that YAML takes for itself; words that it takes for
// something else are in special.
var (
	plainScalar = regexp.MustCompile(`^(/|(\.\./)+)?[A-Za-z][A-Za-z0-9_./-]*$`)
	special     = regexp.MustCompile(`(?i)^(y|yes|n|no|true|false|on|off|null)$`)
)

// scalar writes a text as a YAML value.
func scalar(text string) string {
	if plainScalar.MatchString(text) && !special.MatchString(text) {
		return text
	}
	return quoted(text)
}

// quoted writes a text in double quotes, as JSON, which is YAML too.
func quoted(text string) string {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(text); err != nil {
		return strconv.Quote(text) // never: a text can always be encoded
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// constant draws always the same value, of a database.
func constant(value any) string {
	switch v := value.(type) {
	case int64:
		return fmt.Sprintf("{const: %d}", v)
	case float64:
		text := strconv.FormatFloat(v, 'g', -1, 64)
		if !strings.ContainsAny(text, ".e") {
			text += ".0"
		}
		return "{const: " + text + "}"
	case string:
		if strings.Contains(v, "{{") { // a template
			return fmt.Sprintf("{text: %d}", len(v))
		}
		return "{const: " + quoted(v) + "}"
	case []byte:
		return fmt.Sprintf("{blob: %d}", max(1, len(v)))
	}
	return "{const: ~}"
}

// sqlText writes SQL as it is, in lines of its own where YAML can keep them.
func sqlText(sql, indent string) string {
	for _, r := range sql {
		if r != '\n' && !unicode.IsPrint(r) {
			return quoted(sql)
		}
	}
	lines := strings.Split(sql, "\n")
	for i, line := range lines {
		if line != strings.TrimRight(line, " ") {
			return quoted(sql)
		}
		if line != "" {
			lines[i] = indent + line
		}
	}
	return "|-\n" + strings.Join(lines, "\n")
}

// writer collects the lines of a plan.
type writer struct {
	strings.Builder
	prefix string // of each line: a mark that makes a comment of it
}

func (w *writer) line(indent int, format string, args ...any) {
	text := strings.Split(fmt.Sprintf(format, args...), "\n")
	for _, line := range text {
		w.WriteString(strings.TrimRight(w.prefix+strings.Repeat(" ", indent)+line, " ") + "\n")
	}
}

// comment writes a text as a comment, in lines of up to 80 letters.
func (w *writer) comment(indent int, format string, args ...any) {
	const width = 80
	start := strings.Repeat(" ", indent) + "#"
	for paragraph := range strings.Lines(fmt.Sprintf(format, args...)) {
		depth := len(paragraph) - len(strings.TrimLeft(paragraph, " "))
		line := start + strings.Repeat(" ", depth)
		for i, word := range strings.Fields(clean(paragraph)) {
			if i > 0 && len(line)+1+len(word) > width {
				w.line(0, "%s", line)
				line = start + strings.Repeat(" ", depth)
			}
			line += " " + word
		}
		w.line(0, "%s", line)
	}
}

// clean replaces what cannot stand in a comment.
func clean(text string) string {
	return strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return ' '
		}
		return r
	}, text)
}
