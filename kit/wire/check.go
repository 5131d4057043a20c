package wire

import (
	"errors"
	"fmt"
	"math"
	"net/netip"
	"regexp"
	"runtime"
	"slices"
	"time"
)

// What a worker says of itself cannot be proved, but much of it can be refuted:
// by what it was asked, by the time that the caller saw the call take, and by
// the system's own accounting. assay check and assay run share these rules.

const (
	// clockSlack is by how much two clocks of one machine may disagree.
	clockSlack, clockShare = time.Millisecond, 0.01
	// callSlack is how long one call may take beside what it measures, by an
	// accident on a busy machine.
	callSlack = 2 * time.Second
	// cpuSlack is the resolution of the coarsest accounting of CPU time.
	cpuSlack = 20 * time.Millisecond
	// minUnitNanos is less than any loop needs for an operation.
	minUnitNanos = 0.2
	// maxCount is beyond everything that a process can count while it is measured.
	maxCount = int64(1e15)
	// minWindowUnits is how many units a window has at least for each client.
	minWindowUnits = 10
	// maxErrors is after how many errors and misses a worker gives up.
	maxErrors = 1000
)

// ErrSlowClock is in what Check returns of a call that took much longer than the worker says.
// A single one may be an accident.
var ErrSlowClock = errors.New("its clock is too slow, or it measured only a part")

// Call is one request to measure, and what the caller knows of it.
type Call struct {
	Measure
	Clients int
	Unit    int64         // operations that are drawn and timed together: a transaction's; at least 1
	Took    time.Duration // wall time from the request to the reply
	// CPU is what the system says that the worker's process used meanwhile;
	// negative: unknown.
	CPU time.Duration
	// Waited is for how long threads of the worker waited for a processor meanwhile, by the
	// system's count: so much of the call is no fault of its clock.
	Waited time.Duration
	// Ended is true where threads of the worker ended meanwhile, and with them what the system
	// counted: they may have waited for much longer.
	Ended bool
	// Prepares is true where the worker prepares each unit within the call, and
	// measures none of that: neither time nor CPU time is too little then.
	Prepares bool
}

// Check returns why the answer to a call cannot be true, nil where it can.
func (m Measured) Check(call Call) error {
	for _, rule := range []func(Call) error{m.checkCounts, m.checkOperations, m.checkTime, m.checkCPU, m.checkHistogram, m.checkPhases, m.checkDigests, m.checkLoop} {
		if err := rule(call); err != nil {
			return err
		}
	}
	return nil
}

type count struct {
	name  string
	value int64
}

func checkCounts(counts ...count) error {
	for _, c := range counts {
		if c.value < 0 || c.value > maxCount {
			return fmt.Errorf("%s %d is no possible count", c.name, c.value)
		}
	}
	return nil
}

func (m Measured) checkCounts(Call) error {
	if m.Stale > m.Busy {
		return fmt.Errorf("%d answers of busy came too late to change, of %d", m.Stale, m.Busy)
	}
	if err := checkCounts(count{"operations", m.Operations}, count{"nanos", m.Nanos}, count{"executed", m.Executed}, count{"errors", m.Errors},
		count{"misses", m.Misses}, count{"busy", m.Busy}, count{"stale", m.Stale}, count{"splits", m.Splits}); err != nil {
		return err
	}
	return m.Counters.Check()
}

// checkOperations compares what was done with what was asked for.
func (m Measured) checkOperations(call Call) error {
	wrong := m.Errors + m.Misses
	switch {
	case m.Operations > m.Executed:
		return fmt.Errorf("%d operations are right of %d that were executed", m.Operations, m.Executed)
	case wrong > m.Executed:
		return fmt.Errorf("%d operations have errors or misses of %d that were executed", wrong, m.Executed)
	case m.Executed%call.Unit != 0:
		return fmt.Errorf("%d operations were executed, in transactions of %d", m.Executed, call.Unit)
	case call.Operations > 0 && m.Executed != call.Operations && !(wrong >= maxErrors && m.Executed < call.Operations):
		return fmt.Errorf("%d operations were executed, %d were asked for", m.Executed, call.Operations)
	}
	if min := minWindowUnits * call.Unit * int64(call.Clients); call.Nanos > 0 && m.Executed < min && wrong < maxErrors {
		return fmt.Errorf("%d operations were executed in a window of %d clients, want at least %d", m.Executed, call.Clients, min)
	}
	late := int64(0) // a client may have one draw that ended too late
	if call.Clients > 1 {
		late = int64(call.Clients) * call.Unit * max(1, call.Batch)
	}
	if min := m.Executed - wrong*call.Unit - late; m.Operations < min {
		return fmt.Errorf("%d operations are right, want at least %d: %d were executed and %d of them were wrong", m.Operations, min, m.Executed, wrong)
	}
	return nil
}

// unreported reports whether the call does more than the worker reports: it is
// traced, digests answers or prepares. Only the upper bounds of its time hold.
func (c Call) unreported() bool { return c.Marks != "" || c.Answers || c.Prepares }

