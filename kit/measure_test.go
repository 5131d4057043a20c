package kit

import (
	"errors"
	"fmt"
	"math"
	"reflect"
	"sync"
	"testing"

	"assay/kit/wire"
)

// count is how many latencies a histogram has.
func count(m wire.Measured) int64 {
	var n int64
	for _, bucket := range m.Histogram {
		n += bucket[1]
	}
	return n
}

// counted is what a measurement counted, without times.
type counted struct{ Operations, Executed, Errors, Misses, Busy, Latencies int64 }

func counts(m wire.Measured) counted {
	return counted{m.Operations, m.Executed, m.Errors, m.Misses, m.Busy, count(m)}
}

func measure(t *testing.T, p *prepared, request wire.Measure) wire.Measured {
	t.Helper()
	m, err := p.measure(request)
	must(t, err)
	if m.Nanos < 0 {
		t.Errorf("it took %d ns", m.Nanos)
	}
	return m
}

// visits counts how often clients were at each position.
type visits struct {
	mu    sync.Mutex
	times map[int]int
	order []int
}

func (v *visits) at(position int) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.times == nil {
		v.times = map[int]int{}
	}
	v.times[position]++
	v.order = append(v.order, position)
}

// watched is a fake that notes where its clients were.
func watched() (*fake, *visits) {
	v := &visits{}
	return &fake{do: func(op wire.Operation, position int) (int, error) {
		v.at(position)
		return expectedRows(op), nil
	}}, v
}

func TestBlock(t *testing.T) {
	for _, clients := range []int64{1, 8} {
		t.Run(fmt.Sprint(clients, " clients"), func(t *testing.T) {
			f, v := watched()
			op := oneRow("a")
			op.Trace = numbers(t, 100)
			p := prepareFake(t, f, op, int(clients))
			m := measure(t, p, wire.Measure{Start: 30, Operations: 250, Latency: true})
			// Operations that end after the first client has stopped do not count.
			if m.Operations > 250 || m.Operations <= 250-clients || m.Executed != 250 || count(m) != 250 {
				t.Errorf("%+v", counts(m))
			}
			want := map[int]int{}
			for i := range 250 {
				want[(30+i)%100]++
			}
			if !reflect.DeepEqual(v.times, want) {
				t.Errorf("positions and how often: %v", v.times)
			}
		})
	}
}

// TestOneClientGoesInOrder: along the trace, and around its end.
func TestOneClientGoesInOrder(t *testing.T) {
	for name, c := range map[string]struct {
		start, batch int64
		want         []int
	}{
		"from the start":   {0, 0, []int{0, 1, 2, 3, 0, 1, 2, 3, 0, 1}},
		"from the middle":  {2, 1, []int{2, 3, 0, 1, 2, 3, 0, 1, 2, 3}},
		"from far behind":  {4_000_000_003, 1, []int{3, 0, 1, 2, 3, 0, 1, 2, 3, 0}},
		"from the last":    {math.MaxInt64, 1, []int{3, 0, 1, 2, 3, 0, 1, 2, 3, 0}},
		"in batches":       {1, 3, []int{1, 2, 3, 0, 1, 2, 3, 0, 1, 2}},
		"in a large batch": {1, 1000, []int{1, 2, 3, 0, 1, 2, 3, 0, 1, 2}},
	} {
		t.Run(name, func(t *testing.T) {
			f, v := watched()
			op := oneRow("a")
			op.Trace = numbers(t, 4)
			m := measure(t, prepareFake(t, f, op, 1), wire.Measure{Start: c.start, Operations: 10, Batch: c.batch})
			if !reflect.DeepEqual(v.order, c.want) {
				t.Errorf("went to %v, want %v", v.order, c.want)
			}
			if got := counts(m); got != (counted{Operations: 10, Executed: 10}) {
				t.Errorf("%+v", got)
			}
		})
	}
}

func TestWithoutTrace(t *testing.T) {
	f, v := watched()
	measure(t, prepareFake(t, f, oneRow("a"), 1), wire.Measure{Start: 7, Operations: 5})
	if want := map[int]int{0: 5}; !reflect.DeepEqual(v.times, want) {
		t.Errorf("went to %v, want %v", v.times, want)
	}
}

