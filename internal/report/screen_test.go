package report

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"assay"
	"assay/internal/analysis"
	"assay/internal/analysis/analysistest"
	"assay/internal/stat"
)

// screenRuns are runs of every kind that a screen has to show.
var screenRuns = map[string]func() (assay.Run, []assay.Trial){
	"decided":   decidedRun,
	"undecided": func() (assay.Run, []assay.Trial) { return readsOf(1, "mattn", "modernc") },
	"unranked":  unrankedRun,
	"half":      halfRun,
	"open":      openRun,
	"nine": func() (assay.Run, []assay.Trial) {
		return readsOf(8, strings.Fields("a-driver bbolt crawshaw eatonphil glebarez mattn modernc ncruces zombiezen")...)
	},
	"many":   manyRun,
	"kv":     kvRun,
	"http":   httpRun,
	"sample": analysistest.SampleRun,
	"alone": func() (assay.Run, []assay.Trial) {
		return plainRun("mattn"), analysistest.Launches(cellOf("point-read", "mattn", "web", ""), 6, 9000, 1)
	},
	"unlike": unlikeRun,
	"classes": func() (assay.Run, []assay.Trial) {
		lasting := analysistest.Durable(analysistest.Launches(cellOf("insert", "mattn", "default", ""), 6, 9000, 1), assay.Power, "2")
		return plainRun("mattn"), append(lasting, analysistest.Durable(analysistest.Launches(cellOf("insert", "mattn", "web", ""), 6, 2000, 2), assay.Consistent, "1")...)
	},
}

// unlikeRun has two drivers of one class of durability, of which one syncs more often.
func unlikeRun() (assay.Run, []assay.Trial) {
	trials := analysistest.Durable(analysistest.Launches(cellOf("insert", "mattn", "default", ""), 6, 9000, 1), assay.Consistent, "1")
	return plainRun("mattn", "modernc"), append(trials, analysistest.Durable(analysistest.Launches(cellOf("insert", "modernc", "default", ""), 6, 12000, 2), assay.Consistent, "2")...)
}

const planText = "drivers: [mattn]\noperations:\n  point-read:\n    sql: a\n  range-100:\n    sql: b\n  insert:\n    sql: c\n  full-text:\n    sql: d\n"

// plainRun is a run of these drivers, the first of which is the baseline.
func plainRun(drivers ...string) assay.Run {
	run := assay.Run{ID: "20261120-153000-1f2e", Plan: "quick", PlanText: planText, Status: assay.Finished, Baseline: assay.ParseBaseline(drivers[0] + "@v1"),
		Started: analysistest.SampleStart, Finished: analysistest.SampleStart.Add(140e9), Options: assay.Options{Margin: 0.02, Budget: 140e9, Drivers: drivers}}
	for _, d := range drivers {
		run.Targets = append(run.Targets, assay.Target{Driver: d, DriverVersion: "v1", Engine: "sqlite", Build: "b-" + d, Facts: map[string]string{"cgo": fmt.Sprint(d == "mattn")}})
	}
	return run
}

// cellOf is a cell of a plain run.
func cellOf(operation, driver, profile, rows string) assay.Cell {
	c := analysistest.Cell(operation, driver, profile)
	c.DriverVersion = "v1"
	if rows != "" {
		c.Params = map[string]string{"rows": rows}
	}
	return c
}

// readsOf has n launches of three operations at two sizes, with drivers ever slower.
func readsOf(n int, drivers ...string) (assay.Run, []assay.Trial) {
	var trials []assay.Trial
	for o, operation := range []string{"point-read", "range-100", "insert"} {
		for _, rows := range []string{"100000", "1000000"} {
			for i, driver := range drivers {
				for j, profile := range []string{"default", "web"} {
					all := analysistest.Launches(cellOf(operation, driver, profile, rows), n, 6000*float64(1+10*o)*(1+0.3*float64(i))*(1.6-0.6*float64(j)), i+1)
					if operation == "insert" {
						class, synchronous := assay.Power, "2"
						if profile == "web" {
							class, synchronous = assay.Consistent, "1"
						}
						all = analysistest.Durable(all, class, synchronous)
					}
					trials = append(trials, all...)
				}
			}
		}
	}
	return plainRun(drivers...), trials
}

