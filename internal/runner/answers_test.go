//go:build unix

package runner

import (
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"assay"
)

// asking are operations that read, alone and beside changes.
const asking = `  read: {sql: "SELECT id, hp FROM monster WHERE id = ?", args: "SELECT random(1, 100)", rows: 1, returns: [int, int]}
  reads: {sql: "SELECT id, hp FROM monster WHERE id = ?", args: "SELECT random(1, 100)", rows: 1, returns: [int, int], clients: CLIENTS, pool: 4, count: 200}
  all: {sql: "SELECT id, hp FROM monster", rows: 100, returns: [int, int], clients: CLIENTS, count: 40}
  insert: {sql: "INSERT INTO monster (id, hp) VALUES (?, ?)", args: "SELECT 100 + :i, random(1, 99)", rows: 1, only: mix}
  mixed: {mix: {read: 1}, clients: CLIENTS, pool: 4, count: 200}
  changes: {mix: {read: 80, insert: 20}, clients: CLIENTS, pool: 4, busy: retry, count: 200}
`

// What the clients of the measured part read is compared with what is right, while
// they work at the same time: a worker that is right where it is verified, or as
// long as one client works, has wrong answers. One that does not tell what they
// read is verified by one client, and that is said.
func TestAnswersOfTheMeasuredPart(t *testing.T) {
	for clients, drivers := range map[string]map[string]assay.Outcome{
		"1": {"honest": assay.OK, mute: assay.OK, wrongBeside: assay.OK, wrongInside: assay.WrongAnswer},
		"4": {"honest": assay.OK, mute: assay.OK, wrongBeside: assay.WrongAnswer, wrongInside: assay.WrongAnswer},
	} {
		names := strings.Join(slices.Sorted(maps.Keys(drivers)), ", ")
		b := newBench(t, strings.Replace(header, "honest, second", names, 1)+strings.ReplaceAll(asking, "CLIENTS", clients))
		launchOnce(t, &b.Config)
		for driver, want := range drivers {
			t.Run(driver+" with "+clients, func(t *testing.T) {
				seen := map[string]bool{}
				for _, trial := range b.of(driver) {
					name := trial.Cell.Operation
					seen[name] = true
					checked, outcome := assay.CheckSample, want
					if driver == mute {
						checked = assay.CheckAnswers
					}
					if name == "changes" {
						checked = assay.CheckKeys
					}
					if told := uncompared(trial) == ""; outcome == assay.OK && told != (driver != mute || name != "changes") {
						t.Errorf("%s: got the doubt %q", name, uncompared(trial))
					}
					if name == "read" && driver == wrongBeside {
						outcome = assay.OK // it has one client
					}
					if trial.Outcome != outcome || outcome == assay.OK && trial.Checked != checked {
						t.Errorf("%s: got %s (%s), checked %q; want %s, %q", name, trial.Outcome, trial.Reason, trial.Checked, outcome, checked)
					}
					if outcome != assay.OK && !strings.Contains(trial.Reason, " are not all right: ") {
						t.Errorf("%s: got %s, want that answers are not right", name, trial.Reason)
					}
				}
				if len(seen) != 5 {
					t.Errorf("measured were %v, want 5 operations", seen)
				}
			})
		}
	}
}

// A sample lies within what was measured, and each time elsewhere; its answers are
// those of its positions.
func TestSampleOf(t *testing.T) {
	b := newBench(t, header+read)
	r, err := Prepare(t.Context(), b.Config)
	must(t, err)
	j := r.groups[0].members[0].jobs[0]
	length := int64(j.trace.Length)
	from, to := length-50, length+250 // around the end
	places := map[int64]bool{}
	for range 20 {
		s, err := r.sampleOf(t.Context(), j, from, to, time.Microsecond)
		if err != nil || s == nil {
			t.Fatalf("got %v, %v, want a sample", s, err)
		}
		places[s.start] = true
		if n := int64(len(s.units)); n != verifiedOperations || s.start < from || s.start+n > to {
			t.Errorf("got %d positions from %d on, want %d from %d to %d", n, s.start, verifiedOperations, from, to)
		}
		u := s.units[len(s.units)-1]
		want, err := j.data.Expect(t.Context(), j.Operation, j.trace, u.position, 1)
		if err != nil || u.digest != want.Digest || int64(u.position) != (s.start+verifiedOperations-1)%length {
			t.Errorf("the last one: got position %d with %.12s, want %d with %.12s (%v)", u.position, u.digest, (s.start+verifiedOperations-1)%length, want.Digest, err)
		}
	}
	if len(places) < 5 {
		t.Errorf("got samples at %d places, want many", len(places))
	}
	r.config.Timeout = 1
	late, err := r.sampleOf(t.Context(), j, from, to, time.Microsecond)
	trial := assay.Trial{Checked: assay.CheckAnswers}
	if err == nil {
		err = (&instance{}).verifySample(t.Context(), j, late, &trial)
	}
	if err != nil || trial.Checked != assay.CheckUnknown {
		t.Errorf("where the right answers take too long: got %q (%v), want that nothing is claimed", trial.Checked, err)
	}
	r.config.Timeout = time.Minute
	if again, err := r.sampleOf(t.Context(), j, from, to, time.Microsecond); err != nil || !again.late {
		t.Errorf("once more: got %+v (%v), want that it is not asked for again", again, err)
	}
	clear(r.prepared.late)
	if s, err := r.sampleOf(t.Context(), j, 7, 9, time.Second); err != nil || len(s.units) != 1 || s.start != 7 && s.start != 8 {
		t.Errorf("of slow operations: got %+v (%v), want one position, 7 or 8", s, err)
	}
	// Where a block is one unit, its answers are found once: with the second one there is no time for it.
	first, err := r.sampleOf(t.Context(), j, 7, 8, time.Microsecond)
	must(t, err)
	r.config.Timeout = 1
	if again, err := r.sampleOf(t.Context(), j, 7, 8, time.Microsecond); err != nil || again.late || again.units[0] != first.units[0] {
		t.Errorf("of one unit, again: got %+v (%v), want %+v", again, err, first.units[0])
	}
	if other, err := r.sampleOf(t.Context(), j, 8, 9, time.Microsecond); err != nil || !other.late {
		t.Errorf("of another unit: got %+v (%v), want none in time", other, err)
	}
}