func TestWindow(t *testing.T) {
	for _, clients := range []int{1, 8} {
		for _, nanos := range []int64{1, 5_000_000} {
			t.Run(fmt.Sprintf("%d clients, %d ns", clients, nanos), func(t *testing.T) {
				p := prepareFake(t, &fake{}, oneRow("a"), clients)
				m := measure(t, p, wire.Measure{Nanos: nanos})
				if m.Nanos < nanos {
					t.Errorf("it lasted %d ns", m.Nanos)
				}
				if least := int64(minOperations * clients); m.Executed < least || m.Operations <= least-int64(clients) || m.Operations > m.Executed {
					t.Errorf("%+v, want at least %d", counts(m), least)
				}
				if m.Histogram != nil {
					t.Error("a histogram that nobody asked for")
				}
			})
		}
	}
}

// TestWindowOfSlowOperations: each is longer than the window.
func TestWindowOfSlowOperations(t *testing.T) {
	const window = 10_000
	f := &fake{do: func(wire.Operation, int) (int, error) {
		for began := clock(); clock() < began+window; {
			continue
		}
		return 1, nil
	}}
	m := measure(t, prepareFake(t, f, oneRow("a"), 1), wire.Measure{Nanos: window})
	if m.Nanos < minOperations*window || counts(m) != (counted{Operations: minOperations, Executed: minOperations}) {
		t.Errorf("%+v in %d ns", counts(m), m.Nanos)
	}
}

func TestBatch(t *testing.T) {
	p := prepareFake(t, &fake{}, oneRow("a"), 1)
	m := measure(t, p, wire.Measure{Nanos: 1_000_000, Batch: 64, Latency: true})
	if m.Operations%64 != 0 || m.Operations != m.Executed || count(m) != m.Operations/64 {
		t.Errorf("window: %+v", counts(m))
	}
	m = measure(t, p, wire.Measure{Operations: 1000, Batch: 64, Latency: true})
	if got := counts(m); got != (counted{Operations: 1000, Executed: 1000, Latencies: 16}) {
		t.Errorf("block: %+v", got)
	}
	m = measure(t, p, wire.Measure{Operations: 1024, Batch: 64, Latency: true})
	all := int64(0) // of operations, if each took as long as the mean of its batch
	for _, bucket := range m.Histogram {
		all += 64 * bucket[0] * bucket[1]
	}
	if all > 2*m.Nanos {
		t.Errorf("the latencies of single operations add up to %d ns of %d", all, m.Nanos)
	}
	many := prepareFake(t, &fake{}, oneRow("b"), 8)
	m = measure(t, many, wire.Measure{Operations: 10_000, Batch: 64, Latency: true})
	if m.Executed != 10_000 || m.Operations > 10_000 || m.Operations <= 10_000-8*64 || count(m) != 157 {
		t.Errorf("8 clients: %+v", counts(m))
	}
}

// TestTransactions: the unit of positions, times and errors is the transaction.
func TestTransactions(t *testing.T) {
	op := wire.Operation{Name: "a", Transaction: 5, Trace: numbers(t, 23), Steps: []wire.Step{{Rows: 2}, {Rows: 1}}}
	f, v := watched()
	p := prepareFake(t, f, op, 1)
	for _, request := range []wire.Measure{{Operations: 7}, {Start: 4, Operations: 5}, {Start: -5, Operations: 5}} {
		want := fmt.Sprintf("invalid: start %d, operations %d: want whole transactions of 5", request.Start, request.Operations)
		if _, err := p.measure(request); refusal(err) != want {
			t.Errorf("got %v, want %s", err, want)
		}
	}
	m := measure(t, p, wire.Measure{Start: 10, Operations: 30, Latency: true})
	if got := counts(m); got != (counted{Operations: 30, Executed: 30, Latencies: 6}) {
		t.Errorf("%+v", got)
	}
	// 23 positions are four transactions; the last three are left out.
	if want := []int{2, 3, 0, 1, 2, 3}; !reflect.DeepEqual(v.order, want) {
		t.Errorf("went to %v, want %v", v.order, want)
	}
	f.do = func(wire.Operation, int) (int, error) { return 14, nil }
	m = measure(t, p, wire.Measure{Operations: 10})
	if got := counts(m); got != (counted{Executed: 10, Misses: 2}) || m.Miss != "14 rows, expected are 15" {
		t.Errorf("%+v, %q", got, m.Miss)
	}
	op.Transaction = 24
	if _, err := prepareOperation(fakeDatabase{f}, op, 1); refusal(err) != `invalid: the trace of "a" is shorter than one transaction` {
		t.Errorf("got %v", err)
	}
}

