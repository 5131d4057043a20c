package dataset

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"modernc.org/sqlite"

	"assay"
	"assay/internal/dataset/seeded"
	"assay/internal/plan/sqltext"
)

// describeRows is at how many positions arguments are tried until every
// column of an answer had a value.
const describeRows = 100

// errUntyped says that a column had no value to tell its type by.
var errUntyped = errors.New("has no declared type and no value to tell it by; say the types with returns")

// Describe returns the types of a query's answer. Of a column it is the
// declared type, by SQLite's rules of affinity, BOOL and BOOLEAN being bool.
// Of an expression, and of a column whose affinity is numeric or none, it is
// the type of the first value that is not NULL, where a number in a numeric
// column is real. A ? is left out only where NULL certainly cannot occur.
func (d *Data) Describe(ctx context.Context, query string, args []any) (types []assay.Type, err error) {
	conn, done, err := d.connect(ctx, false)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, done()) }()
	t, err := describe(ctx, conn, query, args)
	if err == nil {
		types = t.returns()
		err = untyped(types)
	}
	if err != nil {
		return nil, fmt.Errorf("describe the answer: %w; the SQL is:\n%s", err, query)
	}
	return types, nil
}

func untyped(types []assay.Type) error {
	if i := slices.Index(types, ""); i >= 0 {
		return fmt.Errorf("column %d %w", i+1, errUntyped)
	}
	return nil
}

// typing finds the types of an answer, by its columns and its values.
type typing struct {
	columns  []sqlite.ColumnInfo
	types    []assay.Type // empty: neither the column nor a value has told it
	certain  []bool       // NULL cannot occur
	answered bool         // there was a row
	mixed    int          // a column, counted from 1, with values of several types; 0: none
}

// newTyping looks at the columns of a query's answer.
func newTyping(ctx context.Context, conn *sql.Conn, query string) (t *typing, err error) {
	t = &typing{}
	if t.columns, err = columnInfo(conn, query); err != nil {
		return nil, err
	}
	if len(t.columns) == 0 {
		return nil, errors.New("it answers no columns")
	}
	for _, c := range t.columns {
		t.types = append(t.types, declaredType(c.DeclType))
	}
	t.certain, err = neverNull(ctx, conn, query, t.columns)
	return t, err
}

// describe runs the query even where all is known, for its mistakes and, with RETURNING, for
// its effect.
func describe(ctx context.Context, conn *sql.Conn, query string, args []any) (*typing, error) {
	t, err := newTyping(ctx, conn, query)
	if err == nil {
		_, err = t.read(ctx, conn, query, args)
	}
	return t, err
}

// read counts the rows of an answer, whose values tell what types the columns leave open.
func (t *typing) read(ctx context.Context, conn *sql.Conn, query string, args []any) (rows int64, err error) {
	answer, err := conn.QueryContext(ctx, query, args...)
	if err != nil {
		return 0, err
	}
	err = Visit(answer, func(row []any) error {
		rows++
		for i, c := range t.columns {
			if declaredType(c.DeclType) != "" {
				continue
			}
			found, before := valueType(row[i], c.DeclType != "" && !anything(c.DeclType)), t.types[i]
			switch {
			case found == "" || found == before || before == "real" && found == "int":
			case before == "" || before == "int" && found == "real":
				t.types[i] = found
			default:
				t.mixed = i + 1
			}
		}
		return nil
	})
	t.answered = t.answered || rows > 0
	return rows, err
}

// returns are the types that are known, with a ? where NULL may occur.
func (t *typing) returns() []assay.Type {
	all := slices.Clone(t.types)
	for i, known := range all {
		if known != "" && !t.certain[i] {
			all[i] += "?"
		}
	}
	return all
}

// declaredType follows "Determination Of Column Affinity" of SQLite's
// documentation; empty means that values decide.
func declaredType(declared string) assay.Type {
	declared = strings.ToUpper(declared)
	has := func(part string) bool { return strings.Contains(declared, part) }
	switch {
	case declared == "BOOL" || declared == "BOOLEAN":
		return "bool"
	case has("INT"):
		return "int"
	case has("CHAR") || has("CLOB") || has("TEXT"):
		return "text"
	case has("BLOB"):
		return "blob"
	case has("REAL") || has("FLOA") || has("DOUB"):
		return "real"
	}
	return ""
}