// checkTime compares the time with that of the call, which it lies in.
func (m Measured) checkTime(call Call) error {
	took, nanos := int64(call.Took), m.Nanos
	switch {
	case m.Delayed != nil && (*m.Delayed < 0 || *m.Delayed > took):
		return fmt.Errorf("delayed_ns %d is no possible part of a call of %s", *m.Delayed, call.Took)
	case nanos <= 0:
		return fmt.Errorf("%d operations took %d ns", m.Operations, nanos)
	case nanos > took+slackOf(call.Took):
		return fmt.Errorf("it reports %s, and the whole call took %s: its clock is too fast", time.Duration(nanos), call.Took)
	case call.Nanos > 0 && nanos < call.Nanos && m.Errors+m.Misses < maxErrors:
		return fmt.Errorf("a window of %s was asked for, and it lasted %s", time.Duration(call.Nanos), time.Duration(nanos))
	case float64(nanos)*float64(call.Clients) < minUnitNanos*float64(m.Operations):
		return fmt.Errorf("%d operations in %s are more than any loop can do", m.Operations, time.Duration(nanos))
	case !call.unreported() && took-nanos-m.tail(call)-int64(call.Waited) > nanos+int64(callSlack):
		return fmt.Errorf("it reports %s of a call that took %s: %w", time.Duration(nanos), call.Took, ErrSlowClock)
	}
	return nil
}

// tail is how long other clients can have gone on after the first one stopped:
// as long as one draw takes. Of a wrong operation the latency is not known.
func (m Measured) tail(call Call) int64 {
	switch {
	case call.Clients == 1:
		return 0
	case m.Errors+m.Misses > 0 || len(m.Histogram) == 0 && m.Operations == 0:
		return math.MaxInt64 / 2
	case len(m.Histogram) > 0:
		return m.Histogram[len(m.Histogram)-1][0] * max(1, call.Batch)
	}
	const longest = 100 // times the mean
	return longest * m.Nanos / (m.Operations/int64(call.Clients) + 1)
}

func slackOf(took time.Duration) int64 {
	return int64(clockSlack) + int64(clockShare*float64(took))
}

// checkCPU holds the CPU time against the machine's and the system's count.
func (m Measured) checkCPU(call Call) error {
	cpu := time.Duration(m.Counters.CPU)
	if all := call.Took * time.Duration(runtime.NumCPU()); cpu > all+all/50+cpuSlack {
		return fmt.Errorf("it reports %s of CPU time in a call of %s, on %d processors", cpu, call.Took, runtime.NumCPU())
	}
	if call.CPU < 0 {
		return nil
	}
	if cpu > call.CPU+call.CPU/10+cpuSlack {
		return fmt.Errorf("it reports %s of CPU time, and the system counted %s", cpu, call.CPU)
	}
	if !call.unreported() && cpu < call.CPU/2-5*cpuSlack {
		return fmt.Errorf("it reports %s of CPU time, and the system counted %s", cpu, call.CPU)
	}
	return nil
}

// checkHistogram checks the order, the bounds and the sum of the latencies.
func (m Measured) checkHistogram(call Call) error {
	if !call.Latency {
		if len(m.Histogram) > 0 {
			return fmt.Errorf("a histogram of %d buckets was not asked for", len(m.Histogram))
		}
		return nil
	}
	total, before, sum := int64(0), int64(-1), 0.0
	for _, bucket := range m.Histogram {
		upper, n := bucket[0], bucket[1]
		switch {
		case upper < 0 || Bucket(upper) != upper:
			return fmt.Errorf("the histogram has a bucket %d, which is no upper bound", upper)
		case upper <= before:
			return fmt.Errorf("in the histogram, bucket %d comes after %d", upper, before)
		case n <= 0 || n > maxCount:
			return fmt.Errorf("in the histogram, bucket %d has the count %d", upper, n)
		}
		total, before, sum = total+n, upper, sum+float64(upper)*float64(n)
	}
	if units := m.Executed/call.Unit - m.Errors - m.Misses; call.Batch <= 1 && total != units {
		return fmt.Errorf("the histogram has %d latencies of %d units", total, units)
	}
	if longest := Bucket(int64(call.Took) + slackOf(call.Took)); before > longest {
		return fmt.Errorf("the histogram has a latency of %s in a call of %s", time.Duration(before), call.Took)
	}
	// A client's latencies follow one another without a gap: those of one client
	// are the time that is reported.
	if all := sum * float64(max(1, call.Batch)); call.Clients == 1 && m.Errors+m.Misses == 0 && all < float64(m.Nanos)/2-float64(clockSlack) {
		return fmt.Errorf("the latencies of the histogram add up to %s of %s", time.Duration(all), time.Duration(m.Nanos))
	}
	if most := float64(call.Clients) * float64(call.Took) * 1.1; sum > most+float64(clockSlack) {
		return fmt.Errorf("the latencies of the histogram add up to %s, and %d clients had %s each", time.Duration(sum), call.Clients, call.Took)
	}
	return nil
}

