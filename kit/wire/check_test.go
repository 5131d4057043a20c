package wire

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"
)

// honest is a block of 100 operations in 10 ms of a call of 11 ms, by one
// client.
func honest() (Call, Measured) {
	const each = 100 * time.Microsecond
	return Call{Measure: Measure{Operations: 100, Latency: true}, Clients: 1, Unit: 1, Took: 11 * time.Millisecond,
			CPU: 9 * time.Millisecond},
		Measured{Operations: 100, Executed: 100, Nanos: 100 * int64(each), Histogram: [][2]int64{{Bucket(int64(each)), 100}},
			Counters: Counters{CPU: int64(9 * time.Millisecond), Peak: 1 << 20}}
}

// window is 20 ms of two clients.
func window() (Call, Measured) {
	return Call{Measure: Measure{Nanos: 20e6, Batch: 10}, Clients: 2, Unit: 1, Took: 21 * time.Millisecond, CPU: -1},
		Measured{Operations: 9995, Executed: 10000, Nanos: 20e6 + 100}
}

// Answers that can be true are believed.
func TestBelievable(t *testing.T) {
	for name, change := range map[string]func(*Call, *Measured){
		"as it is":                    func(*Call, *Measured) {},
		"the system's CPU is unknown": func(c *Call, _ *Measured) { c.CPU = -1 },
		"a pause around it":           func(c *Call, _ *Measured) { c.Took = 400 * time.Millisecond },
		"units that are prepared within the call": func(c *Call, _ *Measured) {
			c.Prepares, c.Took, c.CPU = true, time.Minute, 50*time.Second
		},
		"errors": func(_ *Call, m *Measured) { m.Errors, m.Operations, m.Histogram = 1, 99, [][2]int64{{100_351, 99}} },
		"given up": func(c *Call, m *Measured) {
			c.Operations = 1e6
			*m = Measured{Executed: 1000, Errors: 1000, Nanos: 10e6}
		},
		"transactions":                  func(c *Call, m *Measured) { c.Unit, m.Histogram = 10, [][2]int64{{1_003_519, 10}} },
		"a late draw of another client": func(c *Call, m *Measured) { c.Clients, m.Operations = 4, 96 },
	} {
		call, m := honest()
		change(&call, &m)
		if err := m.Check(call); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	if call, m := window(); m.Check(call) != nil {
		t.Errorf("window: %v", m.Check(call))
	}
	call, m := honest()
	call.Clients, call.Took = 4, 5*time.Second
	m.Histogram = [][2]int64{{100_351, 99}, {Bucket(4e9), 1}} // it was busy while the others had stopped
	if err := m.Check(call); err != nil {
		t.Errorf("the last client's long operation: %v", err)
	}
}

// Answers that cannot be true are not.
func TestUnbelievable(t *testing.T) {
	for want, change := range map[string]func(*Call, *Measured){
		"its clock is too fast":                   func(_ *Call, m *Measured) { m.Nanos *= 50 },
		"its clock is too slow":                   func(c *Call, _ *Measured) { c.Took = 300 * c.Took },
		"1 operations were executed, 100 were":    func(_ *Call, m *Measured) { m.Operations, m.Executed = 1, 1 },
		"10000000 operations were executed, 100":  func(_ *Call, m *Measured) { m.Operations, m.Executed, m.Nanos = 1e7, 1e7, 1 },
		"100 operations took 0 ns":                func(_ *Call, m *Measured) { m.Nanos = 0 },
		"101 operations are right of 100":         func(_ *Call, m *Measured) { m.Operations = 101 },
		"1 operations are right, want at least":   func(_ *Call, m *Measured) { m.Operations = 1 },
		"operations -1 is no possible count":      func(_ *Call, m *Measured) { m.Operations = -1 },
		"errors -1 is no possible count":          func(_ *Call, m *Measured) { m.Errors = -1 },
		"busy 9223372036854775807 is no possible": func(_ *Call, m *Measured) { m.Busy = math.MaxInt64 },
		"allocs -5 is no possible count":          func(_ *Call, m *Measured) { m.Counters.Allocs = -5 },
		"9s of CPU time in a call of":             func(c *Call, m *Measured) { c.CPU, m.Counters.CPU = -1, 9e9*100 },
		"and the system counted 0s":               func(c *Call, m *Measured) { c.CPU, m.Counters.CPU, c.Took = 0, 40e6, 50*time.Millisecond },
		"and the system counted 1s":               func(c *Call, m *Measured) { c.CPU, m.Counters.CPU = time.Second, 0 },
		"in transactions of 7":                    func(c *Call, _ *Measured) { c.Unit = 7 },
		"has 99 latencies of 100 units":           func(_ *Call, m *Measured) { m.Histogram[0][1] = 99 },
		"has 0 latencies of 100 units":            func(_ *Call, m *Measured) { m.Histogram = nil },
		"bucket 5 comes after":                    func(_ *Call, m *Measured) { m.Histogram = append(m.Histogram, [2]int64{5, 1}) },
		"which is no upper bound":                 func(_ *Call, m *Measured) { m.Histogram[0][0]++ },
		"has the count -1":                        func(_ *Call, m *Measured) { m.Histogram = [][2]int64{{5, -1}, {100_351, 101}} },
		"a latency of":                            func(_ *Call, m *Measured) { m.Histogram = [][2]int64{{5, 99}, {Bucket(1e9), 1}} },
		"the histogram add up to 500ns of":        func(_ *Call, m *Measured) { m.Histogram = [][2]int64{{5, 100}} },
		"and 1 clients had":                       func(_ *Call, m *Measured) { m.Histogram = [][2]int64{{Bucket(200_000), 100}} },
		"phase \"bind\" is there twice":           func(_ *Call, m *Measured) { m.Phases = []Phase{{"bind", 1, 1}, {"bind", 1, 1}} },
		"the phases took 1s":                      func(_ *Call, m *Measured) { m.Phases = []Phase{{"bind", 1e9, 1}} },
		"clock_ns -1 is no cost":                  func(_ *Call, m *Measured) { m.ClockNanos = -1 },
		"loop_ns -1 is no time":                   func(_ *Call, m *Measured) { m.LoopNanos = -1 },
	} {
		call, m := honest()
		change(&call, &m)
		want = strings.Replace(want, "9s of", "15m0s of", 1)
		if err := m.Check(call); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want ...%s...", err, want)
		}
	}
	for want, change := range map[string]func(*Measured){
		"and it lasted 19ms":             func(m *Measured) { m.Nanos = 19e6 },
		"are more than any loop can do":  func(m *Measured) { m.Operations, m.Executed = 1e9, 1e9 },
		"1 buckets was not asked for":    func(m *Measured) { m.Histogram = [][2]int64{{1, 1}} },
		"right, want at least 9980: 100": func(m *Measured) { m.Operations = 9979 },
	} {
		call, m := window()
		change(&m)
		if err := m.Check(call); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("window: got %v, want ...%s...", err, want)
		}
	}
}