// likelyType is the type of a declared column that shows no value: dates and times are
// mostly kept as text, and what else has numeric affinity holds numbers.
func likelyType(declared string) assay.Type {
	for _, part := range []string{"DATE", "TIME", "JSON", "UUID"} {
		if strings.Contains(strings.ToUpper(declared), part) {
			return "text?"
		}
	}
	if declared != "" && !anything(declared) {
		return "real?"
	}
	return ""
}

// anything reports whether a declared column keeps values as they come, as ANY of a STRICT table.
func anything(declared string) bool { return strings.EqualFold(declared, "ANY") }

// valueType returns the type of a value, empty for NULL. A numeric column
// holds 5 as an integer and 5.5 as a float: real is right for both.
func valueType(value any, numeric bool) assay.Type {
	switch value.(type) {
	case int64:
		if numeric {
			return "real"
		}
		return "int"
	case float64:
		return "real"
	case string, time.Time: // the driver makes times of text only
		return "text"
	case []byte:
		return "blob"
	}
	return ""
}

// neverNull tells of columns whether they are NOT NULL or row ids. That is trusted only in
// queries that are nothing but a selection from tables: an outer join, a subquery, a view or
// an aggregate may make NULL of any column.
func neverNull(ctx context.Context, conn *sql.Conn, query string, columns []sqlite.ColumnInfo) (all []bool, err error) {
	all = make([]bool, len(columns))
	trust, err := selectsOnly(ctx, conn, query, columns)
	for i, c := range columns {
		if trust && err == nil {
			all[i], err = notNull(ctx, conn, c)
		}
	}
	return all, err
}

func selectsOnly(ctx context.Context, conn *sql.Conn, query string, columns []sqlite.ColumnInfo) (bool, error) {
	selects := 0
	tokens, _ := sqltext.Scan(query)
	for _, t := range tokens {
		switch {
		case slices.ContainsFunc([]string{"LEFT", "RIGHT", "FULL", "OUTER", "HAVING"}, t.Is):
			return false, nil
		case t.Is("SELECT"):
			selects++
		}
	}
	if selects != 1 || slices.ContainsFunc(columns, func(c sqlite.ColumnInfo) bool { return c.OriginName == "" }) {
		return false, nil
	}
	views, err := ask(ctx, conn, "SELECT count(*) FROM sqlite_schema WHERE type = 'view'")
	return views == "0", err
}

func notNull(ctx context.Context, conn *sql.Conn, c sqlite.ColumnInfo) (bool, error) {
	// The origin of a row id without a column of its own is called rowid.
	const query = `SELECT coalesce(
		(SELECT "notnull" OR pk AND upper(type) = 'INTEGER' AND (SELECT count(*) FROM pragma_table_info(?1) WHERE pk) = 1
			FROM pragma_table_info(?1) WHERE name = ?2 COLLATE NOCASE), ?2 = 'rowid')`
	var certain bool
	err := conn.QueryRowContext(ctx, query, c.TableName, c.OriginName).Scan(&certain)
	return certain, err
}

// Resolve returns the operation with the Returns that its query steps, its
// Check and those of its parts leave out, as the data answer them with the
// trace's first arguments. It tries up to 100 positions where a value is NULL
// or a row missing.
func (d *Data) Resolve(ctx context.Context, op assay.Operation) (resolved assay.Operation, err error) {
	op = detach(op)
	if op.Sequence != "" {
		return d.resolveSequence(ctx, op)
	}
	if !incomplete(&op) {
		return op, nil
	}
	// Steps that change data are run as well: what they insert may be read by
	// a later step or by the check.
	conn, done, err := d.connect(ctx, op.Changes)
	if err != nil {
		return op, err
	}
	defer func() { err = errors.Join(err, done()) }()
	r := resolution{d, conn, map[string]*generator{}}
	defer func() { err = errors.Join(err, r.close()) }()
	for row := 0; incomplete(&op); row++ {
		if err := r.at(ctx, &op, row); err != nil {
			return op, fmt.Errorf("operation %q: %w", op.Name, err)
		}
	}
	return op, nil
}