func TestUnknownRows(t *testing.T) {
	op := wire.Operation{Name: "a", Steps: []wire.Step{{Rows: 1}, {Rows: -1}}}
	f := &fake{do: func(_ wire.Operation, position int) (int, error) { return 99, nil }}
	m := measure(t, prepareFake(t, f, op, 1), wire.Measure{Operations: 10})
	if got := counts(m); got != (counted{Operations: 10, Executed: 10}) {
		t.Errorf("%+v", got)
	}
}

var errDisk = errors.New("disk full")

// TestTrouble: what is not right is counted apart and has no latency.
func TestTrouble(t *testing.T) {
	busy := fmt.Errorf("locked: %w", ErrBusy)
	// Position 1 always fails, 2 has too many rows, 3 is busy twice at first.
	script := func() func(wire.Operation, int) (int, error) {
		left := 2
		return func(_ wire.Operation, position int) (int, error) {
			switch position {
			case 1:
				return 0, errDisk
			case 2:
				return 2, nil
			case 3:
				if left--; left >= 0 {
					return 0, busy
				}
			}
			return 1, nil
		}
	}
	for name, c := range map[string]struct {
		retry     bool
		batch     int64
		want      counted
		wantError string
	}{
		"no retry":   {false, 1, counted{Operations: 4, Executed: 10, Errors: 4, Misses: 2, Busy: 2, Latencies: 4}, "disk full"},
		"retry":      {true, 1, counted{Operations: 6, Executed: 10, Errors: 2, Misses: 2, Busy: 2, Latencies: 6}, "disk full"},
		"in batches": {true, 5, counted{Operations: 6, Executed: 10, Errors: 2, Misses: 2, Busy: 2}, "disk full"},
	} {
		t.Run(name, func(t *testing.T) {
			op := oneRow("a")
			op.Trace, op.RetryBusy = numbers(t, 5), c.retry
			p := prepareFake(t, &fake{do: script()}, op, 1)
			m := measure(t, p, wire.Measure{Operations: 10, Batch: c.batch, Latency: true})
			if got := counts(m); got != c.want || m.Error != c.wantError || m.Miss != "2 rows, expected are 1" {
				t.Errorf("got %+v, %q, %q\nwant %+v", got, m.Error, m.Miss, c.want)
			}
		})
	}
	t.Run("after busy it fails", func(t *testing.T) {
		op := oneRow("a")
		op.RetryBusy = true
		answers := []error{busy, errDisk, busy, busy, nil}
		p := prepareFake(t, &fake{do: func(wire.Operation, int) (int, error) {
			err := answers[0]
			answers = answers[1:]
			return 1, err
		}}, op, 1)
		m := measure(t, p, wire.Measure{Operations: 2, Latency: true})
		if got := counts(m); got != (counted{Operations: 1, Executed: 2, Errors: 1, Busy: 3, Latencies: 1}) || m.Error != "disk full" {
			t.Errorf("%+v, %q", got, m.Error)
		}
	})
	t.Run("busy for good without retry", func(t *testing.T) {
		p := prepareFake(t, &fake{do: func(wire.Operation, int) (int, error) { return 0, busy }}, oneRow("a"), 8)
		m := measure(t, p, wire.Measure{Operations: 100, Latency: true})
		if got := counts(m); got != (counted{Executed: 100, Errors: 100, Busy: 100}) || m.Error != "locked: database is busy" {
			t.Errorf("%+v, %q", got, m.Error)
		}
	})
}

