package crash

import (
	"strings"
	"testing"

	"assay"
	"assay/internal/crash/powercut"
	"assay/kit/process"
)

// sampleReport has a profile that is refuted, one that is not, and a fault that
// could not be tried.
func sampleReport() Report {
	result := func(profile, synchronous string, claimed assay.Durability, fault assay.Fault, counts map[Damage]int) Result {
		r := Result{Task: Task{Driver: "mattn", Profile: profile, Fault: fault}, Identity: Identity{Target: "mattn@v1", Engine: "sqlite", Version: "3.53", Claimed: claimed, Settings: map[string]string{"journal_mode": "wal", "synchronous": synchronous}}, Ending: Ending{Outcome: assay.OK}, Tried: Tried{Counts: counts}}
		for _, n := range counts {
			r.States += n
		}
		return r
	}
	lost := result("full", "2", assay.Power, assay.PowerCut, map[Damage]int{Unharmed: 50, Lost: 9, Corrupt: 1})
	lost.Task.Seed, lost.SlowestNs = 7, 12_345_678
	lost.MaxLost, lost.Worst = 2, &Finding{ID: "abc", Damage: Corrupt, Moment: powercut.Commit, Words: "<integrity_check> said no.", Cut: powercut.Cut{At: 7, Choice: powercut.KeepNone}}
	held := result("normal", "1", assay.Consistent, assay.PowerCut, map[Damage]int{Unharmed: 20, Lost: 40})
	held.ByMoment = map[powercut.Moment]int{powercut.Acked: 20, powercut.MemtableFlush: 25, powercut.Commit: 15}
	held.MaxLost, held.Controls = 12, []Control{{Name: "a", Caught: true}}
	unsupported := Result{Task: Task{Driver: "mattn", Profile: "normal", Fault: assay.FullDisk}, Ending: Ending{Outcome: assay.Unsupported, Reason: "it needs root"}}
	return Report{Title: "quick", Command: "assay crash quick --seed 1", Results: []Result{lost, held, unsupported},
		Replay: func(id string) string { return "assay crash --replay " + id }}
}

// Each format has the counts, the promise of the documentation with its source,
// and the command that shows the counterexample again.
func TestReportFormats(t *testing.T) {
	r := sampleReport()
	for format, wants := range map[string][]string{
		"text": {"target                  profile  claims      power                        full\n", "mattn@v1 (sqlite 3.53)  full     power       50 held, 1 corrupt, 9 lost!  -\n",
			"mattn@v1 (sqlite 3.53)  normal   consistent  20 held, 40 lost             unsupported\n",
			"A power cut: loses up to 12 of the newest commits in 40 of 60 power cuts, never corrupts. Moments: memtable flush 25, acknowledged 20, commit 15.",
			"A power cut: corrupts: the engine's own check fails in 1 of 60 power cuts; loses acknowledged commits in 9; REFUTED: its settings claim power. Keep a backup that you have restored once.",
			"Documented (power): ", "NOT what was seen: a power cut does more than that.", "Documented (consistent): ", "Nothing here contradicts that.",
			"\n    https://www.sqlite.org/pragma.html#pragma_synchronous\n", "corrupt (seed 7, commit, after operation 7, keep none (0 writes))", "Opening it afterwards took 12.3 ms or less.", "\n    assay crash --replay abc\n", "it needs root", "1 of 1 controls that must fail did"},
		"markdown": {"| target | profile | claims | power | full |\n| --- | --- | --- | --- | --- |\n",
			"| mattn@v1 (sqlite 3.53) | full | power | 50 held, 1 corrupt, 9 lost! | - |\n", "journal\\_mode wal, synchronous 2"},
		"html": {`>50 held, 1 corrupt, 9 lost!</td>`, ">20 held, 40 lost</td>", "&lt;integrity_check&gt; said no", "assay crash --replay abc",
			"NOT what was seen", "(seed 7, commit", "took 12.3 ms or less", "quick: what faults do to databases"},
	} {
		var out strings.Builder
		must(t, Formats.Write(&out, format, &r))
		got := out.String()
		if format == "text" {
			got += strings.Join(strings.Fields(got), " ") // where lines are broken is another test's
		}
		for _, want := range wants {
			if !strings.Contains(got, want) {
				t.Errorf("%s: no %q in\n%s", format, want, out.String())
			}
		}
		if strings.Contains(out.String(), "<integrity_check>") && format == "html" {
			t.Error("the words of a worker are in the page as they are")
		}
	}
}