// One call may be late by an accident; most of them are not.
func TestPace(t *testing.T) {
	for calls, refused := range map[string]bool{"llll": false, "llfff": false, "lllff": true, "fffffflll": false} {
		var pace Pace
		var err error
		for _, c := range calls {
			call, m := honest()
			if c == 'l' {
				call.Took = time.Second
			}
			if err = m.Check(call); err != nil {
				t.Errorf("one call: %v", err)
			}
			err = pace.Add(m, call)
		}
		if (err != nil) != refused {
			t.Errorf("late and fine calls %s: got %v, want refused: %v", calls, err, refused)
		}
	}
}

// What a call does beside what it reports may take any time; what it reports still
// lies within the call.
func TestPaceOfCallsThatDoMore(t *testing.T) {
	for name, more := range map[string]func(*Call){
		"prepares": func(c *Call) { c.Prepares = true },
		"answers":  func(c *Call) { c.Answers = true },
		"marks":    func(c *Call) { c.Marks = "marks" },
	} {
		for clock, want := range map[float64]string{0.1: "", 1: "", 1.05: "its clock is too fast"} {
			var pace Pace
			var err error
			for range 40 {
				call, m := honest()
				more(&call)
				call.Took = time.Second
				m.Nanos = int64(clock * float64(call.Took))
				err = cmp.Or(err, pace.Add(m, call))
			}
			if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
				t.Errorf("%s, clock at %g: got %v, want %q", name, clock, err, want)
			}
		}
	}
}

