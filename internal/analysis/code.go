package analysis

import (
	"encoding/json"
	"slices"
	"strings"

	"assay"
)

// The facts by which a worker says how a program in its language opens a database and
// runs SQL; each has the mark for the text, quoted.
const (
	factOpen    = "open"
	factExecute = "execute"
	markDSN     = "{{dsn}}"
	markSQL     = "{{sql}}"
)

// aboutPrograms are facts that say nothing of what was measured.
var aboutPrograms = []string{factOpen, factExecute}

// Code is what a program writes to open the connection, in the language of its target,
// which is one of the targets; empty where the target does not say it.
func (c Connection) Code(targets []assay.Target) []string {
	i := slices.IndexFunc(targets, func(t assay.Target) bool { return t.Name() == c.cell.Target() && t.Build == c.cell.Build })
	if i < 0 || c.DSN == "" {
		return nil
	}
	open, execute := targets[i].Facts[factOpen], targets[i].Facts[factExecute]
	if !strings.Contains(open, markDSN) || len(c.Each) > 0 && !strings.Contains(execute, markSQL) {
		return nil
	}
	lines := []string{strings.ReplaceAll(open, markDSN, quoted(c.DSN))}
	if len(c.Each) > 0 {
		lines = append(lines, strings.ReplaceAll(execute, markSQL, quoted(strings.Join(c.Each, "; "))))
	}
	return lines
}

// quoted quotes a text as Python and JavaScript both read it.
func quoted(text string) string {
	var out strings.Builder
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	_ = encoder.Encode(text) // a text always has a form
	return strings.TrimSuffix(out.String(), "\n")
}