// A driver that could not be built has one result, of no fault: the report says why
// once, beside those of others and where there is no other.
func TestReportOfNoFault(t *testing.T) {
	broken := Result{Task: Task{Driver: "broken", Profile: "full"}, Ending: Ending{Outcome: assay.Failed, Reason: "it does not compile: main.go:3:15: undefined: missing"}}
	worse := Result{Task: Task{Driver: "worse", Profile: "full"}, Ending: Ending{Outcome: assay.Unsupported, Reason: "there is no C compiler"}}
	beside := sampleReport()
	beside.Results = append(beside.Results, broken, Result{Task: Task{Driver: "mattn", Profile: "full", Fault: assay.Kill}, Ending: Ending{Outcome: assay.Unsupported, Reason: "it needs root"}})
	for name, c := range map[string]struct {
		report Report
		want   []string
	}{
		"beside others": {beside, []string{"broken, full: it does not compile: main.go:3:15: undefined: missing"}},
		"alone":         {Report{Title: "quick", Results: []Result{broken, worse}}, []string{"broken, full: it does not compile: main.go:3:15: undefined: missing", "worse, full: there is no C compiler"}},
	} {
		for _, format := range []string{"text", "html"} { // Markdown escapes
			var out strings.Builder
			must(t, Formats.Write(&out, format, &c.report))
			for _, want := range c.want {
				if got := strings.Count(out.String(), want); got != 1 {
					t.Errorf("%s, %s: got %q %d times, want once, in\n%s", name, format, want, got, out.String())
				}
			}
		}
	}
}

// A worker's last words stand in the report as it said them, each on a line of its
// own: that it ended is no cause.
func TestLastWords(t *testing.T) {
	ended := &process.ExitError{Status: "exit status 2", Tail: []string{"panic: no such page", "", "goroutine 1 [running]:"}}
	task := Task{Driver: "mattn", Profile: "web", Fault: assay.PowerCut}
	found := Result{Task: task, Ending: Ending{Outcome: assay.OK}, Tried: Tried{States: 1, Counts: map[Damage]int{Unopened: 1}, Worst: &Finding{ID: "abc", Damage: Unopened, Words: "open: " + ended.Error(), Cut: powercut.Cut{At: 7, Choice: powercut.KeepNone}}}}
	task.Fault = assay.Kill
	failed := Result{Task: task, Ending: Ending{Outcome: assay.Failed, Reason: "prepare: " + ended.Error()}}
	task.Fault = assay.FullDisk
	unsupported := Result{Task: task, Ending: Ending{Outcome: assay.Unsupported, Reason: "hello: " + ended.Error()}}
	r := Report{Title: "quick", Results: []Result{found, failed, unsupported}, Replay: func(id string) string { return "assay crash --replay " + id }}
	for _, format := range Formats.Names() {
		var out strings.Builder
		must(t, Formats.Write(&out, format, &r))
		for _, doing := range []string{"open", "prepare", "hello"} {
			if want := doing + ": worker ended (exit status 2); last lines of stderr:"; strings.Count(strings.Join(strings.Fields(out.String()), " "), want) != 1 {
				t.Errorf("%s: no %q in\n%s", format, want, out.String())
			}
		}
		lines := 0
		for line := range strings.Lines(out.String()) {
			if strings.HasSuffix(strings.TrimSpace(line), "  panic: no such page") || strings.TrimSpace(line) == "panic: no such page" {
				lines++
			}
		}
		if lines != 3 {
			t.Errorf("%s: got the worker's words on %d lines of their own, want 3\n%s", format, lines, out.String())
		}
	}
}

