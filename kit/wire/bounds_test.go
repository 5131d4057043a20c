package wire

import (
	"runtime"
	"strings"
	"testing"
	"time"
)

// limit is an answer that a rule just believes, or just does not.
type limit struct {
	name   string
	change func(*Call, *Measured)
	want   string // why it is not believed; empty: it is
}

// checkLimits checks changes of an answer that is believed.
func checkLimits(t *testing.T, answer func() (Call, Measured), limits []limit) {
	t.Helper()
	for _, l := range limits {
		call, m := answer()
		l.change(&call, &m)
		got := ""
		if err := m.Check(call); err != nil {
			got = err.Error()
		}
		if l.want == "" && got != "" || !strings.Contains(got, l.want) {
			t.Errorf("%s: got %q, want %q", l.name, got, l.want)
		}
	}
}

func TestLimitsOfCounts(t *testing.T) {
	wrong := func(errors, misses, operations, latencies int64) func(*Call, *Measured) {
		return func(_ *Call, m *Measured) {
			m.Errors, m.Misses, m.Operations, m.Histogram[0][1] = errors, misses, operations, latencies
		}
	}
	inTens := func(operations int64) func(*Call, *Measured) {
		return func(c *Call, m *Measured) {
			c.Unit, m.Errors, m.Operations, m.Histogram = 10, 1, operations, [][2]int64{{Bucket(1e6), 9}}
		}
	}
	checkLimits(t, honest, []limit{
		{"the greatest count", func(_ *Call, m *Measured) { m.Busy = 1e15 }, ""},
		{"a greater one", func(_ *Call, m *Measured) { m.Busy = 1e15 + 1 }, "busy 1000000000000001 is no possible count"},
		{"splits", func(_ *Call, m *Measured) { m.Splits = -1 }, "splits -1 is no possible count"},
		{"a miss", wrong(0, 1, 99, 99), ""},
		{"all are wrong", func(_ *Call, m *Measured) { m.Errors, m.Misses, m.Operations, m.Histogram = 50, 50, 0, nil }, ""},
		{"more than all are wrong", wrong(51, 50, 0, 1), "101 operations have errors or misses of 100"},
		{"an error is of a whole transaction", inTens(90), ""},
		{"fewer are right", inTens(89), "89 operations are right, want at least 90"},
		{"more than asked for, and given up", func(c *Call, m *Measured) {
			c.Operations, m.Executed, m.Errors, m.Operations = 1000, 2000, 1000, 1000
		}, "2000 operations were executed, 1000 were asked for"},
	})
	executed := func(unit, n int64) func(*Call, *Measured) {
		return func(c *Call, m *Measured) { c.Unit, m.Operations, m.Executed = unit, n, n }
	}
	late := func(operations int64) func(*Call, *Measured) {
		return func(c *Call, m *Measured) { c.Unit, m.Operations = 5, operations }
	}
	checkLimits(t, window, []limit{
		{"the fewest", executed(1, 20), ""},
		{"fewer", executed(1, 19), "19 operations were executed in a window of 2 clients, want at least 20"},
		{"the fewest transactions", executed(5, 100), ""},
		{"fewer transactions", executed(5, 95), "95 operations were executed in a window of 2 clients, want at least 100"},
		{"few and short, and given up", func(c *Call, m *Measured) {
			c.Unit, m.Operations, m.Executed, m.Errors, m.Nanos = 100, 0, 1000, 1000, 10e6
		}, ""},
		{"a late draw of each client", late(9900), ""},
		{"more", late(9899), "9899 operations are right, want at least 9900"},
	})
}

func TestLimitsOfTimes(t *testing.T) {
	delayed := func(ns int64) func(*Call, *Measured) {
		return func(_ *Call, m *Measured) { m.Delayed = &ns }
	}
	nanos := func(ns int64) func(*Call, *Measured) { return func(_ *Call, m *Measured) { m.Nanos = ns } }
	took := func(clients int, batch int64, ns time.Duration) func(*Call, *Measured) {
		return func(c *Call, _ *Measured) { c.Clients, c.Batch, c.Took = clients, batch, ns }
	}
	checkLimits(t, honest, []limit{
		{"delayed all the time", delayed(11e6), ""},
		{"delayed for longer", delayed(11e6 + 1), "delayed_ns 11000001 is no possible part"},
		{"delayed for less than nothing", delayed(-1), "delayed_ns -1 is no possible part"},
		{"as fast as a clock may be", nanos(12_110_000), ""},
		{"a faster clock", nanos(12_110_001), "its clock is too fast"},
		{"as late as a call may be", took(1, 0, 2_020_000_000), ""},
		{"a later call", took(1, 0, 2_020_000_001), "its clock is too slow"},
		{"a later call of a worker that waited", func(c *Call, _ *Measured) { c.Took, c.Waited = 2_025_000_000, 5_000_000 }, ""},
		{"one that waited for less", func(c *Call, _ *Measured) { c.Took, c.Waited = 2_025_000_000, 4_999_999 }, "its clock is too slow"},
		{"another client's last draw", took(2, 10, 2_020_000_000+10*100_351), ""},
		{"a longer one", took(2, 10, 2_020_000_001+10*100_351), "its clock is too slow"},
		{"another client's wrong operation, of any length", func(c *Call, m *Measured) {
			c.Clients, c.Took, m.Errors, m.Operations, m.Histogram[0][1] = 4, time.Minute, 1, 99, 99
		}, ""},
	})
	loop := func(n int64) func(*Call, *Measured) {
		return func(_ *Call, m *Measured) { m.Nanos, m.Operations, m.Executed = 20e6, n, n }
	}
	checkLimits(t, window, []limit{
		{"the fastest loop of two clients", loop(2e8), ""},
		{"a faster one", loop(2e8 + 1), "are more than any loop can do"},
		{"a hundred times the mean", took(2, 10, 2_040_400_362), ""},
		{"longer", took(2, 10, 2_040_400_363), "its clock is too slow"},
	})
}

