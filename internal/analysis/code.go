package analysis

import (
	"slices"
	"strings"

	"assay"
	"assay/internal/sys/format"
	"assay/kit/wire"
)

// The facts by which a worker says how a program in its language opens a database, how
// it does so with options, and how it runs SQL. The marks stand for the DSN and the SQL,
// quoted, and for the options as the worker issued them.
const (
	factOpen        = "open"
	factOpenWith    = "open_with"
	factExecute     = "execute"
	markDSN         = "{{dsn}}"
	markOptions     = "{{options}}"
	markSQL         = "{{sql}}"
	pragmaStatement = "PRAGMA "
)

// aboutPrograms are facts that say nothing of what was measured.
var aboutPrograms = []string{factOpen, factOpenWith, factExecute}

// Code returns what a program writes to open the connection, in the language of its target,
// which is one of the targets; empty where the target does not say it.
func (c Connection) Code(targets []assay.Target) []string {
	i := slices.IndexFunc(targets, func(t assay.Target) bool { return t.Name() == c.cell.Target() && t.Build == c.cell.Build })
	if i < 0 || c.DSN == "" {
		return nil
	}
	open, execute := targets[i].Facts[factOpen], targets[i].Facts[factExecute]
	if with, options := targets[i].Facts[factOpenWith], c.options(); strings.Contains(with, markOptions) && options != "" {
		open = strings.ReplaceAll(with, markOptions, options)
	}
	if !strings.Contains(open, markDSN) || len(c.Each) > 0 && !strings.Contains(execute, markSQL) {
		return nil
	}
	lines := []string{strings.ReplaceAll(open, markDSN, quoted(c.DSN))}
	if len(c.Each) > 0 {
		lines = append(lines, strings.ReplaceAll(execute, markSQL, quoted(strings.Join(c.Each, "; "))))
	}
	return lines
}

// options returns what the worker issued for what was asked neither as SQL nor within the DSN:
// what its driver takes as arguments beside the DSN.
func (c Connection) options() string {
	var all []string
	for _, s := range c.Settings {
		if s.Name != wire.Begin && s.Name != "memory" && s.Requested != "" && s.Issued != "" && !strings.HasPrefix(s.Issued, pragmaStatement) && !strings.Contains(c.DSN, s.Issued) {
			all = append(all, s.Issued)
		}
	}
	return strings.Join(all, ", ")
}

// quoted quotes a text as Python, JavaScript and Ruby all read it. Ruby would replace
// what follows a number sign.
func quoted(text string) string {
	return strings.ReplaceAll(format.Quote(text), "#", `\u0023`)
}