func (m Measured) checkPhases(call Call) error {
	total, seen := int64(0), map[string]bool{}
	for _, p := range m.Phases {
		if err := checkCounts(count{"nanos of phase " + p.Name, p.Nanos}, count{"count of phase " + p.Name, p.Count}); err != nil {
			return err
		}
		if seen[p.Name] {
			return fmt.Errorf("phase %q is there twice", p.Name)
		}
		seen[p.Name] = true
		total += p.Nanos
	}
	if all := int64(call.Clients) * (int64(call.Took) + slackOf(call.Took)); total > all {
		return fmt.Errorf("the phases took %s, and the call %s", time.Duration(total), call.Took)
	}
	if !(m.ClockNanos >= 0 && m.ClockNanos < 1e6) {
		return fmt.Errorf("clock_ns %g is no cost of reading a clock", m.ClockNanos)
	}
	return nil
}

// checkDigests checks that each unit that was asked for has a place.
func (m Measured) checkDigests(call Call) error {
	want := int64(0)
	if call.Answers {
		want = call.Operations / call.Unit
	}
	if n := int64(len(m.Digests)); n != want {
		return fmt.Errorf("it reports %d digests of answers, asked for were %d", n, want)
	}
	return nil
}

// checkLoop bounds the time of the loop, which is in that of the operations too.
func (m Measured) checkLoop(Call) error {
	if !(m.LoopNanos >= 0 && m.LoopNanos < 1e9) {
		return fmt.Errorf("loop_ns %g is no time of a loop for one operation", m.LoopNanos)
	}
	return nil
}

// delaySlack is for what a worker and its caller read at different moments.
const delaySlack = 100 * time.Microsecond

// Delayed reports whether a worker whose threads waited so long by the system's count can
// have been delayed as it claims.
func Delayed(claimed, counted time.Duration) bool {
	counted = max(0, counted) // of threads that have ended nothing is counted any more
	return claimed <= counted+counted/10+delaySlack
}

// Check returns why a class of durability or an issued setting cannot be.
func (o Opened) Check() error {
	if slices.Contains(Durabilities, o.Durability) {
		return nil
	}
	return fmt.Errorf("durability %q is no class: want none, process, consistent, last-commit or power", o.Durability)
}

// Check returns why the connections cannot be those that were opened.
func (s SettingsRead) Check() error {
	seen := map[string]bool{}
	for _, c := range s.Connections {
		if seen[c.Name] {
			return fmt.Errorf("connection %q was read back twice", c.Name)
		}
		seen[c.Name] = true
	}
	return nil
}

// Check returns why stats cannot be those of a process that answered before.
func (s Stats) Check(before Stats) error {
	since := s.Since(before.Counters)
	if err := s.Counters.Check(); err != nil {
		return err
	}
	if err := since.Check(); err != nil {
		return fmt.Errorf("counted backwards: %w", err)
	}
	if s.Busy != nil && before.Busy != nil {
		if err := checkCounts(count{"busy", *before.Busy}, count{"busy since", *s.Busy - *before.Busy}); err != nil {
			return err
		}
	}
	if s.Pool == nil || before.Pool == nil {
		return nil
	}
	a, b := before.Pool, s.Pool
	return checkCounts(count{"opened", a.Opened}, count{"closed", a.Closed}, count{"waits", a.Waits}, count{"wait_ns", a.Waited},
		count{"opened since", b.Opened - a.Opened}, count{"closed since", b.Closed - a.Closed}, count{"waits since", b.Waits - a.Waits},
		count{"wait_ns since", b.Waited - a.Waited})
}

// Check returns why closing cannot have taken so long.
func (c Closed) Check(took time.Duration) error {
	if c.Nanos < 0 || c.Nanos > int64(took)+slackOf(took) {
		return fmt.Errorf("it reports that closing took %s, and the whole call took %s", time.Duration(c.Nanos), took)
	}
	return nil
}

var servedPath = regexp.MustCompile(`^(/[A-Za-z0-9._~-]+)*$`)

// URL is where requests go, to which /POSITION is added. A worker must not have
// another machine asked and measured in its place, nor add to requests.
func (s Served) URL() (string, error) {
	if address, err := netip.ParseAddrPort(s.Address); err != nil || !address.Addr().IsLoopback() {
		return "", fmt.Errorf("the worker serves at %q: want a port of the loopback interface", s.Address)
	}
	if !servedPath.MatchString(s.Path) {
		return "", fmt.Errorf("the worker serves at the path %q: want nothing or /NAME, of letters, digits and -._~", s.Path)
	}
	return "http://" + s.Address + s.Path, nil
}

// Check returns why the records cannot have been loaded.
func (l Loaded) Check(records int64) error {
	if l.Records != records {
		return fmt.Errorf("%d records were loaded, %d were asked for", l.Records, records)
	}
	return nil
}