func decidedRun() (assay.Run, []assay.Trial) {
	run, trials := readsOf(8, "mattn", "modernc", "glebarez")
	for i := range trials {
		if t := &trials[i]; t.Cell.Driver == "modernc" && t.Cell.Profile == "default" && t.Cell.Operation == "insert" {
			t.Figures["busy/op"] = 14
		}
	}
	return run, trials
}

// unrankedRun asks for a setting that its driver ignores.
func unrankedRun() (assay.Run, []assay.Trial) {
	run := plainRun("mattn", "modernc")
	var trials []assay.Trial
	for _, operation := range []string{"point-read", "insert"} {
		for _, driver := range []string{"mattn", "modernc"} {
			trials = append(trials, analysistest.Change(analysistest.Launches(cellOf(operation, driver, "web", ""), 6, 1000, 1), func(t *assay.Trial) {
				t.Outcome, t.Reason = assay.NotApplied, "journal_mode requested wal, effective delete: v1 ignores _journal_mode=WAL"
			})...)
		}
	}
	return run, trials
}

// halfRun has a driver that is the fastest where it works, and has no full text.
func halfRun() (assay.Run, []assay.Trial) {
	run := plainRun("mattn", "modernc")
	var trials []assay.Trial
	for _, operation := range []string{"point-read", "range-100", "full-text", "match"} {
		trials = append(trials, analysistest.Launches(cellOf(operation, "mattn", "web", ""), 8, 9000, 1)...)
		if operation == "point-read" || operation == "range-100" {
			trials = append(trials, analysistest.Launches(cellOf(operation, "modernc", "web", ""), 8, 4000, 2)...)
			continue
		}
		trials = append(trials, analysistest.Ended(cellOf(operation, "modernc", "web", ""), assay.Failed, "no such module: fts5"))
	}
	return run, trials
}

// openRun has two drivers that are faster than a third and undecided against each
// other, and one that is undecided against all.
func openRun() (assay.Run, []assay.Trial) {
	run := plainRun("mattn", "modernc", "glebarez", "zombiezen")
	var trials []assay.Trial
	for i, c := range []struct {
		driver     string
		ns, spread float64
	}{{"mattn", 9000, 0.1}, {"modernc", 9100, 0.1}, {"glebarez", 30000, 0.1}, {"zombiezen", 5700, 9}} {
		trials = append(trials, analysistest.Change(analysistest.Launches(cellOf("point-read", c.driver, "web", ""), 6, c.ns, 1), func(t *assay.Trial) {
			t.Figures["ns/op"] *= 1 + c.spread*float64(t.Launch>>(i%3)&1)
		})...)
	}
	return run, trials
}

// manyRun has more tables and targets than a screen has room for.
func manyRun() (assay.Run, []assay.Trial) {
	drivers := strings.Fields("bbolt badger goleveldb lmdb nutsdb pebble")
	run := plainRun(drivers...)
	run.Plan = "kv"
	var trials []assay.Trial
	for o := range 20 {
		for i, driver := range drivers {
			for j, profile := range []string{"as-published", "unsynced"} {
				all := analysistest.Launches(cellOf(fmt.Sprintf("put-in-order-%02d", o), driver, profile, "100000"), 6, 1000*float64(1+(i+o)%6)*(1-0.3*float64(j)), i+1)
				trials = append(trials, analysistest.Durable(all, []assay.Durability{assay.Power, assay.Process}[j], "")...)
			}
		}
	}
	return run, trials
}

func kvRun() (assay.Run, []assay.Trial) {
	run := plainRun("bbolt", "pebble")
	run.Plan = "kv"
	var trials []assay.Trial
	for i, driver := range []string{"bbolt", "pebble"} {
		trials = append(trials, analysistest.Launches(cellOf("get", driver, "sync", ""), 8, 900+900*float64(i), i+1)...)
		trials = append(trials, analysistest.Change(analysistest.Launches(cellOf("put", driver, "sync", ""), 8, 90000-60000*float64(i), i+1), func(t *assay.Trial) {
			t.Mode, t.Durability = assay.Blocks, assay.Power
		})...)
	}
	return run, trials
}

