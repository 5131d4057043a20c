package report

import (
	"bufio"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"assay"
	"assay/internal/analysis"
	"assay/internal/analysis/wording"
)

// writeBenchfmt prints one line per trial for benchstat and its relatives.
// The format cannot mark a doubtful line, so that only what enters the
// centres is in it: trials that are ok and not disqualified. What belongs to
// one target is in the names, since benchstat splits its tables where a
// configuration line changes: use -col /driver.
func writeBenchfmt(w io.Writer, r *Report) error {
	out := bufio.NewWriter(w)
	r.benchConfig(out)
	for _, t := range r.Tables {
		for i, row := range append(slices.Clone(t.Rows), t.Twins...) {
			if !row.Comparable() {
				continue
			}
			for _, trial := range analysis.Paired(row, t.Primary.Name) {
				fmt.Fprintln(out, benchLine(row, trial, i >= len(t.Rows)))
			}
		}
	}
	return out.Flush()
}

// benchConfig prints what holds for the whole run.
func (r *Report) benchConfig(out io.Writer) {
	add := func(key, value string) {
		if value = wording.Clean(value); value != "" {
			fmt.Fprintf(out, "%s: %s\n", configKey(key), value)
		}
	}
	add("run", r.Run.ID)
	add("plan", r.Run.Plan)
	add("assay", r.Run.Version)
	add("seed", strconv.FormatUint(r.Run.Seed, 10))
	for _, t := range r.Run.Targets {
		add("target-"+t.Name()+"#"+t.Build[:min(len(t.Build), 8)], t.Engine+" "+t.EngineVersion)
	}
	for _, name := range slices.Sorted(maps.Keys(r.Run.Host)) {
		add("host-"+name, r.Run.Host[name])
	}
	for _, m := range assay.Metrics {
		if m.HigherBetter {
			fmt.Fprintf(out, "Unit %s better=higher\n", m.Name)
		}
	}
	fmt.Fprintln(out)
}

// configKey has no capitals, spaces or colons in it, which would end it.
func configKey(s string) string {
	return strings.ReplaceAll(strings.ToLower(word(s)), ":", "_")
}

// benchLine is one trial. The last number of its name, where Go has
// GOMAXPROCS, is the number of clients.
func benchLine(row *analysis.Row, trial *analysis.Trial, twin bool) string {
	operations := int64(0)
	for _, s := range trial.Samples {
		operations += s.Operations
	}
	line := fmt.Sprintf("Benchmark%s %d", benchName(row, twin), max(operations, 1))
	for _, f := range row.Figures {
		unit := f.Metric.Name
		if f.Metric.Unit == "ns" && !strings.Contains(unit, "ns") {
			unit += "-ns"
		}
		if v, has := trial.Figures.Of(f.Metric.Name); has && analysis.Finite(v) {
			line += " " + number(v) + " " + oneWord(unit)
		}
	}
	return line
}

// benchName holds all coordinates.
func benchName(row *analysis.Row, twin bool) string {
	c := row.Cell
	parts := []string{capital(word(c.Operation))}
	add := func(key, value string) {
		if value != "" {
			parts = append(parts, word(key)+"="+word(value))
		}
	}
	add("driver", row.Driver)
	add("profile", c.Profile)
	add("workload", c.Workload)
	for _, name := range slices.Sorted(maps.Keys(c.Params)) {
		add(name, c.Params[name])
	}
	if c.Pool != c.Clients || c.Idle != c.Pool {
		add("pool", strconv.Itoa(c.Pool))
		add("idle", strconv.Itoa(c.Idle))
	}
	add("statement", c.Statement)
	if c.Transaction != 0 {
		add("transaction", strconv.Itoa(c.Transaction))
	}
	if c.Begin != "" {
		add("begin", string(c.Begin))
	}
	if c.Processes > 1 {
		add("processes", strconv.Itoa(c.Processes))
	}
	if c.Rate != 0 {
		add("rate", number(c.Rate))
	}
	add("durability", string(row.Durability))
	if twin {
		add("twin", "1")
	}
	return strings.Join(parts, "/") + "-" + strconv.Itoa(c.Clients)
}

// word makes a text one part of a benchmark's name.
func word(s string) string {
	return strings.NewReplacer("/", "_", "=", "_").Replace(oneWord(s))
}

// oneWord leaves no space in a text.
func oneWord(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsSpace(r) || !unicode.IsGraphic(r) {
			return '_'
		}
		return r
	}, strings.ToValidUTF8(s, "_"))
}

// capital starts a name as the format wants it.
func capital(s string) string {
	runes := []rune(s)
	if len(runes) > 0 {
		runes[0] = unicode.ToUpper(runes[0])
	}
	return string(runes)
}
