//go:build unix

package runner

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"assay"
	"assay/kit/answer"
	"assay/kit/wire"
)

// caller is a worker with operations of its own, which take as many
// milliseconds as their size, and twice that with full synchronisation.
// caller-lies makes one object less than it says, caller-dies dies of the
// operation save, and caller-uneven does that one much faster, in every other launch half
// as fast. caller-hangs and caller-lies-hangs never end it.
type caller struct {
	name string
	open wire.Open
	ops  map[string]wire.Operation
}

func (c *caller) serve(in io.Reader, out io.Writer) int {
	c.ops = map[string]wire.Operation{}
	say := func(message any) {
		line, err := json.Marshal(message)
		if err != nil {
			panic(err)
		}
		fmt.Fprintf(out, "%s\n", line)
	}
	say(wire.Hello{Type: "hello", Protocol: wire.Protocol, Capabilities: []string{wire.CapCall}, Calls: []string{"create", "save"},
		Target: wire.Target{Driver: c.name, DriverVersion: "v1", Engine: "sqlite", EngineVersion: "3.0.0"}})
	lines := bufio.NewReader(in)
	for {
		line, err := lines.ReadBytes('\n')
		if err != nil {
			return 0
		}
		var request struct{ wire.Envelope }
		if err := json.Unmarshal(line, &request); err != nil {
			panic(err)
		}
		say(map[string]any{"type": "ok", "id": request.ID, "body": c.answer(request.Type, line)})
		if request.Type == wire.TypeClose {
			return 0
		}
	}
}

func (c *caller) answer(kind string, line []byte) any {
	read := func(into any) {
		if err := json.Unmarshal(line, into); err != nil {
			panic(err)
		}
	}
	switch kind {
	case wire.TypeOpen:
		read(&c.open)
		return wire.Opened{DSN: c.open.Path}
	case wire.TypeSettings:
		return wire.SettingsRead{Connections: []wire.Connection{{Name: "writer-1", Settings: c.settings()}, {Name: "writer-2", Settings: c.settings()}}}
	case wire.TypePrepare:
		var request wire.Prepare
		read(&request)
		c.ops[request.Operation.Name] = request.Operation
		return wire.Prepared{}
	case wire.TypeMeasure:
		var request wire.Measure
		read(&request)
		return c.measure(c.ops[request.Operation].Steps[0], request)
	case wire.TypeVerify:
		var request wire.Verify
		read(&request)
		return c.verify(c.ops[request.Operation].Steps[0])
	}
	return nil
}

func (c *caller) settings() map[string]string {
	all := map[string]string{"journal_mode": "delete", "synchronous": "2"}
	maps.Copy(all, c.open.Settings)
	return all
}

func (c *caller) measure(step wire.Step, request wire.Measure) wire.Measured {
	if c.name == "caller-dies" && step.Call == "save" {
		fmt.Fprintln(os.Stderr, "killed by save")
		os.Exit(9)
	}
	if strings.HasSuffix(c.name, "hangs") && step.Call == "save" {
		time.Sleep(time.Hour)
	}
	each := int64(step.N) * 1e6
	if c.open.Settings["synchronous"] != "1" {
		each *= 2
	}
	if c.name == "caller-uneven" && step.Call == "save" {
		each = each / 20 * (1 + instances(c.name)%2)
	}
	time.Sleep(time.Duration(each * request.Operations)) // what it reports must have passed
	return wire.Measured{Operations: request.Operations, Executed: request.Operations, Nanos: each * request.Operations,
		Counters: wire.Counters{CPU: 1, Peak: 1}, Histogram: [][2]int64{{wire.Bucket(each), request.Operations}}}
}

// instances is how many instances of a worker there were.
func instances(worker string) (n int64) {
	text, err := os.ReadFile(os.Getenv(logVariable))
	if err != nil {
		panic(err)
	}
	for line := range bytes.Lines(text) {
		var a asked
		if json.Unmarshal(line, &a) == nil && a.Worker == worker && a.Kind == wire.TypeOpen { // another worker may be writing the last line
			n++
		}
	}
	return n
}

func (c *caller) verify(step wire.Step) wire.Verified {
	made := int64(10 * step.N)
	if strings.HasPrefix(c.name, "caller-lies") {
		made--
	}
	digest := answer.New(step.Returns)
	if err := digest.Row([]any{step.Call, made}); err != nil {
		panic(err)
	}
	return wire.Verified{Digest: digest.Sum(), Rows: 1}
}

const calls = `
name: calls
drivers: [DRIVERS]
reference: caller/plain
pool: 2
profiles: {plain: {}, tuned: {synchronous: normal}}
workload: {name: app, params: {n: 3}}
operations:
  create: {call: create, answer: "SELECT 'create', 10 * :n", changes: true, count: 2}
  save: {call: save, answer: "SELECT 'save', 10 * :n", transaction: 1}
  total: {sum: calls}
`