func httpRun() (assay.Run, []assay.Trial) {
	run := plainRun("mattn", "modernc")
	run.Plan = "http"
	var trials []assay.Trial
	for i, driver := range []string{"mattn", "modernc"} {
		for _, clients := range []int{4, 32} {
			c := cellOf("get-user", driver, "web", "")
			c.Clients, c.Pool, c.Idle = clients, 4, 4
			trials = append(trials, analysistest.Change(analysistest.Launches(c, 8, 40000*(1+0.5*float64(i)), i+1), func(t *assay.Trial) {
				t.Mode = assay.Blocks
				t.Figures["limit/s"], t.Figures["p99"] = 90000, 2e6
			})...)
		}
	}
	return run, trials
}

func TestScreen(t *testing.T) {
	for name, make := range screenRuns {
		run, trials := make()
		r := mustReport(t, run, trials)
		r.Store = "/data/my runs.db"
		for _, width := range []int{60, 80, 100} {
			var out strings.Builder
			must(t, r.WriteScreen(&out, Screen{Width: width}))
			golden := filepath.Join("testdata", "screen", fmt.Sprintf("%s.%d", name, width))
			if *update {
				must(t, os.WriteFile(golden, []byte(out.String()), 0o644))
			}
			want, err := os.ReadFile(golden)
			must(t, err)
			if got := out.String(); got != string(want) {
				t.Errorf("%s: got\n%s\nwant\n%s", golden, got, want)
			}
			checkScreen(t, golden, out.String(), width)
		}
	}
}

// checkScreen checks what holds for every screen: it fits, and its commands carry
// the store.
func checkScreen(t *testing.T, name, text string, width int) {
	t.Helper()
	lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	height := (Screen{Width: width}).height(lines)
	if height > maxLines {
		t.Errorf("%s: got %d lines of %d columns, want at most %d", name, height, width, maxLines)
	}
	for _, line := range lines {
		command := strings.HasPrefix(line, "  assay ") || strings.HasPrefix(line, "  file:")
		if got := utf8.RuneCountInString(line); got > width && !command {
			t.Errorf("%s: got a line of %d columns: %s", name, got, line)
		}
	}
	if got := strings.Join(strings.Fields(text), " "); strings.Count(got, "assay run ")+strings.Count(got, "assay report ") != strings.Count(got, "--store '/data/my runs.db'") {
		t.Errorf("%s: a command does not name the store:\n%s", name, text)
	}
}

// A pick whose database is in memory says so: nobody is to take it for a faster file.
func TestPickInMemory(t *testing.T) {
	run, trials := readsOf(8, "mattn", "modernc")
	for i := range trials {
		if c := trials[i].Cell; c.Profile == "web" && c.Operation != "insert" {
			trials[i].Settings = append(trials[i].Settings, assay.Setting{Name: "memory", Effective: "1"})
		}
	}
	trials = slices.DeleteFunc(trials, func(trial assay.Trial) bool { return trial.Cell.Operation == "insert" })
	r := mustReport(t, run, trials)
	var screen, page strings.Builder
	must(t, errors.Join(r.WriteScreen(&screen, Screen{Width: 100}), r.Write(&page, "text")))
	const want = "the data of mattn with profile web are in memory, and end with the program"
	for name, text := range map[string]string{"screen": screen.String(), "report": page.String()} {
		if got := strings.Join(strings.Fields(text), " "); !strings.Contains(got, want) {
			t.Errorf("%s: no %q in\n%s", name, want, text)
		}
	}
}

// A figure of too few launches says so where no mark of what is undecided does.
func TestFewLaunchesOfOneTarget(t *testing.T) {
	for launches, want := range map[int]bool{1: true, 6: false} {
		r := mustReport(t, plainRun("mattn"), analysistest.Launches(cellOf("point-read", "mattn", "web", ""), launches, 9000, 1))
		var out strings.Builder
		must(t, r.WriteScreen(&out, Screen{Width: 80}))
		if got := strings.Contains(out.String(), "few-launches"); got != want {
			t.Errorf("%d launches: got few-launches %v, want %v in\n%s", launches, got, want, out.String())
		}
	}
}

