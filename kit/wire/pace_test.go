package wire

import (
	"cmp"
	"runtime"
	"strings"
	"testing"
	"time"
)

// Which calls are late, and how many of them are too many.
func TestLateCalls(t *testing.T) {
	const slow = "its clock is too slow"
	for name, c := range map[string]struct {
		late, fine int
		nanos      int64
		over, tail time.Duration // beyond the time that is reported; of it, in which another client goes on
		clients    int
		want       string
	}{
		"most are late":              {3, 2, 10e6, 161 * time.Millisecond, 0, 1, slow},
		"half of them":               {3, 3, 10e6, 161 * time.Millisecond, 0, 1, ""},
		"fewer than five":            {4, 0, 10e6, 161 * time.Millisecond, 0, 1, ""},
		"not as late":                {5, 0, 10e6, 160 * time.Millisecond, 0, 1, ""},
		"too short to count":         {5, 0, 999_999, time.Second, 0, 1, ""},
		"just long enough":           {5, 0, 1e6, time.Second, 0, 1, slow},
		"another client's last draw": {5, 0, 10e6, 260 * time.Millisecond, 100 * time.Millisecond, 2, ""},
		"longer than that can be":    {5, 0, 10e6, 262 * time.Millisecond, 100 * time.Millisecond, 2, slow},
	} {
		var pace Pace
		var err error
		for i := range c.late + c.fine {
			call, m := honest()
			call.Clients, m.Nanos = c.clients, c.nanos
			if c.tail > 0 {
				m.Histogram = [][2]int64{{int64(c.tail), 1}}
			}
			if call.Took = time.Duration(c.nanos); i >= c.fine {
				call.Took += c.over
			}
			err = cmp.Or(pace.Add(m, call), err)
		}
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s: got %v, want %q", name, err, c.want)
		}
	}
}

// How long the other clients usually go on.
func TestUsualTail(t *testing.T) {
	for name, c := range map[string]struct {
		clients int
		m       Measured
		want    int64
	}{
		"one client":         {1, Measured{Operations: 100, Nanos: 10e6}, 0},
		"twice its mean":     {4, Measured{Operations: 100, Nanos: 10e6}, 800_000},
		"nothing was done":   {4, Measured{Nanos: 10e6}, 80e6},
		"the longest of all": {4, Measured{Operations: 100, Nanos: 10e6, Histogram: [][2]int64{{5, 99}, {1000, 1}}}, 1000},
	} {
		if got := c.m.usualTail(Call{Clients: c.clients}); got != c.want {
			t.Errorf("%s: got %d, want %d", name, got, c.want)
		}
	}
}

// Calls with errors say nothing of a clock; nor do few calls of which some are short.
func TestCallsThatAreNotCompared(t *testing.T) {
	for name, c := range map[string]struct {
		errors      int64
		short, long int // calls of 10 ms that count beside the shortest ones, and of 100 ms
		want        string
	}{
		"long calls":                 {0, 0, 5, "its clock is too slow"},
		"with an error":              {1, 0, 40, ""},
		"five long ones of six":      {0, 1, 5, ""},
		"twenty, of which five long": {0, 15, 5, "its clock is too slow"},
	} {
		var pace Pace
		var err error
		add := func(n int, nanos int64, errors int64) {
			for range n {
				call, m := honest()
				m.Nanos, m.Errors, call.Took = nanos, errors, time.Duration(nanos)*7/4
				err = cmp.Or(err, pace.Add(m, call))
			}
		}
		add(5, 1e6, 0)
		add(c.short, 4e6, c.errors)
		add(c.long, 100e6, c.errors)
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s: got %v, want %q", name, err, c.want)
		}
	}
}

// Long calls use up their turn of a processor and then wait for the next one, short ones do
// not: what the system counted as waiting is no fault of a clock, and nothing else is excused.
func TestPaceOfCallsThatWait(t *testing.T) {
	for name, c := range map[string]struct {
		waited time.Duration
		want   string
	}{"all of it": {45 * time.Millisecond, ""}, "a tenth of it": {4500 * time.Microsecond, "its clock is too slow"}} {
		var pace Pace
		var err error
		add := func(nanos, over, waited time.Duration) {
			call, m := honest()
			m.Nanos, call.Took, call.Waited = int64(nanos), nanos+over, waited
			err = cmp.Or(err, pace.Add(m, call))
		}
		for range 5 {
			add(time.Millisecond, time.Millisecond, 0)
		}
		for range 6 {
			add(60*time.Millisecond, 46*time.Millisecond, c.waited)
		}
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s: got %v, want %q", name, err, c.want)
		}
	}
}

// CPU time tells of a clock whatever else the machine does: no processor has more of it than
// time has passed.
func TestPaceOfCPUTime(t *testing.T) {
	all := int64(runtime.NumCPU())
	for name, c := range map[string]struct {
		nanos, cpu int64
		failed     int // calls of two clients before, with an error
		calls      int
		want       string
	}{
		"all processors":              {50e6, all * 50e6, 0, 200, ""},
		"after an error":              {50e6, all * 50e6, 1, 200, ""},
		"ten times as many":           {50e6, 10 * all * 50e6, 0, 1, "its clock is too slow"},
		"ten times as many, after it": {50e6, 10 * all * 50e6, 1, 1, "its clock is too slow"},
		"what a call needs":           {1e6, all*1e6 + 1e6, 0, 2000, ""},
		"twice, a short call":         {50e6, all*50e6 + 50e6, 0, 1, ""},
	} {
		var pace Pace
		var err error
		for range c.failed {
			call, m := honest()
			call.Clients, m.Errors = 2, 1
			err = cmp.Or(err, pace.Add(m, call))
		}
		for range c.calls {
			call, m := honest()
			m.Nanos, m.Counters.CPU, call.Took = c.nanos, c.cpu, time.Duration(c.nanos)
			err = cmp.Or(err, pace.Add(m, call))
		}
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s: got %v, want %q", name, err, c.want)
		}
	}
}