func TestWarmOperations(t *testing.T) {
	for name, test := range map[string]struct {
		op   assay.Operation
		want int
	}{
		"a tenth":                    {assay.Operation{Count: 1000}, 100},
		"of whole transactions":      {assay.Operation{Count: 1000, Transaction: 300}, 300},
		"one transaction":            {assay.Operation{Count: 1000, Transaction: 1000, Changes: true}, 1000},
		"one that reads":             {assay.Operation{Count: 1000, Transaction: 1000}, 1000},
		"one of a store":             {assay.Operation{Count: 1000, Transaction: 1000, Changes: true, Steps: []assay.Step{{KV: "put"}}}, 0},
		"what no cache has seen yet": {assay.Operation{Count: 1000, Cold: true}, 0},
	} {
		if got := warmOperations(test.op); got != test.want {
			t.Errorf("%s: got %d, want %d", name, got, test.want)
		}
	}
}

// SQL that fails behind the positions that are verified is the outcome of its cell,
// in the worker's words where the worker says so, and does not end the run.
func TestSampleThatFails(t *testing.T) {
	text := header + `  grows: {sql: "SELECT abs(-9223372036854775807 - (? > 300))", args: SELECT 100 + :i, rows: 1, returns: [int], only: mix}
  fails: {mix: {grows: 1}, clients: 4, count: 2000}
`
	b := newBench(t, text)
	b.Cases = slices.DeleteFunc(b.Cases, func(c assay.Case) bool { return c.Cell.Operation != "fails" })
	launchOnce(t, &b.Config)
	if len(b.trials) < 2 {
		t.Errorf("got %d trials, want one of each driver", len(b.trials))
	}
	for _, trial := range b.trials {
		if trial.Outcome != assay.Failed || !strings.Contains(trial.Reason, " operations failed; the first: ") {
			t.Errorf("%s: got %s (%s), want that operations failed", trial.Cell.Driver, trial.Outcome, trial.Reason)
		}
	}
	r, err := Prepare(t.Context(), b.Config)
	must(t, err)
	j := r.groups[0].members[0].jobs[0]
	s, err := r.sampleOf(t.Context(), j, 1000, 2000, time.Microsecond)
	if err != nil {
		t.Fatalf("got %v, which ends the run", err)
	}
	trial := assay.Trial{Outcome: assay.OK}
	if err := end(&trial, (&instance{}).verifySample(t.Context(), j, s, &trial)); err != nil || trial.Outcome != assay.Failed || !strings.Contains(trial.Reason, "integer overflow") {
		t.Errorf("got %s (%s, %v), want failed by an integer overflow", trial.Outcome, trial.Reason, err)
	}
}

// An answer that is another one each time is counted, and no driver is blamed for
// it: alone, in a mix, behind a mix that changes data.
func TestAnswersThatVary(t *testing.T) {
	text := header + `  chance: {sql: "SELECT random()", rows: 1, returns: [int]}
  read: {sql: "SELECT id, hp FROM monster WHERE id = ?", args: "SELECT random(1, 100)", rows: 1, returns: [int, int], only: mix}
  insert: {sql: "INSERT INTO monster (id, hp) VALUES (?, ?)", args: "SELECT 100 + :i, random(1, 99)", rows: 1, only: mix}
  both: {mix: {read: 1, chance: 1}, clients: 2, count: 400}
  changes: {mix: {read: 20, chance: 40, insert: 40}, count: 200}
`
	b := newBench(t, text)
	launchOnce(t, &b.Config)
	want := map[string]assay.Check{"chance": assay.CheckRows, "both": assay.CheckSample, "changes": assay.CheckKeys}
	for _, trial := range b.trials {
		if trial.Outcome != assay.OK || trial.Checked != want[trial.Cell.Operation] {
			t.Errorf("%s: got %s (%s), checked %q; want ok, %q", trial.Cell.Operation, trial.Outcome, trial.Reason, trial.Checked, want[trial.Cell.Operation])
		}
	}
	if len(b.trials) < 2*len(want) {
		t.Errorf("got %d trials, want each operation of both drivers", len(b.trials))
	}
}

// An answer that is missing is not right, and one that nobody knows is not wrong.
func TestCompareAnswers(t *testing.T) {
	for name, c := range map[string]struct {
		got, want []string
		right     bool
	}{
		"alike":   {[]string{"a", "b"}, []string{"a", "b"}, true},
		"another": {[]string{"a", "c"}, []string{"a", "b"}, false},
		"missing": {[]string{"a"}, []string{"a", "b"}, false},
		"unknown": {[]string{"a"}, []string{"a", ""}, true},
	} {
		s := &sample{}
		for _, digest := range c.want {
			s.units = append(s.units, unitAnswer{digest: digest})
		}
		if err := compareAnswers("behind", &job{}, s, c.got); (err == nil) != c.right {
			t.Errorf("%s: got %v, want that it is right: %v", name, err, c.right)
		}
	}
}