// Operations whose names begin alike have lines that can be told apart: names are whole
// where the columns leave room, and else what is cut off is not their end.
func TestLabelsStayApart(t *testing.T) {
	m := &matrix{columns: make([]analysis.Column, 1)}
	for _, end := range []string{"1_to_1_records", "1_to_n_records", "1_to_n_records 1M"} {
		m.lines = append(m.lines, matrixLine{label: "eager_loading_single_query_with_" + end, entries: make([]matrixEntry, 1)})
	}
	for width, label := range map[int]int{60: 49, 40: 38, 30: 28} {
		seen := map[string]bool{}
		for _, l := range m.lines {
			seen[l.render(nil, m.labelWidth(Screen{Width: width}), nil, false)] = true
		}
		if got := m.labelWidth(Screen{Width: width}); got != label || len(seen) != 3 {
			t.Errorf("%d columns: got %d for %q, want %d for 3 lines", width, got, slices.Sorted(maps.Keys(seen)), label)
		}
	}
}

// Columns come closer where names have too little room, and only there.
func TestNamesBeforeSpaces(t *testing.T) {
	m := &matrix{columns: make([]analysis.Column, 3), lines: []matrixLine{{label: "unprepared-read, 100k rows", entries: slices.Repeat([]matrixEntry{{text: "1.35x"}}, 3)}}}
	for width, want := range map[int]string{
		47: "unprepared-read, 100k rows  1.35x  1.35x  1.35x",
		46: "unprepared-read, 100k rows 1.35x 1.35x 1.35x",
		44: "unprepared-read, 100k rows 1.35x 1.35x 1.35x",
		43: "unprepared-r…d, 100k rows 1.35x 1.35x 1.35x",
	} {
		if got := m.render(Screen{Width: width}, 10); got[len(got)-1] != want {
			t.Errorf("%d columns: got %q, want %q", width, got, want)
		}
	}
}

// Colours say nothing that the marks do not, and no text of others moves the
// terminal's cursor.
func TestScreenColors(t *testing.T) {
	run, trials := analysistest.SampleRun()
	run.Plan, run.ID = "a\x1b[2Jplan", "r\x1b]0;title"
	for _, target := range run.Targets {
		run.Options.Drivers = append(run.Options.Drivers, target.Driver+"\x1b[1m")
	}
	r := mustReport(t, run, trials)
	var plain, colored strings.Builder
	for out, color := range map[*strings.Builder]bool{&plain: false, &colored: true} {
		must(t, r.WriteScreen(out, Screen{Width: 80, Color: color}))
	}
	if strings.ContainsRune(plain.String(), '\x1b') {
		t.Errorf("got a control character without colours in\n%q", plain.String())
	}
	if !strings.Contains(colored.String(), "\x1b[31m") {
		t.Errorf("got no red for what did not end ok in\n%q", colored.String())
	}
	without := strings.NewReplacer("\x1b[31m", "", "\x1b[32m", "", "\x1b[33m", "", "\x1b[0m", "").Replace(colored.String())
	if got, want := strings.Join(strings.Fields(without), " "), strings.Join(strings.Fields(plain.String()), " "); got != want {
		t.Errorf("got with colours\n%s\nwant what it is without\n%s", got, want)
	}
}