// told is what became of cells of a launch: milliseconds, or the outcome.
func told(trials []assay.Trial) map[string]string {
	all := map[string]string{}
	for _, t := range trials {
		text := fmt.Sprintf("%g %s", t.Figures[assay.NsPerOp]/1e6, t.Durability)
		if t.Outcome != assay.OK {
			text = string(t.Outcome) + ": " + t.Reason
		}
		if t.Twin {
			continue
		}
		all[t.Cell.Driver+" "+t.Cell.Operation+" "+t.Cell.Profile] = strings.TrimSpace(text)
	}
	return all
}

// Calls run one after the other in one process, and are summed.
func TestCalls(t *testing.T) {
	b := newBench(t, strings.Replace(calls, "DRIVERS", "caller", 1))
	b.Launches, b.Baseline.Profile = 1, "plain"
	asked := b.run(t)
	want := map[string]string{
		"caller create plain": "6 last-commit", "caller save plain": "6", "caller total plain": "12 last-commit",
		"caller create tuned": "3 last-commit", "caller save tuned": "3", "caller total tuned": "6 last-commit",
	}
	if got := told(b.trials); !maps.Equal(got, want) {
		t.Errorf("got  %v\nwant %v", got, want)
	}
	const life = "open settings prepare measure verify prepare measure verify settings close"
	if got := lives(asked); !slices.Equal(slices.Compact(got), []string{life}) {
		t.Errorf("lives of workers: %q", got)
	}
	for _, trial := range b.trials {
		if trial.Cell.Operation == "create" && (trial.Samples[0].Operations != 2 || trial.Digest == "") {
			t.Errorf("%+v", trial)
		}
		if trial.Cell.Operation == "total" && (trial.DSN != "{{path}}" || trial.Checked != assay.CheckAnswers) {
			t.Errorf("the sum has the DSN %q and the check %q, want those of its calls", trial.DSN, trial.Checked)
		}
	}
}

// A wrong answer, or a process that dies, costs its call and the sum.
func TestCallsFail(t *testing.T) {
	b := newBench(t, strings.Replace(strings.Replace(calls, "DRIVERS", "caller, caller-lies, caller-dies", 1), ", tuned: {synchronous: normal}", "", 1))
	b.Launches = 1
	b.run(t)
	got := told(b.trials)
	for cell, want := range map[string]string{
		"caller total plain":       "12 last-commit",
		"caller-lies create plain": "wrong-answer: the answers to the first 1 of create have digest",
		"caller-lies save plain":   "wrong-answer: the answers",
		"caller-lies total plain":  "wrong-answer: create: the answers",
		"caller-dies create plain": "6 last-commit",
		"caller-dies save plain":   "failed: measure: worker ended (exit status 9); last lines of stderr:\n  killed by save",
		"caller-dies total plain":  "failed: save: measure: worker ended",
	} {
		if !strings.HasPrefix(got[cell], want) {
			t.Errorf("%s: %q, want %q", cell, got[cell], want)
		}
	}
}

// Where the budget ends in a later call, an earlier one is kept if it went wrong, and else is
// not measured: nothing has read its settings back.
func TestCallsBeforeTheBudgetEnds(t *testing.T) {
	b := newBench(t, strings.NewReplacer("DRIVERS", "caller-hangs, caller-lies-hangs", "caller/plain", "caller-hangs", ", tuned: {synchronous: normal}", "").Replace(calls))
	b.Launches, b.Budget = 1, 1500*time.Millisecond
	b.run(t)
	got := map[string]assay.Outcome{}
	for _, trial := range b.trials {
		if !trial.Twin && trial.Cell.Operation == "create" {
			got[trial.Cell.Driver] = trial.Outcome
		}
	}
	if got["caller-hangs"] != assay.NotRun || got["caller-lies-hangs"] == assay.OK {
		t.Errorf("got %v, want no call that is ok", got)
	}
}

// A sum of which a call is not measured is none, and runs nothing itself.
func TestSumOfSome(t *testing.T) {
	for _, left := range [][]string{{"create", "total"}, {"total"}} {
		b := newBench(t, strings.Replace(calls, "DRIVERS", "caller", 1))
		b.Launches = 1
		b.Cases = slices.DeleteFunc(b.Cases, func(c assay.Case) bool { return !slices.Contains(left, c.Cell.Operation) })
		r, err := Prepare(t.Context(), b.Config)
		must(t, err)
		must(t, r.Run(t.Context()))
		if got, want := told(b.trials)["caller total plain"], "not-run: no launch has all operations of the sum"; got != want {
			t.Errorf("of %v: got %s, want %s", left, got, want)
		}
	}
}

// Calls are for workers that have them, and those for nothing else.
func TestCallsUnsupported(t *testing.T) {
	b := newBench(t, strings.Replace(calls, "DRIVERS", "caller, honest", 1))
	b.Launches = 1
	b.run(t)
	if got := told(b.trials)["honest create plain"]; got != "unsupported: honest has no operations of its own that a plan could call" {
		t.Errorf("a call: %s", got)
	}
	b = newBench(t, "name: p\ndrivers: [honest, caller]\nworkload: {schema: CREATE TABLE t (id)}\noperations: {read: {sql: SELECT 1}}\n")
	b.Launches = 1
	b.run(t)
	if got := told(b.trials)["caller read default"]; got != "unsupported: caller runs operations of its own only, which a plan names by call" {
		t.Errorf("SQL: %s", got)
	}
}