// detach copies what Resolve fills in.
func detach(op assay.Operation) assay.Operation {
	op.Steps = slices.Clone(op.Steps)
	op.Parts = slices.Clone(op.Parts)
	if op.Check != nil {
		op.Check = new(*op.Check)
	}
	for i := range op.Parts {
		op.Parts[i].Operation = detach(op.Parts[i].Operation)
	}
	return op
}

// typed says that types are there and none of them is empty.
func typed(types []assay.Type) bool { return len(types) > 0 && untyped(types) == nil }

func incomplete(op *assay.Operation) bool {
	for _, step := range op.Steps {
		if step.Query && !typed(step.Returns) {
			return true
		}
	}
	for i := range op.Parts {
		if incomplete(&op.Parts[i].Operation) {
			return true
		}
	}
	return op.Check != nil && !typed(op.Check.Returns)
}

// resolution holds what Resolve works with.
type resolution struct {
	data      *Data
	conn      *sql.Conn
	arguments map[string]*generator // by operation
}

// of returns the generator of an operation's arguments.
func (r resolution) of(ctx context.Context, op assay.Operation) (*generator, error) {
	if g, ok := r.arguments[op.Name]; ok {
		return g, nil
	}
	g, err := r.data.arguments(ctx, op, describeRows)
	if err != nil {
		return nil, err
	}
	r.arguments[op.Name] = g
	return g, g.open(ctx, describeRows, func(i int) int { return i })
}

func (r resolution) close() error {
	var errs []error
	for _, g := range r.arguments {
		errs = append(errs, g.close())
	}
	return errors.Join(errs...)
}

// at runs the operation at a position and fills in the types that its
// answers show.
func (r resolution) at(ctx context.Context, op *assay.Operation, row int) error {
	for i := range op.Parts {
		part := &op.Parts[i].Operation
		if err := r.at(ctx, part, row); err != nil {
			return fmt.Errorf("part %q: %w", part.Name, err)
		}
	}
	g, err := r.of(ctx, *op)
	if err != nil {
		return err
	}
	args := make([]any, len(g.columns))
	if err := g.row(row, args); err != nil {
		return err
	}
	for i := range op.Steps {
		step := &op.Steps[i]
		if err := resolveStep(ctx, r.conn, step, args[:len(step.Args)], row); err != nil {
			return fmt.Errorf("step %d: %w; the SQL is:\n%s", i+1, err, step.SQL)
		}
		args = args[len(step.Args):]
	}
	if op.Check == nil || typed(op.Check.Returns) {
		return nil
	}
	if err := complete(ctx, r.conn, &op.Check.Returns, op.Check.SQL, nil, row); err != nil {
		return fmt.Errorf("check: %w; the SQL is:\n%s", err, op.Check.SQL)
	}
	return nil
}

func resolveStep(ctx context.Context, conn *sql.Conn, step *assay.Step, args []any, row int) error {
	if step.Query && !typed(step.Returns) {
		return complete(ctx, conn, &step.Returns, step.SQL, args, row)
	}
	_, err := conn.ExecContext(ctx, step.SQL, args...)
	return err
}

// complete describes a query and adds what was not known before. What is NULL in the last row
// that is tried, as an aggregate of an empty table is, counts as a number that is missing.
func complete(ctx context.Context, conn *sql.Conn, types *[]assay.Type, query string, args []any, row int) error {
	t, err := describe(ctx, conn, query, args)
	if err != nil {
		return err
	}
	found := t.returns()
	for i, known := range *types {
		if i < len(found) && known != "" {
			found[i] = known
		}
	}
	*types = found
	if row+1 < describeRows || typed(found) {
		return nil
	}
	filled := sampleTypes(ctx, conn, query, args)
	for i, c := range t.columns {
		if found[i] == "" {
			found[i] = likelyType(c.DeclType)
		}
		if found[i] == "" && i < len(filled) {
			found[i] = filled[i]
		}
		if found[i] == "" && t.answered {
			found[i] = "int?"
		}
	}
	return untyped(found)
}

