package store

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"assay"
	"pgregory.net/rapid"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// hostile draws text that breaks careless quoting, and any other text.
var hostile = rapid.OneOf(
	rapid.String(),
	rapid.SampledFrom([]string{"", "'); DROP TABLE trial; --", "\x00a\x00", "null", "[]", `"\`, "\u2028</script>", "{{path}}", "\r\n\t", "é💥\U0010ffff", "2026-11-20T15:30:00Z"}),
)

// instants are in UTC, without a monotonic clock, or zero.
var instants = rapid.Custom(func(t *rapid.T) time.Time {
	if rapid.Bool().Draw(t, "zero") {
		return time.Time{}
	}
	seconds := rapid.Int64Range(-62_000_000_000, 250_000_000_000).Draw(t, "seconds")
	return time.Unix(seconds, rapid.Int64Range(0, 999_999_999).Draw(t, "nanoseconds")).UTC()
})

// generator knows how to draw what rapid alone would draw differently.
func generator() rapid.MakeConfig {
	return rapid.MakeConfig{Types: map[reflect.Type]*rapid.Generator[any]{
		reflect.TypeFor[string]():         hostile.AsAny(),
		reflect.TypeFor[time.Time]():      instants.AsAny(),
		reflect.TypeFor[assay.Baseline](): rapid.Map(hostile, assay.ParseBaseline).AsAny(),
		reflect.TypeFor[float64]():        rapid.Float64().AsAny(), // never NaN
	}}
}

func TestTrialRoundTrip(t *testing.T) {
	s := fresh(t)
	made := rapid.MakeCustom[assay.Trial](generator())
	n := 0
	rapid.Check(t, func(rt *rapid.T) {
		n++
		id := fmt.Sprint(n)
		must(t, s.Begin(t.Context(), start(id, "quick", 0)))
		want := rapid.SliceOfN(made, 1, 3).Draw(rt, "trials")
		for i, trial := range want {
			want[i].Group += fmt.Sprint(i) // no two are the same trial
			want[i].Run = ""               // whoever analyzes several runs together sets it
			trial = want[i]
			must(t, s.Append(t.Context(), id, trial))
		}
		if diff := cmp.Diff(want, trials(t, s, id), sameTime); diff != "" {
			rt.Fatalf("(-want +got)\n%s", diff)
		}
	})
}

// Files of earlier versions have the ablation in the names of groups, and later
// ones must not have it elsewhere. A group of the ablation is another one than the
// run's own of the same name.
func TestGroupsOfTheAblation(t *testing.T) {
	s := fresh(t)
	must(t, s.Begin(t.Context(), start("run", "quick", 0)))
	must(t, s.Append(t.Context(), "run", assay.Trial{Group: "g", Ablation: true, Launch: 1}))
	must(t, s.Append(t.Context(), "run", assay.Trial{Group: "g", Launch: 1}))
	var name string
	must(t, s.db.QueryRow("SELECT group_name FROM trial ORDER BY id").Scan(&name))
	if got := trials(t, s, "run")[0]; name != "without|g" || got.Group != "g" || !got.Ablation {
		t.Errorf("stored as %q, read as the group %q, ablation %t; want without|g, g, true", name, got.Group, got.Ablation)
	}
}

func TestRunRoundTrip(t *testing.T) {
	s := fresh(t)
	made := rapid.MakeCustom[assay.Run](generator())
	n := 0
	rapid.Check(t, func(rt *rapid.T) {
		n++
		want := made.Draw(rt, "run")
		want.ID = fmt.Sprint("run-", n)
		want.Proofs, want.Imported = nil, false // they are kept apart from runs
		must(t, s.Begin(t.Context(), want))
		got, err := s.Run(t.Context(), want.ID)
		if diff := cmp.Diff(want, got, sameTime); err != nil || diff != "" {
			rt.Fatalf("error %v, (-want +got)\n%s", err, diff)
		}
	})
}

// nil and empty lists and maps are told apart.
func TestNilAndEmpty(t *testing.T) {
	want := []assay.Trial{
		{},
		{Cell: assay.Cell{Params: map[string]string{}}, Figures: map[string]float64{}, Samples: []assay.Sample{},
			Histogram: []assay.Bucket{}, Settings: []assay.Setting{}, Each: []string{}, Warnings: []assay.Warning{}},
	}
	s := fresh(t)
	must(t, s.Begin(t.Context(), start("run", "quick", 0)))
	for _, trial := range want {
		must(t, s.Append(t.Context(), "run", trial))
	}
	if diff := cmp.Diff(want, trials(t, s, "run"), sameTime); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

func TestTimesAreUTC(t *testing.T) {
	s := fresh(t)
	must(t, s.Begin(t.Context(), start("run", "quick", 0)))
	local := time.Date(2026, 11, 20, 16, 30, 0, 1, time.FixedZone("CET", 3600))
	must(t, s.Append(t.Context(), "run", assay.Trial{Started: local}))
	want := []assay.Trial{{Started: time.Date(2026, 11, 20, 15, 30, 0, 1, time.UTC)}}
	if got := trials(t, s, "run"); !reflect.DeepEqual(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

// A loop over trials may end early, use the store, and miss what is appended
// meanwhile.
func TestTrialsWhileWriting(t *testing.T) {
	s := fresh(t)
	must(t, s.Begin(t.Context(), start("run", "quick", 0)))
	for launch := range 3 {
		must(t, s.Append(t.Context(), "run", assay.Trial{Launch: launch}))
	}
	for trial, err := range s.Trials(t.Context(), "run") {
		must(t, err)
		must(t, s.Append(t.Context(), "run", assay.Trial{Launch: trial.Launch + 10}))
	}
	var got []int
	for trial, err := range s.Trials(t.Context(), "run") {
		must(t, err)
		if trial.Launch == 12 {
			break
		}
		got = append(got, trial.Launch)
	}
	if want := []int{0, 1, 2, 10, 11}; !reflect.DeepEqual(got, want) {
		t.Errorf("got launches %v, want %v", got, want)
	}
}

// More trials than are read at a time, of two runs in turn.
func TestTrialsInPages(t *testing.T) {
	s := fresh(t)
	const many = 2*trialsInPage + 1
	must(t, s.Begin(t.Context(), start("a", "quick", 0)))
	must(t, s.Begin(t.Context(), start("b", "quick", 1)))
	for launch := range many {
		trial := assay.Trial{Launch: launch + 1, Figures: map[string]float64{assay.NsPerOp: float64(launch)},
			Settings: []assay.Setting{{Name: "a", Effective: fmt.Sprint(launch)}, {Name: "b"}}}
		must(t, s.Append(t.Context(), "a", trial))
		must(t, s.Append(t.Context(), "b", trial))
	}
	for _, id := range []string{"a", "b"} {
		got := trials(t, s, id)
		if len(got) != many {
			t.Fatalf("run %s: got %d trials, want %d", id, len(got), many)
		}
		for i, trial := range got {
			if trial.Launch != i+1 || trial.Figures[assay.NsPerOp] != float64(i) || len(trial.Settings) != 2 || trial.Settings[0].Effective != fmt.Sprint(i) {
				t.Fatalf("run %s: trial %d is %+v", id, i, trial)
			}
		}
	}
}

// The file's own form, which older files keep whatever the program becomes.
func TestStoredForm(t *testing.T) {
	s := fresh(t)
	s.owner = "boot 1 2 RANDOM"
	run := start("run", "quick", 0)
	run.Seed = 1 << 63
	run.Options = assay.Options{Drivers: []string{"mattn"}, Only: map[string][]string{"clients": {"1"}}, Budget: time.Second, Precision: 0.02}
	run.Host = map[string]string{"cpu": "x"}
	run.Files = map[string]string{"/shop.db": "00ff"}
	run.Targets = []assay.Target{{Driver: "mattn", DriverVersion: "v1", Facts: map[string]string{"cgo": "yes"}, CompileOptions: []string{"A", "B"}}}
	must(t, s.Begin(t.Context(), run))
	must(t, s.Append(t.Context(), "run", assay.Trial{
		Cell: assay.Cell{Plan: "quick", Workload: "monster", Operation: "by-id", Engine: "sqlite", Driver: "mattn", DriverVersion: "v1",
			Build: "ab", Profile: "durable", Clients: 1, Pool: 2, Idle: 3, Statement: "once", Transaction: 100, Rate: 0.5,
			Without: "cache_size", Params: map[string]string{"k": "2"}, AsPublished: true},
		Group: "g", Launch: 1, Twin: true, Mode: assay.Blocks, Outcome: assay.NotApplied, Reason: "mmap_size is 0",
		Figures:   map[string]float64{assay.NsPerOp: 1234.5, assay.P50: 1000},
		Samples:   []assay.Sample{{Operations: 10, Nanos: 20}, {Operations: 30, Nanos: 1 << 62}},
		Histogram: []assay.Bucket{{Upper: 100, Count: 9}},
		Settings: []assay.Setting{{Name: "mmap_size", Connection: "reader-1", Requested: "1", Issued: "mmap_size(1)", Effective: "0"},
			{Name: "cache_size", Connection: "reader-1", Effective: "-2000", Applied: true}},
		Durability: assay.Power, QueryPlan: "SEARCH", DSN: "file:{{path}}", Each: []string{"PRAGMA a"}, Digest: "00ff",
		Warnings: []assay.Warning{{Code: "noise", Evidence: "5 %", Advice: "wait"}},
		Started:  time.Date(2026, 11, 20, 15, 30, 0, 5, time.UTC), Took: 3 * time.Second,
		Noise: assay.Noise{Steal: 0.25, Foreign: 0.125}, Disqualified: true,
	}))
	var text strings.Builder
	for _, table := range []string{"run", "target", "trial", "figure", "setting"} {
		dump(t, s, table, &text)
	}
	golden := filepath.Join("testdata", "stored.golden")
	if *update {
		must(t, os.WriteFile(golden, []byte(text.String()), 0o644))
	}
	want, err := os.ReadFile(golden)
	must(t, err)
	if text.String() != string(want) {
		t.Errorf("got\n%s\nwant\n%s", text.String(), want)
	}
}

// dump writes each value of a table in a line of its own.
func dump(t *testing.T, s *Store, table string, text *strings.Builder) {
	t.Helper()
	rows, err := s.db.Query("SELECT * FROM " + table)
	must(t, err)
	defer rows.Close()
	names, err := rows.Columns()
	must(t, err)
	for rows.Next() {
		values := make([]any, len(names))
		places := make([]any, len(names))
		for i := range values {
			places[i] = &values[i]
		}
		must(t, rows.Scan(places...))
		for i, value := range values {
			fmt.Fprintf(text, "%s.%s = %#v\n", table, names[i], value)
		}
	}
	must(t, rows.Err())
}
