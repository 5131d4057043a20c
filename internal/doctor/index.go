package doctor

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"

	"assay/internal/dataset/queryplan"
	"assay/internal/plan/sqltext"
)

// indexFor says which index has SQLite search the rows of a table that a query reads all of: it
// is tried on the same schema without rows. Whether LIKE uses one depends on its pattern.
func (p *patient) indexFor(ctx context.Context, query, step string, t table) (fix string, err error) {
	bare, err := p.bare(ctx)
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, bare.db.Close()) }()
	measured := "; assay init --db " + p.file() + " --queries FILE drafts a plan that measures it"
	always, prefix, err := bare.helping(ctx, query, step, t)
	switch {
	case err != nil: // such as a collation that only the application has
		return "an index on the columns of its WHERE or ON" + measured, ctx.Err()
	case len(always) > 0:
		return "an index that begins with " + strings.Join(always, " or ") + measured, nil
	case len(prefix) > 0:
		return "an index on " + strings.Join(prefix, " or ") + " is used only where a pattern begins with text, as 'abc%' does; full-text search finds words anywhere", nil
	}
	return "no index on one column is used for its conditions: index the expression that stands there, or let a column stand alone; each side of an OR needs its index", nil
}

// bare is the same schema without rows. What only the application has is not in it, nor a text
// of several statements, which no schema has.
func (p *patient) bare(ctx context.Context) (*patient, error) {
	statements, err := p.texts(ctx, "SELECT sql FROM sqlite_schema WHERE sql <> '' AND type <> 'trigger' AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' ORDER BY type <> 'table', rowid")
	if err != nil {
		return nil, err
	}
	db, err := sql.Open("sqlite", ":memory:")
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(1)
	for _, s := range statements {
		if tokens, whole := sqltext.Scan(s[0]); whole && len(sqltext.Statements(tokens)) == 1 {
			_, _ = db.ExecContext(ctx, s[0])
		}
	}
	return &patient{db: db}, ctx.Err()
}

// triedIndex is the name of an index that is tried.
const triedIndex = "assay_tried"

// helping are the columns of a query by which SQLite would search a table: always, and where
// its values are patterns that begin with text.
func (p *patient) helping(ctx context.Context, query, step string, t table) (always, prefix []string, err error) {
	if _, err := p.plan(ctx, query); err != nil {
		return nil, nil, err
	}
	columns, err := p.texts(ctx, "SELECT name FROM pragma_table_info(?)", t.name)
	for _, column := range columns {
		if !mentions(query, column[0]) {
			continue
		}
		for _, on := range []string{sqltext.Quote(column[0]), sqltext.Quote(column[0]) + " COLLATE NOCASE"} {
			create := fmt.Sprintf("CREATE INDEX %s ON %s (%s)", triedIndex, sqltext.Quote(t.name), on)
			if _, err := p.db.ExecContext(ctx, create); err != nil {
				return nil, nil, err
			}
			surely, perhaps := p.searches(ctx, query, step, nil), p.searches(ctx, query, step, "a%")
			if _, err := p.db.ExecContext(ctx, "DROP INDEX "+triedIndex); err != nil {
				return nil, nil, err
			}
			if named := strings.ReplaceAll(on, `"`, ""); surely {
				always = append(always, named)
			} else if perhaps {
				prefix = append(prefix, named)
			}
			if surely || perhaps {
				break
			}
		}
	}
	return always, prefix, err
}

// searches reports whether SQLite searches a table by the index that is tried.
func (p *patient) searches(ctx context.Context, query, table string, value any) bool {
	plan, err := p.planWith(ctx, query, value)
	return err == nil && slices.ContainsFunc(queryplan.Parse(plan), func(s queryplan.Step) bool { return s.Table == table && !s.Scan && s.Index == triedIndex })
}