// sampleTypes are the types of the answer where every table of the schema has one row, as far
// as that shows them: a table that is empty now may be filled during a run.
func sampleTypes(ctx context.Context, conn *sql.Conn, query string, args []any) []assay.Type {
	db, err := sql.Open("sqlite", ":memory:")
	if err != nil {
		return nil
	}
	defer db.Close()
	rows, err := conn.QueryContext(ctx, `SELECT name, sql, type = 'table' FROM sqlite_schema
		WHERE type IN ('table', 'view') AND name NOT LIKE 'sqlite@_%' ESCAPE '@' ORDER BY rowid`)
	if err != nil {
		return nil
	}
	db.SetMaxOpenConns(1)
	err = Visit(rows, func(row []any) error {
		// What cannot be made here shows no types.
		if _, err := db.ExecContext(ctx, row[1].(string)); err == nil && row[2] == int64(1) {
			_, _ = db.ExecContext(ctx, sampleRow(ctx, db, row[0].(string)))
		}
		return ctx.Err()
	})
	if err != nil {
		return nil
	}
	sample, err := db.Conn(ctx)
	if err != nil {
		return nil
	}
	defer sample.Close()
	t, err := describe(ctx, sample, query, args)
	if err != nil {
		return nil
	}
	return t.returns()
}

// sampleRow is the INSERT of one row, with a value of each column's type.
func sampleRow(ctx context.Context, db *sql.DB, table string) (insert string) {
	const query = `SELECT 'INSERT INTO "' || replace(?1, '"', '""') || '" (' || group_concat('"' || replace(name, '"', '""') || '"') ||
		') VALUES (' || group_concat(CASE
			WHEN type LIKE '%INT%' OR type LIKE 'BOOL%' THEN '1'
			WHEN type LIKE '%BLOB%' THEN quote(x'00')
			WHEN type LIKE '%REAL%' OR type LIKE '%FLOA%' OR type LIKE '%DOUB%' OR type LIKE 'NUM%' OR type LIKE 'DEC%' THEN '1.5'
			ELSE quote('2000-01-01') END) || ')'
		FROM pragma_table_xinfo(?1) WHERE hidden = 0`
	_ = db.QueryRowContext(ctx, query, table).Scan(&insert) // a table without columns has no row
	return insert
}

// missingName is what SQLite says of a name that the schema does not have.
var missingName = regexp.MustCompile(`no such (column|table): ([^\s(]+)`)

// MissingName is the name that SQLite does not find, without that of its table, and
// the names of its kind that the schema has. Without one it is empty.
func (d *Data) MissingName(ctx context.Context, refusal error) (name string, known []string) {
	parts := missingName.FindStringSubmatch(refusal.Error())
	if parts == nil {
		return "", nil
	}
	query := "SELECT name FROM sqlite_schema WHERE type IN ('table', 'view') AND name NOT LIKE 'sqlite@_%' ESCAPE '@'"
	if parts[1] == "column" {
		query = "SELECT DISTINCT p.name FROM sqlite_schema s, pragma_table_info(s.name) p WHERE s.type IN ('table', 'view')"
	}
	conn, done, err := d.connect(ctx, false)
	if err != nil {
		return "", nil // the refusal says enough
	}
	defer done()
	if known, err = firstColumn(ctx, conn, query); err != nil {
		return "", nil
	}
	return parts[2][strings.LastIndexByte(parts[2], '.')+1:], known
}

// Unfilled says which SELECT of rows cannot be compiled.
func (d *Data) Unfilled(ctx context.Context, tables []assay.Table) error {
	var wrong []error
	for _, table := range tables {
		if err := d.loads(ctx, table); err != nil {
			wrong = append(wrong, fmt.Errorf("the data of table %s: %w; the SQL is:\n%s", table.Name, err, table.Select))
		}
	}
	return errors.Join(wrong...)
}

// loads compiles what fills a table.
func (d *Data) loads(ctx context.Context, table assay.Table) error {
	return d.seeded(ctx, func(session *seeded.Session) error {
		text, err := loading(ctx, session, table)
		if err == nil {
			err = prepares(ctx, session, text)
		}
		return err
	})
}
