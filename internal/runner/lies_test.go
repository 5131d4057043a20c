//go:build unix

package runner

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"assay"
	"assay/kit/process"
	"assay/kit/wire"
)

// lie is a worker that is right but for what it says of what it measured.
type lie struct {
	measured func(*wire.Measured)     // changes what was measured
	from     int64                    // only of calls that begin at this position or later
	request  func(line []byte) []byte // changes a whole request
	windows  bool                     // only windows show it: a block of a millisecond does not
	kind     string                   // of the requests whose replies change; empty: measure
	reply    func(line []byte) []byte // changes a whole reply
	reason   string                   // part of why its cells failed
	outcome  assay.Outcome            // of its cells; empty: failed
}

// quarterBlock runs its clock at a quarter of its speed: the parts of a block, of which each is
// too short to show it, show it together.
const quarterBlock = "lies-quarter-block"

// lies are faults by the worker's name: each must cost its own cells, and no
// others.
var lies = map[string]lie{
	"lies-fast-clock":  {measured: func(m *wire.Measured) { m.Nanos *= 50 }, reason: "its clock is too fast"},
	"lies-slow-clock":  {measured: func(m *wire.Measured) { time.Sleep(2500 * time.Millisecond) }, reason: "its clock is too slow"},
	"lies-tenth-clock": {windows: true, request: longer(10), measured: func(m *wire.Measured) { m.Nanos /= 10 }, reason: "its clock is too slow"},
	quarterBlock: {windows: true, measured: func(m *wire.Measured) {
		m.Nanos /= 4
		m.Counters.CPU = min(m.Counters.CPU, m.Nanos)
		if len(m.Histogram) > 0 {
			m.Histogram = [][2]int64{{wire.Bucket(m.Nanos / max(1, m.Operations)), m.Operations}}
		}
	}, reason: "its clock is too slow|it lasted"},
	"lies-double-clock":  {windows: true, request: longer(0.5), measured: func(m *wire.Measured) { m.Nanos *= 2 }, reason: "its clock is too fast"},
	"lies-one-operation": {measured: func(m *wire.Measured) { m.Operations, m.Executed, m.Histogram = 1, 1, nil }, reason: "want at least|were asked for"},
	"lies-in-no-time":    {measured: func(m *wire.Measured) { m.Operations, m.Executed, m.Nanos = 1e7, 1e7, 1 }, reason: "it lasted|were asked for"},
	"lies-negative":      {measured: func(m *wire.Measured) { m.Operations = -m.Operations }, reason: "is no possible count"},
	"lies-overflow":      {measured: func(m *wire.Measured) { m.Counters.Allocs = math.MaxInt64 }, reason: "allocs 9223372036854775807 is no possible count"},
	"lies-descending": {measured: func(m *wire.Measured) { m.Histogram = append(m.Histogram, [2]int64{1, 1}) },
		reason: "comes after|was not asked for"},
	"lies-cpu":            {measured: func(m *wire.Measured) { m.Counters.CPU += 1e12 }, reason: "of CPU time"},
	"lies-nothing":        {measured: func(m *wire.Measured) { *m = wire.Measured{} }, reason: "took 0 ns|operations were executed"},
	"lies-infinite":       {reply: swap(`"nanos":`, `"nanos":1e999,"x":`), reason: "its reply does not fit"},
	"lies-nan":            {reply: swap(`"nanos":`, `"nanos":NaN,"x":`), reason: "not a reply"},
	"lies-huge":           {reply: swap(`"executed":`, `"executed":99999999999999999999,"x":`), reason: "its reply does not fit"},
	"lies-fraction":       {reply: swap(`"operations":`, `"operations":0.5,"x":`), reason: "its reply does not fit"},
	"lies-id":             {reply: swap(`"id":`, `"id":7`), reason: "it answered request 7"},
	"lies-garbage":        {reply: func([]byte) []byte { return []byte("\xff\x00garbage\n") }, reason: "not a reply"},
	"lies-bodiless":       {reply: swap(`"body":`, `"x":`), reason: "took 0 ns|operations were executed"},
	"lies-negative-delay": {measured: delayedFor(-1), reason: "delayed_ns -1 is no possible part"},
	"lies-long-delay":     {measured: delayedFor(time.Hour), reason: "is no possible part"},
	"lies-durable":        {kind: wire.TypeOpen, reply: swap(`"body":{`, `"body":{"durability":"very",`), reason: `durability "very" is no class`},
	"lies-settings":       {kind: wire.TypeSettings, reply: swap(`-1"`, `-9","name":"reader-9"`), outcome: assay.NotApplied, reason: "was not read back"},
	"lies-late":           {kind: wire.TypeVerify, from: 1, reply: swap(`"digest":"`, `"digest":"0`), outcome: assay.WrongAnswer, reason: "after measuring, the answers at the positions"},
	"lies-digest":         {kind: wire.TypeVerify, reply: swap(`"digest":"`, `"digest":"0`), outcome: assay.WrongAnswer, reason: "digest 0"},
}