// paced are calls of a worker whose clock runs at a speed: a launch's short ones,
// its warm-up and its windows.
func paced(speed float64, clients int, overhead func() time.Duration, windows int, length time.Duration) error {
	var pace Pace
	add := func(real time.Duration, operations int64) error {
		call, m := window()
		call.Clients = clients
		m.Operations, m.Executed, m.Nanos = operations, operations, int64(float64(real)*speed)
		call.Took = real + overhead()
		if m.Nanos > int64(call.Took)+slackOf(call.Took) {
			return fmt.Errorf("refused alone")
		}
		return pace.Add(m, call)
	}
	for range 5 {
		if err := add(10*time.Microsecond, int64(clients)); err != nil {
			return err
		}
	}
	for range windows {
		if err := add(time.Duration(float64(length)/speed), int64(20*clients)); err != nil {
			return err
		}
	}
	return nil
}

// A clock at half or twice its speed is found in one launch, whatever a call takes
// beside what it measures; late calls, slow ones and the long ends of several
// clients are not taken for it.
func TestPaceOfAWrongClock(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	fixed := func(d time.Duration) func() time.Duration { return func() time.Duration { return d } }
	noisy := func() time.Duration { return time.Duration(200+random.ExpFloat64()*3000) * time.Microsecond } // a crowded machine
	late := func() time.Duration { return time.Duration(20000+random.NormFloat64()*3000) * time.Microsecond }
	tails := func() time.Duration { // another client goes on, in most calls
		return time.Duration(200+random.IntN(2)*random.IntN(20000)) * time.Microsecond
	}
	for name, c := range map[string]struct {
		speed    float64
		clients  int
		overhead func() time.Duration
		windows  int
		length   time.Duration
		want     string
	}{
		"right":                    {1, 1, fixed(300 * time.Microsecond), 200, 5 * time.Millisecond, ""},
		"right, slow calls":        {1, 1, fixed(20 * time.Millisecond), 200, 5 * time.Millisecond, ""},
		"right, crowded machine":   {1, 1, noisy, 2000, 5 * time.Millisecond, ""},
		"right, long tails":        {1, 2, tails, 2000, 5 * time.Millisecond, ""},
		"half":                     {0.5, 1, fixed(300 * time.Microsecond), 40, 5 * time.Millisecond, "its clock is too slow"},
		"half, slow calls":         {0.5, 1, fixed(20 * time.Millisecond), 40, 5 * time.Millisecond, "its clock is too slow"},
		"right, every call late":   {1, 1, late, 2000, 5 * time.Millisecond, ""},
		"half, two clients":        {0.5, 2, fixed(300 * time.Microsecond), 40, 5 * time.Millisecond, "its clock is too slow"},
		"half, five long blocks":   {0.5, 1, fixed(time.Millisecond), 5, 100 * time.Millisecond, "its clock is too slow"},
		"twice":                    {2, 1, fixed(300 * time.Microsecond), 1, 5 * time.Millisecond, "refused alone"},
		"twice, slower calls":      {2, 1, fixed(2 * time.Millisecond), 40, 5 * time.Millisecond, "its clock is too fast"},
		"twice, slow calls":        {2, 1, fixed(20 * time.Millisecond), 40, 5 * time.Millisecond, "its clock is too fast"},
		"half, four long blocks":   {0.5, 1, fixed(time.Millisecond), 4, 100 * time.Millisecond, ""}, // may be an accident
		"four fifths of its speed": {0.8, 1, fixed(300 * time.Microsecond), 200, 5 * time.Millisecond, ""},
	} {
		err := paced(c.speed, c.clients, c.overhead, c.windows, c.length)
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s: got %v, want %q", name, err, c.want)
		}
	}
}