func TestNoCgoSentence(t *testing.T) {
	for want, cost := range map[string]stat.Interval{
		"Without cgo: a, 1.50x [1.20, 1.80] slower in these 2 tables, each once; not your mix.":                  {N: 2, Center: 1.5, Low: 1.2, High: 1.8},
		"Without cgo: a, 2.00x [1.60, 2.50] faster in this table.":                                               {N: 1, Center: 0.5, Low: 0.4, High: 0.625},
		"Without cgo: a, 1.10x [0.950, 1.30] of its time in these 2 tables, each once; not your mix: undecided.": {N: 2, Center: 1.1, Low: 0.95, High: 1.3},
	} {
		if got := noCgoSentence(analysis.Alternative{Name: "a", Cost: cost}); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

func TestPickSentence(t *testing.T) {
	pick := analysis.Suggestion{Best: []analysis.Candidate{{Row: &analysis.Row{Driver: "a"}}}, Leads: 4, Decided: 4, Loss: 2}
	for undecided, want := range map[int]string{
		0: "Use a: fastest or tied in 4 of 4 comparisons.",
		3: "Use a: fastest or tied in 4 of 7 comparisons (3 undecided), elsewhere at most 2.00x slower (95 % bound).",
	} {
		pick.Undecided = undecided
		if got := suggestionSentence(pick, true); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	pick.Undecided, pick.Loss = 3, 1
	if got, want := suggestionSentence(pick, true), "Use a: fastest or tied in 4 of 7 comparisons (3 undecided)."; got != want {
		t.Errorf("that it is not slower anywhere: got %q, want %q", got, want)
	}
}

// Where figures are read stands of what they are, where that is so: on the screen below the matrix,
// and in the report above the tables.
func TestFiguresSayWhatTheyAreOf(t *testing.T) {
	const turns, reads = "alone, writes take up to 20 % less", "reads have no writer beside them"
	const others = "reads but those of app have no writer beside them"
	sqlite := func(operation string, clients, processes int) []assay.Trial {
		cell := analysistest.Cell(operation, "a", "web")
		cell.Clients, cell.Processes = clients, processes
		return analysistest.Launches(cell, 3, 1000, 1)
	}
	write := func(trials []assay.Trial) []assay.Trial { return analysistest.Durable(trials, assay.Power, "2") }
	store := analysistest.Change(write(sqlite("put", 1, 1)), func(t *assay.Trial) { t.Cell.Driver, t.Cell.Engine = "store", "bbolt" })
	app := analysistest.Change(write(sqlite("app", 8, 1)), func(t *assay.Trial) {
		t.Settings = append(t.Settings, assay.Setting{Name: "a", Connection: "reader-1..reader-4 (4)", Effective: "1"}, assay.Setting{Name: "a", Connection: "writer-1", Effective: "1"})
	})
	for name, c := range map[string]struct {
		trials []assay.Trial
		want   []string
	}{
		"a mix":          {app, nil},
		"beside a mix":   {append(sqlite("get", 1, 1), app...), []string{others}},
		"both":           {append(sqlite("get", 1, 1), write(sqlite("put", 1, 1))...), []string{turns, reads}},
		"reads":          {sqlite("get", 1, 1), []string{reads}},
		"writes":         {write(sqlite("put", 1, 1)), []string{turns}},
		"clients":        {write(sqlite("put", 8, 1)), nil},
		"processes":      {write(sqlite("put", 1, 4)), nil},
		"beside a store": {append(write(sqlite("put", 1, 1)), store...), nil}, // which cannot be paused
		"no figure":      {[]assay.Trial{analysistest.Ended(analysistest.Cell("get", "a", "web"), assay.Failed, "no")}, nil},
	} {
		r := mustReport(t, analysistest.PlainRun, c.trials)
		var screen, text, page bytes.Buffer
		must(t, errors.Join(r.WriteScreen(&screen, Screen{Width: 100}), r.WriteText(&text, 100), r.Write(&page, "html")))
		for format, got := range map[string]string{"screen": screen.String(), "report": text.String(), "page": page.String()} {
			words := strings.Join(strings.Fields(got), " ")
			for _, says := range []string{turns, reads, others} {
				if has, want := strings.Contains(words, says), slices.Contains(c.want, says); has != want {
					t.Errorf("%s, %s: %q stands there: %t, want %t\n%s", name, format, says, has, want, got[:min(len(got), 3000)])
				}
			}
		}
	}
}

// The DSN of a mix that has one writing connection is not all that it takes.
func TestSingleWriter(t *testing.T) {
	for _, test := range []struct {
		engine      string
		connections []string // as runs name them
		want        bool
	}{
		{"sqlite", []string{"reader-1..reader-4 (4)"}, false}, {"sqlite", []string{"reader-1..reader-4 (4)", "writer-1"}, true}, {"sqlite", []string{"reader-1", "writer-1", "trace"}, true},
		{"sqlite", []string{"reader-1..reader-4 (4)", "writer-1..writer-2 (2)"}, false}, {"sqlite", []string{"reader-1", "writer-1", "writer-2"}, false},
		{"sqlite", []string{"writer-1"}, false}, {"goleveldb", []string{"reader-1..reader-4 (4)", "writer-1"}, false},
	} {
		run := plainRun("mattn", "modernc")
		var trials []assay.Trial
		for i, driver := range []string{"mattn", "modernc"} {
			c := cellOf("mix", driver, "web", "")
			c.Clients, c.Pool, c.Idle, c.Engine = 8, 4, 4, test.engine
			trials = append(trials, analysistest.Change(analysistest.Launches(c, 8, 40000*(1+float64(i)), i+1), func(t *assay.Trial) {
				t.Settings = nil
				for _, name := range test.connections {
					t.Settings = append(t.Settings, assay.Setting{Name: "a", Connection: name, Effective: "1"})
				}
			})...)
		}
		var out strings.Builder
		must(t, mustReport(t, run, trials).WriteScreen(&out, Screen{Width: 100}))
		if got := strings.Contains(out.String(), "SetMaxOpenConns(1)"); got != test.want {
			t.Errorf("%q of %s: got one writer advised %v, want %v:\n%s", test.connections, test.engine, got, test.want, out.String())
		}
	}
}

// Tables that the budget left no time for are named, and take no line of the matrix; CPU time
// that decides is told of.
func TestScreenOfBusyMachine(t *testing.T) {
	var trials []assay.Trial
	for _, operation := range []string{"read", "scan"} {
		for i, driver := range []string{"mattn", "modernc"} {
			launches := analysistest.Launches(cellOf(operation, driver, "web", ""), 6, 1000, i)
			trials = append(trials, analysistest.Change(launches, func(t *assay.Trial) {
				if operation == "scan" {
					*t = assay.Trial{Cell: t.Cell, Outcome: assay.NotRun, Reason: "the budget of 1m30s ended before its turn"}
					return
				}
				t.Figures[assay.ComputePerOp] = 500 * float64(i+1)
			})...)
		}
	}
	r := mustReport(t, plainRun("mattn", "modernc"), trials)
	var out strings.Builder
	must(t, r.WriteScreen(&out, Screen{Width: 100}))
	if got := out.String(); !strings.Contains(got, "Not measured in that time: scan.") || strings.Contains(got, "\nscan ") || !strings.Contains(strings.Join(strings.Fields(got), " "), "CPU time decides 1 of the tables") || !strings.Contains(got, "2.00x") {
		t.Errorf("want scan named once, and read by CPU time:\n%s", got)
	}
}

// Odds are rounded down, end where simulations do, and are not said where they are even less.
func TestOddsWords(t *testing.T) {
	for chance, want := range map[float64]string{0.4: "", 0.6: ", odds about even that", 0.89: ", odds 8 to 1 that", 0.949: ", odds 18 to 1 that", 0.999: ", odds over 19 to 1 that", math.NaN(): ", too few launches for odds"} {
		if got := oddsWords(analysis.Suggestion{Chance: chance}); !strings.HasPrefix(got, want) || (got == "") != (want == "") {
			t.Errorf("%g: got %q, want %q", chance, got, want)
		}
	}
}

// Figures so far are the lines of the screen, in its order and with its names.
func TestFigureLines(t *testing.T) {
	for _, name := range []string{"decided", "http", "sample"} {
		run, trials := screenRuns[name]()
		r := mustReport(t, run, trials)
		var out strings.Builder
		must(t, r.WriteScreen(&out, Screen{Width: 100}))
		lines := r.FigureLines(100, 30)
		if !strings.Contains(out.String(), "\n"+strings.Join(lines, "\n")+"\n") || len(lines) < 3 {
			t.Errorf("%s: got\n%s\nwant a part of\n%s", name, strings.Join(lines, "\n"), out.String())
		}
		if few := r.FigureLines(100, 4); len(few) > 4 {
			t.Errorf("%s: got %d lines in room for 4", name, len(few))
		}
	}
}

// Tables about throughput have the tail of their latency below them, and no others.
func TestTailOfMixes(t *testing.T) {
	for name, want := range map[string]int{"http": 2, "decided": 0} {
		run, trials := screenRuns[name]()
		r := mustReport(t, run, trials)
		got := 0
		for _, l := range r.matrix(r.Answer()).lines {
			if strings.HasSuffix(l.label, ", p99") {
				got++
			}
		}
		if got != want {
			t.Errorf("%s: got %d lines of p99, want %d", name, got, want)
		}
	}
}

// Rows are named in words: what they count, and several clients.
func TestLabels(t *testing.T) {
	cell := func(operation string, clients int, params map[string]string) assay.Cell {
		c := cellOf(operation, "mattn", "web", "")
		c.Clients, c.Pool, c.Params = clients, clients, params
		return c
	}
	var trials []assay.Trial
	for _, c := range []assay.Cell{cell("read", 1, map[string]string{"rows": "100000", "n": "5", "cache": "warm"}),
		cell("read", 1, map[string]string{"rows": "2000000", "n": "6", "cache": "cold"}), cell("app", 8, map[string]string{"rows": "100000", "n": "5", "cache": "warm"})} {
		trials = append(trials, analysistest.Launches(c, 3, 1000, 1)...)
	}
	r := mustReport(t, plainRun("mattn"), trials)
	var got []string
	for _, table := range r.Tables {
		got = append(got, r.label(table))
	}
	slices.Sort(got)
	want := []string{"app, 8 clients", "read, cache=cold, n=6, 2M rows", "read, cache=warm, n=5, 100k rows"}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// Tables that nobody leads take no line from those that somebody does.
func TestRenderLeaders(t *testing.T) {
	m := matrix{lines: []matrixLine{{label: "none"}, {label: "empty"}, {label: "read", leaders: []string{"1 µs* bbolt"}}, {label: "read, p99", tail: true}}}
	want := []string{"", "read  1 µs* bbolt", "  and 2 more, see Details", "  the first one's figure, and who leads; * fastest"}
	if got := m.renderLeaders(Screen{Width: 80}, 4); !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// Picks of several classes of durability, and of one that differ in syncs alone, say for whom
// each is: no two conditions are alike.
func TestPicksSayForWhom(t *testing.T) {
	row := &analysis.Row{Driver: "a"}
	seen := map[string]bool{}
	classes := []assay.Durability{assay.Power, assay.LastCommit, assay.Consistent, assay.Process, assay.None}
	for _, class := range classes {
		for _, syncs := range []bool{true, false} {
			first, _, found := strings.Cut(suggestionSentence(analysis.Suggestion{Durability: class, Syncs: syncs, Best: []analysis.Candidate{{Row: row}}, Leads: 1, Decided: 1,
				Others: []analysis.OtherClass{{Durability: class, Syncs: !syncs, Members: 1}}}, true), ": ")
			if !found || !strings.HasPrefix(first, "Use a if ") || seen[first] {
				t.Errorf("%s: got %q, want a condition of its own", class, first)
			}
			seen[first] = true
		}
	}
}

// What whoever opens a pick has to know stands beside the pick, and not once more further down.
func TestNotesBesidePicks(t *testing.T) {
	var trials []assay.Trial
	for i, driver := range []string{"mattn", "modernc"} {
		c := cellOf("insert", driver, "web", "")
		trials = append(trials, analysistest.Durable(analysistest.Launches(c, 8, 2000*float64(1+i), i+1), assay.Consistent, fmt.Sprint(1+i))...)
		mix := cellOf("mix", driver, "web", "")
		mix.Clients = 8
		trials = append(trials, analysistest.Durable(analysistest.Launches(mix, 8, 9000*float64(1+i), i+3), assay.Consistent, fmt.Sprint(1+i))...)
	}
	for i := range trials {
		trials[i].Figures[assay.SyncsPerOp] = map[string]float64{"mattn": 2, "modernc": 3}[trials[i].Cell.Driver]
		if trials[i].Cell.Operation == "mix" && trials[i].Cell.Driver == "mattn" {
			trials[i].Figures[assay.BusyOp] = 3
		}
	}
	const writers = "one-writer: give writers a pool of their own with one connection (in Go: SetMaxOpenConns(1))."
	run := plainRun("mattn", "modernc")
	for name, c := range map[string]struct {
		timeout string
		want    []string
	}{
		"waits":         {"5000", []string{writers, "busy, mix, 8 clients: 3.00 answers of 'busy' per operation; set busy_timeout.", "unequal-syncs: modernc synchronous=FULL (3.0 syncs per operation), mattn synchronous=NORMAL (2.0 syncs per operation); one class of durability, but different syncs: figures can differ for that alone."}},
		"does not wait": {"0", []string{writers, "busy, mix, 8 clients: answers busy by default, as busy_timeout is 0: 3.00 answers of 'busy' per operation; set busy_timeout.", "unequal-syncs: modernc synchronous=FULL (3.0 syncs per operation), mattn synchronous=NORMAL (2.0 syncs per operation); one class of durability, but different syncs: figures can differ for that alone."}},
	} {
		all := slices.Clone(trials)
		for i := range all {
			all[i].Settings = append(slices.Clone(all[i].Settings), assay.Setting{Name: "busy_timeout", Effective: c.timeout})
		}
		r := mustReport(t, run, all)
		a := r.Answer()
		if got := r.notesOf(a.Lead(), false); !slices.Equal(got, c.want) {
			t.Errorf("%s: got %q, want %q", name, got, c.want)
		}
		brief := []string{writers, "busy, mix, 8 clients: set busy_timeout.", "unequal-syncs: one class of durability, but different syncs: figures can differ for that alone."}
		if got := r.notesOf(a.Lead(), true); !slices.Equal(got, brief) {
			t.Errorf("%s: got %q in brief, want %q", name, got, brief)
		}
		for _, k := range r.know(a, onPage) {
			if strings.HasPrefix(k.text, "busy") || strings.HasPrefix(k.text, "unequal-syncs") {
				t.Errorf("%s: got %q once more", name, k.text)
			}
		}
		var text strings.Builder
		must(t, r.Write(&text, "html"))
		code, _, _ := strings.Cut(text.String()[strings.Index(text.String(), `id="opening0"`):], "</pre>")
		if strings.Contains(code, "busy") || strings.Contains(code, "writers") {
			t.Errorf("%s: got %q to copy, want what opens it alone", name, code)
		}
	}
}

// A pick whose engine has a known fault is never named without it.
func TestKnownBugBesidePick(t *testing.T) {
	var trials []assay.Trial
	for i, driver := range []string{"mattn", "modernc"} {
		trials = append(trials, analysistest.Change(analysistest.Launches(cellOf("read", driver, "web", ""), 8, 2000*float64(1+i), i+1), func(t *assay.Trial) {
			t.Warnings = []assay.Warning{{Code: "known-bug", Evidence: driver + " loses commits", Advice: "use another build"}}
		})...)
	}
	r := mustReport(t, plainRun("mattn", "modernc"), trials)
	if got, want := r.notesOf(r.Answer().Lead(), false), []string{"known-bug, read: mattn loses commits; use another build."}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// Where a screen has no room for all of them, figures come before what notes rest on.
func TestFiguresBeforeEvidenceOfNotes(t *testing.T) {
	for tables, evidence := range map[int]bool{3: true, 14: false} {
		var trials []assay.Trial
		for n := range tables {
			for i, driver := range []string{"mattn", "modernc"} {
				c := cellOf(fmt.Sprintf("insert-%02d", n), driver, "web", "")
				trials = append(trials, analysistest.Durable(analysistest.Launches(c, 8, 2000*float64(1+i), i+1), assay.Consistent, fmt.Sprint(1+i))...)
			}
		}
		for i := range trials {
			trials[i].Figures[assay.SyncsPerOp] = map[string]float64{"mattn": 2, "modernc": 3}[trials[i].Cell.Driver]
		}
		var text strings.Builder
		must(t, mustReport(t, plainRun("mattn", "modernc"), trials).WriteScreen(&text, Screen{Width: minWidth}))
		if rows := strings.Count(text.String(), "\ninsert-"); rows < min(tables, 9) || strings.Contains(text.String(), "3.0 syncs") != evidence {
			t.Errorf("%d tables: got %d in\n%s\nwant %d, and what the note rests on: %v", tables, rows, text.String(), min(tables, 9), evidence)
		}
	}
}