// The line of a result and its sentence say of each kind of damage in how many states it was.
func TestWordsOfAResult(t *testing.T) {
	uncaught := []Control{{Name: "a", Caught: true}, {Name: "b"}}
	for _, c := range []struct {
		counts   map[Damage]int
		controls []Control
		line     string
		advised  bool // to keep a backup
	}{
		{map[Damage]int{Unharmed: 9}, nil, "held in 9 of 9 power cuts", false},
		{map[Damage]int{Unharmed: 1}, nil, "held in 1 of 1 power cut", false},
		{map[Damage]int{Unharmed: 8, Unmade: 1}, nil, "held in 8 of 9 power cuts; in 1 it did not open, cut off while it was created, with nothing acknowledged yet", false},
		{map[Damage]int{Unharmed: 5, Lost: 4}, nil, "loses up to 4 of the newest commits in 4 of 9 power cuts, never corrupts; REFUTED: its settings claim power", false},
		{map[Damage]int{LostLast: 1}, nil, "loses up to the last commit in 1 of 1 power cut, never corrupts; REFUTED: its settings claim power", false},
		{map[Damage]int{Unharmed: 1, Unmade: 1, Lost: 1, Inconsistent: 4, Corrupt: 2}, nil,
			"corrupts: the engine's own check fails in 2 of 9 power cuts; keeps parts of transactions in 4; loses acknowledged commits in 1; " +
				"in 1 it did not open, cut off while it was created, with nothing acknowledged yet; REFUTED: its settings claim power", true},
		{nil, nil, "no state was checked: give it a larger budget", false},
		{map[Damage]int{Unharmed: 9}, uncaught, "void: a control that must fail did not", false},
	} {
		r := Result{Task: Task{Fault: assay.PowerCut}, Identity: Identity{Engine: "sqlite", Claimed: assay.Power}, Ending: Ending{Outcome: assay.OK}, Controls: c.controls, Tried: Tried{Counts: c.counts, MaxLost: c.counts[Lost] + c.counts[LostLast]}}
		for _, n := range c.counts {
			r.States += n
		}
		plain := "A power cut: " + c.line + "."
		if c.advised {
			plain += " Keep a backup that you have restored once."
		}
		if r.Line() != c.line || r.Plain() != plain {
			t.Errorf("%v: got\n%s\n%s\nwant\n%s\n%s", c.counts, r.Line(), r.Plain(), c.line, plain)
		}
	}
}

// A budget is shared by what can be done, and no fault is without a part.
func TestShare(t *testing.T) {
	var tasks []Task
	for _, f := range Faults() {
		if about(f).weight == 0 {
			t.Errorf("%s has no part of the budget", f)
		}
		tasks = append(tasks, Task{Fault: f})
	}
	share(tasks, 2, 100e9)
	total := 0.0
	for _, task := range tasks {
		if total += task.Time.Seconds(); (task.Time == 0) != (Missing(task.Fault, assay.Ext4) != "") {
			t.Errorf("%s has %s, where the machine says %q", task.Fault, task.Time, Missing(task.Fault, assay.Ext4))
		}
	}
	if total < 199 || total > 200 {
		t.Errorf("two lanes share %.1f s, want 200", total)
	}
	// A lane without a task has no time to give, and no task takes longer than all may.
	kill := Task{Fault: assay.Kill}
	for _, tasks := range [][]Task{{kill}, {kill, kill}, {kill, {Fault: assay.FileCut}}} {
		share(tasks, 4, 100e9)
		for _, task := range tasks {
			if task.Time > 100e9 {
				t.Errorf("one of %d tasks has %s of 100 s", len(tasks), task.Time)
			}
		}
	}
}

// Every promise has words, a class and a source, and the first that fits is the
// one of its own settings.
func TestPromises(t *testing.T) {
	for i, p := range promises {
		if p.Says == "" || !strings.HasPrefix(p.Source, "http") || p.Class.Loss() == "" {
			t.Errorf("promise %d is not whole: %+v", i, p)
		}
		r := Result{Identity: Identity{Engine: p.Engine, Settings: map[string]string{}}}
		for name, values := range p.Settings {
			r.Settings[name] = values[len(values)-1]
		}
		if got, ok := r.Documented(); !ok || got.Says != p.Says {
			t.Errorf("%v of %s: got %q, want %q", r.Settings, p.Engine, got.Says, p.Says)
		}
	}
	of := func(engine string, fault assay.Fault, d Damage) *Result {
		return &Result{Task: Task{Fault: fault}, Identity: Identity{Engine: engine, Settings: map[string]string{"sync": "0"}}, Tried: Tried{Counts: map[Damage]int{d: 1}}}
	}
	for r, want := range map[*Result]bool{of("pebble", assay.Kill, Lost): false, of("pebble", assay.PowerCut, Lost): false, of("pebble", assay.PowerCut, Unmade): false,
		of("pebble", assay.Kill, Corrupt): true, of("pebble", assay.PowerCut, Inconsistent): true,
		of("badger", assay.PowerCut, Corrupt): false, of("badger", assay.Kill, Lost): true} { // what is not synced may be gone, and damaged
		p, _ := r.Documented()
		if got := p.Contradicts(r); got != want {
			t.Errorf("%v by %s: documented %+v, contradicted %v, want %v", r.Counts, r.Task.Fault, p, got, want)
		}
	}
	if got, ok := (&Result{Identity: Identity{Engine: "sqlite"}}).Documented(); ok {
		t.Errorf("settings that are not known have the promise %+v", got)
	}
}