func TestLimitsOfCPUTime(t *testing.T) {
	machine := 11 * time.Millisecond * time.Duration(runtime.NumCPU())
	machine += machine/50 + 20*time.Millisecond
	cpu := func(took, system, reported time.Duration) func(*Call, *Measured) {
		return func(c *Call, m *Measured) { c.Took, c.CPU, m.Counters.CPU = took, system, int64(reported) }
	}
	const ms = time.Millisecond
	checkLimits(t, honest, []limit{
		{"all of the machine", cpu(11*ms, -1, machine), ""},
		{"more", cpu(11*ms, -1, machine+1), "of CPU time in a call of 11ms, on"},
		{"as much more than the system's as may be", cpu(200*ms, 100*ms, 130*ms), ""},
		{"more than that", cpu(200*ms, 100*ms, 130*ms+1), "and the system counted 100ms"},
		{"as much less as may be", cpu(200*ms, 400*ms, 100*ms), ""},
		{"less than that", cpu(200*ms, 400*ms, 100*ms-1), "and the system counted 400ms"},
	})
}

func TestLimitsOfLatencies(t *testing.T) {
	histogram := func(buckets ...[2]int64) func(*Call, *Measured) {
		return func(_ *Call, m *Measured) { m.Histogram = buckets }
	}
	longest := Bucket(12_110_000)
	checkLimits(t, honest, []limit{
		{"a bucket twice", histogram([2]int64{100_351, 50}, [2]int64{100_351, 50}), "bucket 100351 comes after 100351"},
		{"a bucket of nothing", histogram([2]int64{5, 0}, [2]int64{100_351, 100}), "bucket 5 has the count 0"},
		{"as long as the call", histogram([2]int64{5, 99}, [2]int64{longest, 1}), ""},
		{"longer", histogram([2]int64{5, 99}, [2]int64{Bucket(longest + 1), 1}), "a latency of"},
		{"half of the time", histogram([2]int64{Bucket(40_000), 100}), ""},
		{"less", histogram([2]int64{Bucket(39_000), 100}), "add up to"},
		{"less, of two clients", func(c *Call, m *Measured) { c.Clients, m.Histogram = 2, [][2]int64{{5, 100}} }, ""},
		{"less, beside an error", func(_ *Call, m *Measured) { m.Errors, m.Operations, m.Histogram = 1, 99, [][2]int64{{5, 99}} }, ""},
		{"as much as the client had", histogram([2]int64{130_047, 100}), ""},
		{"more", histogram([2]int64{131_071, 100}), "and 1 clients had 11ms each"},
		{"more, of two clients", func(c *Call, m *Measured) { c.Clients, m.Histogram = 2, [][2]int64{{131_071, 100}} }, ""},
		{"of ten each", func(c *Call, m *Measured) { c.Batch, m.Histogram = 10, [][2]int64{{100_351, 10}} }, ""},
	})
}

func TestLimitsOfPhasesAndDigests(t *testing.T) {
	phases := func(clients int, nanos ...int64) func(*Call, *Measured) {
		return func(c *Call, m *Measured) {
			c.Clients = clients
			for i, ns := range nanos {
				m.Phases = append(m.Phases, Phase{[]string{"bind", "scan"}[i], ns, 1})
			}
		}
	}
	digests := func(n int) func(*Call, *Measured) {
		return func(c *Call, m *Measured) {
			c.Answers, c.Unit, m.Histogram, m.Digests = true, 10, [][2]int64{{Bucket(1e6), 10}}, make([]string, n)
		}
	}
	checkLimits(t, honest, []limit{
		{"phases of the whole call", phases(1, 12_000_000, 110_000), ""},
		{"more", phases(1, 12_000_000, 110_001), "the phases took 12.110001ms"},
		{"more, of two clients", phases(2, 12_000_000, 110_001), ""},
		{"no nanos", phases(1, -1), "nanos of phase bind -1 is no possible count"},
		{"the slowest clock", func(_ *Call, m *Measured) { m.ClockNanos = 999_999 }, ""},
		{"a slower one", func(_ *Call, m *Measured) { m.ClockNanos = 1e6 }, "clock_ns 1e+06 is no cost"},
		{"the slowest loop", func(_ *Call, m *Measured) { m.LoopNanos = 999_999_999 }, ""},
		{"a slower loop", func(_ *Call, m *Measured) { m.LoopNanos = 1e9 }, "loop_ns 1e+09 is no time"},
		{"a digest of each transaction", digests(10), ""},
		{"one is missing", digests(9), "it reports 9 digests of answers, asked for were 10"},
		{"not asked for", func(_ *Call, m *Measured) { m.Digests = make([]string, 1) }, "it reports 1 digests of answers, asked for were 0"},
	})
}