// TestErrorsEndIt: windows and blocks in which nothing works end early.
func TestErrorsEndIt(t *testing.T) {
	const hour = 3600e9
	for _, clients := range []int64{1, 8} {
		for name, request := range map[string]wire.Measure{"window": {Nanos: hour}, "block": {Operations: 1 << 40}} {
			for kind, do := range map[string]func(wire.Operation, int) (int, error){
				"errors": func(wire.Operation, int) (int, error) { return 0, errDisk },
				"misses": func(wire.Operation, int) (int, error) { return 0, nil },
			} {
				t.Run(fmt.Sprintf("%s, %d clients, %s", name, clients, kind), func(t *testing.T) {
					m := measure(t, prepareFake(t, &fake{do: do}, oneRow("a"), int(clients)), request)
					wrong := m.Errors + m.Misses
					if m.Operations != 0 || m.Executed != wrong || wrong < maxErrors || wrong >= maxErrors+clients {
						t.Errorf("%+v", counts(m))
					}
					if (m.Error == "disk full") != (kind == "errors") || (m.Miss == "0 rows, expected are 1") != (kind == "misses") {
						t.Errorf("%q, %q", m.Error, m.Miss)
					}
				})
			}
		}
	}
}

// TestInFlight: the time ends with the first client that has nothing to do,
// and what ends later counts by the part of its time that lies before.
func TestInFlight(t *testing.T) {
	right := func() *wire.Histogram { return new(wire.Histogram) }
	l := &measurement{p: &prepared{unit: 5}, began: 100, latency: true}
	shares := []share{
		{done: 5, executed: 6, last: 150, lastRight: 1, exit: 170, histogram: right()},                         // all in time
		{done: 9, executed: 9, last: 160, lastRight: 3, exit: 160, histogram: right()},                         // the first to stop
		{done: 8, executed: 8, before: 157, last: 161, lastRight: 3, exit: 180, histogram: right()},            // a quarter of a batch too late
		{done: 2, executed: 3, before: 155, last: 190, lastRight: 0, exit: 191, histogram: right(), misses: 1}, // late, and wrong
		{done: 0, executed: 0, exit: 165, histogram: right()},                                                  // never had any
		{done: 1, executed: 1, before: 180, last: 190, lastRight: 1, exit: 195, histogram: right()},            // all of it too late
	}
	shares[0].histogram.Record(5)
	shares[2].histogram.Record(5)
	got := l.sum(shares)
	want := wire.Measured{Operations: 116, // (5 + 9 + 8-3/4 + 2 + 0) * 5
		Executed: 27 * 5, Nanos: 60, Misses: 1, Histogram: [][2]int64{{5, 2}}}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v\nwant %+v", got, want)
	}
}

// A client that is alone ends with its last draw: what the system lets it wait for behind
// that is in no figure.
func TestOneClientEndsWithItsLastDraw(t *testing.T) {
	f, _ := watched()
	p := prepareFake(t, f, oneRow("a"), 1)
	l, err := p.newMeasurement(wire.Measure{Operations: 50})
	must(t, err)
	shares := make([]share, 1)
	l.run(shares)
	if s := shares[0]; s.exit != s.last || s.executed != 50 {
		t.Errorf("it ended at %d after %d operations, want %d, when its last one of 50 ended", s.exit, s.executed, s.last)
	}
}

// TestFirstWords: the first client's first error and miss are told.
func TestFirstWords(t *testing.T) {
	l := &measurement{p: &prepared{unit: 1}}
	var a, b share
	b.note(errDisk)
	b.note(errors.New("second"))
	b.note(&missError{1, 2})
	b.note(fmt.Errorf("part: %w", &missError{3, 4}))
	got := l.sum([]share{a, b})
	want := wire.Measured{Errors: 2, Error: "disk full", Misses: 2, Miss: "1 rows, expected are 2"}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v\nwant %+v", got, want)
	}
}

// TestAllocationsAreCounted: the loop itself allocates nothing.
func TestAllocationsAreCounted(t *testing.T) {
	var sink []byte
	work := func(wire.Operation, int) (int, error) { sink = make([]byte, 1<<10); return 1, nil }
	idle := func(wire.Operation, int) (int, error) { return len(sink) >> 10, nil }
	for name, do := range map[string]func(wire.Operation, int) (int, error){"work": work, "idle": idle} {
		const n = 10_000
		m := measure(t, prepareFake(t, &fake{do: do}, oneRow("a"), 1), wire.Measure{Operations: n, Latency: true})
		each := float64(m.Counters.Allocs) / n
		if name == "work" && (each < 1 || each > 1.5 || m.Counters.Alloc < n<<10) || name == "idle" && each > 0.5 {
			t.Errorf("%s: %+v", name, m.Counters)
		}
	}
}
