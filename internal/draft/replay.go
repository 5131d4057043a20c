package draft

import (
	"cmp"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"assay/internal/dataset/recording"
	"assay/internal/draft/recorded"
	"assay/internal/plan/sqltext"
)

// newLoggedText finds what is done again of a statement.
func newLoggedText(t *recorded.Text, text string) *loggedText {
	made := &loggedText{Text: t}
	tokens, whole := sqltext.Scan(text)
	made.verb = sqltext.Verb(tokens)
	made.rewrite(text)
	exists := slices.ContainsFunc(tokens, func(t sqltext.Token) bool { return t.Is("EXISTS") })
	switch several := len(sqltext.Statements(tokens)) != 1; {
	case slices.Contains([]string{"PRAGMA", "VACUUM", "ANALYZE", "REINDEX"}, made.verb):
		made.idle = true // settings are the profiles', and the others change no rows
	case slices.Contains([]string{"ATTACH", "DETACH"}, made.verb):
		made.left = "it attaches another database"
	case (made.verb == "CREATE" || made.verb == "DROP" || made.verb == "ALTER") && (several || !exists):
		made.left = "it changes the schema (" + made.verb + "): begin to record behind that"
	case !whole || several && len(made.args) > 0:
		made.left = "it has a statement that SQLite does not read as one"
	case len(made.args) > recording.MaxArgs:
		made.left = fmt.Sprintf("a statement has %d values, more than %d", len(made.args), recording.MaxArgs)
	}
	return made
}

// record writes an operation into the recording, with its statements as they began. A log has no
// names of savepoints: the newest is meant.
func (r *logReader) record(u recording.Unit, lines []logLine) (*recording.Part, error) {
	if r.out == nil || !slices.ContainsFunc(lines, func(l logLine) bool { return l.text != nil && !l.text.idle }) {
		return nil, nil
	}
	lines = slices.Clone(lines)
	slices.SortStableFunc(lines, func(a, b logLine) int { return cmp.Compare(a.At, b.At) })
	u.Connection, u.Transaction = lines[0].Conn, lines[0].Tx != 0
	depth := 0
	for _, l := range lines {
		switch l.S {
		case "savepoint":
			depth++
			fallthrough
		case "release", "rollback to":
			mark := map[string]string{"savepoint": "SAVEPOINT", "release": "RELEASE", "rollback to": "ROLLBACK TO"}[l.S]
			u.Statements = append(u.Statements, recording.Statement{SQL: fmt.Sprintf("%s s%d", mark, depth), Rows: -1})
			if l.S == "release" {
				depth--
			}
			continue
		}
		if l.text.left != "" {
			r.cannotReplay(l.text.left)
		}
		if l.text.idle || l.text.left != "" || len(l.args) != len(l.text.args) {
			continue
		}
		r.t.changes = r.t.changes || l.text.changes()
		rows := int64(-1)
		if l.Rows != nil {
			rows = *l.Rows
		}
		u.Statements = append(u.Statements, recording.Statement{SQL: l.text.sql, Args: l.args, Rows: rows})
	}
	return r.out.Add(r.ctx, u)
}

// SnapshotOf returns where recorders keep the database as it was when a log began.
func SnapshotOf(log string) string { return strings.TrimSuffix(log, ".ndjson") + ".start.db" }

// changedSince says why a log cannot be done again on a database, which has been changed since it
// began; empty: it can. A file system's clock may be behind.
func (t *logged) changedSince(options *Options) string {
	if !t.changes || options.AsRecorded || len(options.Logs) == 1 && same(options.Database, SnapshotOf(options.Logs[0].Name)) {
		return ""
	}
	for _, path := range []string{options.Database, options.Database + "-wal"} {
		if info, err := os.Stat(path); err == nil && info.ModTime().After(t.began.Add(behindClock)) {
			return "the database may not be as it was when recording began, since " + path + " was changed later: have the recorder keep it, or give a copy from then (docs/traffic.md)"
		}
	}
	return ""
}

const behindClock = 10 * time.Millisecond

// same reports whether two paths are one file.
func same(a, b string) bool {
	one, err := os.Stat(a)
	other, missing := os.Stat(b)
	return err == nil && missing == nil && os.SameFile(one, other)
}