func delayedFor(d time.Duration) func(*wire.Measured) {
	return func(m *wire.Measured) {
		nanos := int64(d)
		m.Delayed = &nanos
	}
}

func swap(what, with string) func([]byte) []byte {
	return func(line []byte) []byte { return bytes.Replace(line, []byte(what), []byte(with), 1) }
}

// longer makes windows longer, as a clock that runs slower does.
func longer(times float64) func([]byte) []byte {
	asked := regexp.MustCompile(`"nanos":(\d+)`)
	return func(line []byte) []byte {
		return asked.ReplaceAllFunc(line, func(found []byte) []byte {
			nanos, err := strconv.ParseFloat(string(found[len(`"nanos":`):]), 64)
			if err != nil {
				panic(err)
			}
			return fmt.Appendf(nil, `"nanos":%.0f`, nanos*times)
		})
	}
}

const (
	// claimsDelays sleeps beside each window, and says that it waited for a processor.
	claimsDelays = "claims-delays"
	// stopsAssay stops this program over its first window, and with it the time of the call
	// goes on.
	stopsAssay = "stops-assay"
	// stallsOnce needs over two seconds more for one of its calls than it measures: by an accident.
	stallsOnce = "stalls-once"
	// missesPhased has the wrong number of rows once in each window with timed phases.
	missesPhased = "misses-phased"
)

// onceOnly reports whether nothing was done under a name before, by any process of the bench.
func onceOnly(name string) bool {
	file, err := os.OpenFile(os.Getenv(logVariable)+"."+name, os.O_CREATE|os.O_EXCL, 0o644)
	return err == nil && file.Close() == nil
}

// beside are workers that say or do something else with what they measured, and are honest
// all the same.
var beside = map[string]func(*wire.Measured){
	claimsDelays: func(m *wire.Measured) {
		time.Sleep(time.Millisecond)
		delayedFor(time.Millisecond)(m)
	},
	stallsOnce: func(*wire.Measured) {
		if onceOnly("stalled") {
			time.Sleep(2500 * time.Millisecond)
		}
	},
	missesPhased: func(m *wire.Measured) {
		if len(m.Phases) > 0 {
			m.Misses, m.Operations = 1, m.Operations-1
		}
	},
	stopsAssay: func(*wire.Measured) {
		if !onceOnly("stopped") {
			return
		}
		stop := fmt.Sprintf("kill -STOP %[1]d; sleep 3; kill -CONT %[1]d", os.Getppid())
		_ = exec.Command("sh", "-c", stop).Start()
		time.Sleep(500 * time.Millisecond) // until it is stopped
	},
}

// lying is where a worker of this name writes its replies.
func lying(name string, in *requests) io.Writer {
	if measured, is := beside[name]; is {
		return liar{lie{measured: measured}, in}
	}
	if l, is := lies[name]; is {
		return liar{l, in}
	}
	if l, is := seconds[name]; is {
		return liar{l, in}
	}
	if name == stalls {
		return os.Stdout
	}
	calm := func(m *wire.Measured) { // whatever else this machine does
		if m.Delayed != nil {
			*m.Delayed = 0
		}
	}
	return liar{lie{measured: calm}, in}
}

type liar struct {
	lie
	in *requests
}

func (l liar) Write(line []byte) (int, error) {
	kind := l.kind
	if kind == "" {
		kind = wire.TypeMeasure
	}
	out := line
	if l.in.last.Type == kind && l.in.start >= l.from && bytes.Contains(line, []byte(`"ok"`)) {
		out = l.change(line)
	}
	_, err := os.Stdout.Write(out)
	return len(line), err
}

func (l liar) change(line []byte) []byte {
	if l.reply != nil {
		return l.reply(line)
	}
	var message struct {
		wire.Envelope
		Body wire.Measured `json:"body"`
	}
	if err := json.Unmarshal(line, &message); err != nil {
		panic(err)
	}
	l.measured(&message.Body)
	changed, err := json.Marshal(message)
	if err != nil {
		panic(err)
	}
	return append(changed, '\n')
}

