package draft

import (
	"context"
	"slices"
	"strings"

	"assay/internal/plan/sqltext"
)

// part is a part of SQLite that a build can lack.
type part struct {
	option string // of the compiler, as builds are named
	tag    string // of Go, which mattn's driver has for it
	what   string
}

// The parts that mattn's own build lacks, and those of the others have. A run reads
// the options of every build back, so that a change there shows.
var (
	fullText    = part{"ENABLE_FTS5", "sqlite_fts5", "FTS5"}
	mathematics = part{"ENABLE_MATH_FUNCTIONS", "sqlite_math_functions", "mathematical functions"}
)

var mathFunctions = strings.Fields("acos acosh asin asinh atan atan2 atanh ceil ceiling cos cosh degrees exp floor ln log log10 log2 mod pi pow power radians sin sinh sqrt tan tanh trunc")

// need finds the parts of SQLite that the schema and the queries need.
func (d *drafter) need(ctx context.Context) error {
	rows, err := texts(ctx, d.schema.db, "SELECT coalesce(sql, '') FROM sqlite_schema")
	if err != nil {
		return err
	}
	var all []string
	for _, row := range rows {
		all = append(all, row[0])
	}
	for _, o := range d.operations {
		all = append(all, o.texts()...)
	}
	for _, text := range all {
		tokens, _ := sqltext.Scan(text)
		for i, t := range tokens {
			called := i+1 < len(tokens) && tokens[i+1].Kind == '('
			switch {
			case t.Is("fts5"):
				d.needs = append(d.needs, fullText)
			case called && slices.ContainsFunc(mathFunctions, t.Is):
				d.needs = append(d.needs, mathematics)
			}
		}
	}
	slices.SortFunc(d.needs, func(a, b part) int { return strings.Compare(a.option, b.option) })
	d.needs = slices.Compact(d.needs)
	return nil
}

// builds names the drivers' builds that have what is needed.
func (d *document) builds() []string {
	all := slices.Clone(drivers)
	for _, p := range d.needs {
		all[0] += ":" + p.option
	}
	return all
}

// writeDrivers writes the builds, and what a program needs to have the same.
func (d *document) writeDrivers(w *writer) {
	if len(d.needs) > 0 {
		var what, tags []string
		for _, p := range d.needs {
			what, tags = append(what, p.what), append(tags, p.tag)
		}
		w.comment(0, "The schema or the queries need %s, which mattn's own build lacks and this build of it has. Your program needs: go build -tags %s",
			strings.Join(what, " and "), strings.Join(tags, ","))
	}
	w.line(0, "drivers: [%s]\n", strings.Join(quotedAll(d.builds()), ", "))
}

// quotedAll writes texts as YAML values.
func quotedAll(texts []string) []string {
	var all []string
	for _, text := range texts {
		all = append(all, scalar(text))
	}
	return all
}