func TestChecksOfOtherAnswers(t *testing.T) {
	busy := func(n int64) Stats { return Stats{Busy: &n} }
	for name, c := range map[string]struct {
		err  error
		want string
	}{
		"busy":               {busy(2).Check(busy(1)), ""},
		"busy, new":          {busy(2).Check(Stats{}), ""},
		"busy backwards":     {busy(1).Check(busy(2)), "busy since -1 is no possible count"},
		"busy below zero":    {busy(1).Check(busy(-2)), "busy -2 is no possible count"},
		"opened":             {Opened{Durability: "power"}.Check(), ""},
		"durable":            {Opened{Durability: "very"}.Check(), `durability "very" is no class`},
		"settings":           {SettingsRead{[]Connection{{Name: "reader-1"}, {Name: "writer-1"}}}.Check(), ""},
		"one twice":          {SettingsRead{[]Connection{{Name: "reader-1"}, {Name: "reader-1"}}}.Check(), "was read back twice"},
		"loaded":             {Loaded{10}.Check(10), ""},
		"loaded less":        {Loaded{9}.Check(10), "9 records were loaded, 10 were asked for"},
		"closed":             {Closed{1e6}.Check(time.Millisecond), ""},
		"closed long":        {Closed{1e9}.Check(time.Millisecond), "reports that closing took 1s"},
		"closed before":      {Closed{-1}.Check(time.Millisecond), "reports that closing took -1ns"},
		"stats":              {Stats{Counters: Counters{CPU: 2}, Pool: &Pool{Opened: 2}}.Check(Stats{Counters: Counters{CPU: 1}, Pool: &Pool{Opened: 1}}), ""},
		"stats backwards":    {Stats{Counters: Counters{CPU: 1}}.Check(Stats{Counters: Counters{CPU: 2}}), "counted backwards"},
		"pool backwards":     {Stats{Pool: &Pool{Closed: 1}}.Check(Stats{Pool: &Pool{Closed: 2}}), "closed since -1 is no possible count"},
		"openings backwards": {Stats{Pool: &Pool{Opened: 1}}.Check(Stats{Pool: &Pool{Opened: 2}}), "opened since -1 is no possible count"},
		"waits backwards":    {Stats{Pool: &Pool{Waits: 1}}.Check(Stats{Pool: &Pool{Waits: 2}}), "waits since -1 is no possible count"},
		"waiting backwards":  {Stats{Pool: &Pool{Waited: 1}}.Check(Stats{Pool: &Pool{Waited: 2}}), "wait_ns since -1 is no possible count"},
		"overflowing peak":   {Stats{Counters: Counters{Peak: math.MaxInt64}}.Check(Stats{}), "peak_bytes 9223372036854775807"},
	} {
		if c.want == "" && c.err != nil || c.want != "" && (c.err == nil || !strings.Contains(c.err.Error(), c.want)) {
			t.Errorf("%s: got %v, want %q", name, c.err, c.want)
		}
	}
}

func TestServedURL(t *testing.T) {
	for _, try := range []struct {
		served     Served
		want, fail string
	}{
		{Served{Address: "127.0.0.1:80"}, "http://127.0.0.1:80", ""},
		{Served{Address: "[::1]:80", Path: "/a-B_9"}, "http://[::1]:80/a-B_9", ""},
		{Served{Address: "127.0.0.1:80", Path: "/a/b"}, "http://127.0.0.1:80/a/b", ""},
		{Served{Address: "192.168.0.1:80"}, "", "loopback"},
		{Served{Address: "localhost.example.org:80"}, "", "loopback"},
		{Served{Address: "127.0.0.1:80@evil.example"}, "", "loopback"},
		{Served{Address: "127.0.0.1:8080/x?y="}, "", "loopback"},
		{Served{Address: "127.0.0.1:80", Path: "a"}, "", "at the path"},
		{Served{Address: "127.0.0.1:80", Path: "/{n}"}, "", "at the path"},
		{Served{Address: "127.0.0.1:80", Path: "/a HTTP/1.1\r\nX: y"}, "", "at the path"},
		{Served{Address: "127.0.0.1:80", Path: "/a?b"}, "", "at the path"},
	} {
		got, err := try.served.URL()
		if got != try.want || (err == nil) != (try.fail == "") || err != nil && !strings.Contains(err.Error(), try.fail) {
			t.Errorf("%+v: got %q, %v; want %q, an error with %q", try.served, got, err, try.want, try.fail)
		}
	}
}
