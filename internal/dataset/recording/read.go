package recording

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"assay"
	"assay/internal/plan/sqltext"
)

// Replay holds what was recorded as an operation, of which a block is all of it, once.
type Replay struct {
	Operation assay.Operation
	Clients   int
}

// Read reads what is to be done again.
func Read(ctx context.Context, path string) (r Replay, err error) {
	if _, err := os.Stat(path); err != nil {
		return r, err
	}
	absolute, err := filepath.Abs(path)
	if err != nil {
		return r, err
	}
	db, err := sql.Open("sqlite", "file:"+(&url.URL{Path: absolute}).EscapedPath()+"?mode=ro")
	if err != nil {
		return r, err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	var why string
	if err := db.QueryRowContext(ctx, "SELECT clients, why FROM replay").Scan(&r.Clients, &why); err != nil {
		return r, fmt.Errorf("%s has no replay (%w): draft the plan anew with assay init --log", path, err)
	}
	if why != "" {
		return r, fmt.Errorf("%s cannot be replayed: %s", path, why)
	}
	if r.Operation.Parts, err = parts(ctx, db); err != nil {
		return r, fmt.Errorf("%s: %w", path, err)
	}
	op := &r.Operation
	op.Name, op.Statement, op.Writers, op.RetryBusy = "replay", "once", r.Clients, true
	op.Sequence = "SELECT part - 1 FROM recorded.unit ORDER BY position"
	if r.Clients > 1 {
		op.Sequence = "SELECT part - 1, after FROM recorded.unit ORDER BY position"
	}
	for i := range op.Parts {
		op.Count += op.Parts[i].Weight
		op.Changes = op.Changes || op.Parts[i].Operation.Changes
	}
	for i := range op.Parts {
		op.Parts[i].Operation.Count = op.Count
	}
	return r, nil
}

// parts are the forms of units, with the number of each.
func parts(ctx context.Context, db *sql.DB) (all []assay.Part, err error) {
	rows, err := db.QueryContext(ctx, `SELECT s.part, s.step, s.sql, s.args, s."transaction", coalesce(s.rows, -1), u.units
		FROM statement AS s JOIN (SELECT part, count(*) AS units FROM unit GROUP BY part) AS u USING (part) ORDER BY s.part, s.step`)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		var part, step, args, units int
		var text string
		var transaction bool
		var had int64
		if err := rows.Scan(&part, &step, &text, &args, &transaction, &had, &units); err != nil {
			return nil, err
		}
		if part > len(all) {
			all = append(all, assay.Part{Weight: units, Operation: assay.Operation{Statement: "once", RetryBusy: true}})
		}
		p := &all[len(all)-1]
		p.Had = append(p.Had, had)
		op := &p.Operation
		s, changes, verb := stepOf(text)
		if op.Changes = op.Changes || changes; transaction {
			verb = "transaction"
		}
		op.Name = fmt.Sprintf("%s-%d", strings.ToLower(verb), part)
		query := values("recorded.", Columns(args), args, part, step)
		for i := range args {
			s.Args = append(s.Args, assay.Values{Kind: assay.Row, Draw: assay.InOrder, Query: query, Of: i})
		}
		op.Steps = append(op.Steps, s)
		if transaction && op.Changes {
			op.Transaction = 1
		}
	}
	return all, rows.Err()
}

// stepOf tells what a statement is, or several.
func stepOf(text string) (s assay.Step, changes bool, verb string) {
	tokens, _ := sqltext.Scan(text)
	verb = sqltext.Verb(tokens)
	s = assay.Step{SQL: text, Rows: -1}
	if len(sqltext.Statements(tokens)) > 1 {
		s.Script = true
		return s, true, "script"
	}
	changes = !slices.Contains([]string{"SELECT", "VALUES", "EXPLAIN"}, verb)
	s.Query = !changes || slices.ContainsFunc(tokens, func(t sqltext.Token) bool { return t.Depth == 0 && t.Is("RETURNING") })
	return s, changes, verb
}