// What a worker cannot have measured costs its own cells: its neighbours in the
// same launch keep their figures, and the run goes on.
func TestLies(t *testing.T) {
	for mode, operation := range map[assay.Mode]string{assay.Windows: read, assay.Blocks: insert} {
		t.Run(string(mode), func(t *testing.T) {
			drivers := "honest"
			for name := range lies {
				drivers += ", " + name
			}
			b := newBench(t, strings.Replace(header, "honest, second", drivers, 1)+operation)
			b.Launches = 1
			b.run(t)
			for name, l := range lies {
				if (l.from > 0 || l.windows) && mode == assay.Blocks {
					continue // what is late is checked by the state that a block leaves
				}
				if l.outcome == "" {
					l.outcome = assay.Failed
				}
				trials := b.of(name)
				if l.windows && len(trials) > 0 { // a busy machine hides it for a while
					trials = trials[len(trials)-1:]
				}
				if len(trials) == 0 || trials[0].Outcome != l.outcome || !containsAny(trials[0].Reason, l.reason) || len(trials[0].Figures) > 0 && l.outcome != assay.NotApplied {
					t.Errorf("%s: got %+v\nwant one that is %s: %s", name, trials, l.outcome, l.reason)
				}
			}
			if last := b.trials[len(b.trials)-1].Launch; last > 20 {
				t.Errorf("%d launches for cells that cannot be compared, want 2 and those that were disturbed", last)
			}
			for _, trial := range b.of("honest") {
				if trial.Outcome != assay.OK || trial.Figures[assay.NsPerOp] <= 0 {
					t.Errorf("honest: %+v", trial)
				}
			}
		})
	}
}

// containsAny reports whether a text has one of several parts, separated by |.
func containsAny(text, parts string) bool {
	for part := range strings.SplitSeq(parts, "|") {
		if strings.Contains(text, part) {
			return true
		}
	}
	return false
}

// What is measured while assay itself does not run shows nothing of a worker, nor does one
// call that the machine stalls: the launch goes on with what it has not measured yet.
func TestAccidentsAreMeasuredAgain(t *testing.T) {
	for mode, operation := range map[assay.Mode]string{assay.Windows: read, assay.Blocks: insert} {
		t.Run(string(mode), func(t *testing.T) { accident(t, stopsAssay, operation) })
		t.Run(string(mode)+" of a stalled worker", func(t *testing.T) { accident(t, stallsOnce, operation) })
	}
}

func accident(t *testing.T, name, operation string) {
	b := faultyBench(t, name, operation)
	b.Launches = 1
	b.run(t)
	for driver, want := range map[string]int{"honest": 2, name: 1} {
		first := slices.DeleteFunc(b.of(driver), func(trial assay.Trial) bool { return trial.Launch > 1 })
		for _, trial := range first {
			if trial.Outcome != assay.OK {
				t.Errorf("%s: got %s (%s), want ok", driver, trial.Outcome, trial.Reason)
			}
		}
		if len(first) != want {
			t.Errorf("%s: got %d trials of the first launch, want %d", driver, len(first), want)
		}
	}
}

// Where threads have ended, nobody knows for how long they waited for a processor: that calls
// took longer than the worker says is a doubt then, and no failure.
func TestThreadsThatEndLeaveADoubt(t *testing.T) {
	slow, lie := fmt.Errorf("a call of 3 s: %w", wire.ErrSlowClock), errors.New("a lie")
	for _, test := range []struct {
		name    string
		ended   bool
		calls   []error
		want    error // of the last call
		doubted bool
	}{
		{"one call", true, []error{slow}, errPaused, false},
		{"threads live", false, []error{slow, slow}, slow, false},
		{"threads have ended", true, []error{slow, nil, slow}, nil, true},
		{"a fast clock", true, []error{slow, slow, lie}, lie, true},
		{"nothing is slow", true, []error{nil, nil}, nil, false},
	} {
		var o observations
		var got error
		for _, err := range test.calls {
			got = o.excuse("key", wire.Call{Ended: test.ended}, err)
		}
		if got != test.want || (o.slow["key"] == unconfirmed) != test.doubted {
			t.Errorf("%s: got %v and %v, want %v and a doubt: %t", test.name, got, o.slow["key"], test.want, test.doubted)
		}
	}
}

// A worker of which the system did not count the delays that it claims is measured again, as
// one that does not tell any: its client threads may have ended.
func TestClaimsThatAreNotConfirmed(t *testing.T) {
	livingThreads = func(int) (process.ThreadTimes, bool) { return process.ThreadTimes{}, true }
	defer func() { livingThreads = process.LivingThreads }()
	b := faultyBench(t, claimsDelays, read)
	b.Launches = 1
	asked := b.run(t)
	trials := b.of(claimsDelays)
	if len(trials) == 0 || trials[0].Outcome != assay.OK {
		t.Fatalf("got %+v, want trials that are ok", trials)
	}
	windows := map[int]int{}
	for _, a := range asked {
		if a.Worker == claimsDelays && a.window() {
			windows[a.PID]++
		}
	}
	last := 0
	for _, pid := range slices.Sorted(maps.Keys(windows)) {
		last = windows[pid]
	}
	if len(windows) < 2 || last != windowsPerLaunch {
		t.Errorf("got windows %v by process, want two processes, and %d windows of the last: none is measured again", windows, windowsPerLaunch)
	}
}
