// Package expert asks SQLite's own adviser, the command .expert of the program
// sqlite3, which indexes a query lacks. The program is optional. It is started
// without a shell on a file that it cannot write to, and what it answers is not
// trusted: an index is built from its table and columns alone.
package expert

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"time"

	"assay/internal/plan/sqltext"
	"assay/internal/sys/child"
	"assay/kit/sqlite"
)

// Column is a column of an index.
type Column struct {
	Name       string
	Collation  string // empty: that of the column
	Descending bool
}

// Index is an index that a query lacks.
type Index struct {
	Table   string
	Columns []Column
}

// timeLimit is of one query: the adviser plans it a few times, on tables without
// rows.
const timeLimit = 20 * time.Second

// Find is the path of the program sqlite3; empty where it is not installed.
func Find() string {
	path, err := exec.LookPath("sqlite3")
	if err != nil {
		return ""
	}
	return path
}

// Ask returns the indexes that would change how a query of a database file is
// planned. An error says that the program cannot tell, for example of a virtual
// table.
func Ask(ctx context.Context, program, file, query string) ([]Index, error) {
	ctx, cancel := context.WithTimeout(ctx, timeLimit)
	defer cancel()
	// The space keeps SQL that begins with a comment from being an option, or a command.
	cmd := exec.CommandContext(ctx, program, "-batch", "-init", os.DevNull, "file:"+sqlite.EscapePath(file)+"?mode=ro&immutable=1", ".expert", " "+query)
	cmd.Env = []string{"HOME=" + os.DevNull}
	var out, failure bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &failure
	if err := child.Run(cmd); err != nil {
		said, _, _ := strings.Cut(strings.TrimPrefix(strings.TrimSpace(failure.String()), "Error: "), "\n")
		return nil, fmt.Errorf("%s .expert: %s (%w)", program, said, err)
	}
	return parse(out.String())
}

const name = `([A-Za-z_][A-Za-z0-9_$]*|'(?:[^']|'')+'|"(?:[^"]|"")+")`

var (
	statement = regexp.MustCompile(`^CREATE INDEX ` + name + ` ON ` + name + `\((.+)\);$`)
	column    = regexp.MustCompile(`^` + name + `(?: COLLATE ` + name + `)?( DESC)?(?:, |$)`)
)

// parse reads the indexes at the beginning of an answer, which the new query plan
// follows. A line in any other form is an error: it is of a version of the program
// that is not known here.
func parse(answer string) ([]Index, error) {
	head, _, _ := strings.Cut(strings.TrimLeft(answer, "\n"), "\n\n")
	if strings.TrimSpace(head) == "(no new indexes)" {
		return nil, nil
	}
	var all []Index
	for line := range strings.Lines(head) {
		line = strings.TrimRight(line, "\n")
		m := statement.FindStringSubmatch(line)
		if m == nil {
			return nil, fmt.Errorf("the answer of .expert has a line that is no index: %q", line)
		}
		index := Index{Table: unquote(m[2])}
		for rest := m[3]; rest != ""; {
			c := column.FindStringSubmatch(rest)
			if c == nil {
				return nil, fmt.Errorf("the answer of .expert has an index whose columns cannot be read: %q", line)
			}
			index.Columns = append(index.Columns, Column{unquote(c[1]), unquote(c[2]), c[3] != ""})
			rest = rest[len(c[0]):]
		}
		all = append(all, index)
	}
	if len(all) == 0 {
		return nil, errors.New("the answer of .expert is empty")
	}
	return all, nil
}

func unquote(name string) string {
	if name == "" || name[0] != '\'' && name[0] != '"' {
		return name
	}
	return strings.ReplaceAll(name[1:len(name)-1], name[:1]+name[:1], name[:1])
}

// Name says what the index is of. Two indexes may have the same.
func (i Index) Name() string {
	name := "idx_" + i.Table
	for _, c := range i.Columns {
		name += "_" + c.Name
		if c.Collation != "" {
			name += "_" + strings.ToLower(c.Collation)
		}
		if c.Descending {
			name += "_desc"
		}
	}
	return name
}

// SQL creates the index under its name.
func (i Index) SQL() string {
	var columns []string
	for _, c := range i.Columns {
		text := sqltext.Quote(c.Name)
		if c.Collation != "" {
			text += " COLLATE " + sqltext.Quote(c.Collation)
		}
		if c.Descending {
			text += " DESC"
		}
		columns = append(columns, text)
	}
	return fmt.Sprintf("CREATE INDEX %s ON %s (%s)", sqltext.Quote(i.Name()), sqltext.Quote(i.Table), strings.Join(columns, ", "))
}
