package wire

// Counters are amounts over a window; Peak is the process's peak so far. Those
// that the worker cannot count are zero, and named in the hello's fact
// "uncounted".
type Counters struct {
	CPU      int64 `json:"cpu_ns"`        // user and system time
	Allocs   int64 `json:"allocs"`        // on the language's heap
	Alloc    int64 `json:"alloc_bytes"`   // on the language's heap
	Read     int64 `json:"read_bytes"`    // through system calls
	Fetched  int64 `json:"fetched_bytes"` // read from storage: what no cache had
	Written  int64 `json:"written_bytes"` // sent to storage
	Switches int64 `json:"switches"`      // context switches
	Peak     int64 `json:"peak_bytes"`    // resident memory
}

// Counter is one of the Counters.
type Counter struct {
	Name  string // on the wire
	Value *int64
	Max   bool // it is a maximum so far, and not an amount
}

// All lists all counters, in the order of the wire.
func (c *Counters) All() []Counter {
	return []Counter{
		{"cpu_ns", &c.CPU, false},
		{"allocs", &c.Allocs, false},
		{"alloc_bytes", &c.Alloc, false},
		{"read_bytes", &c.Read, false},
		{"fetched_bytes", &c.Fetched, false},
		{"written_bytes", &c.Written, false},
		{"switches", &c.Switches, false},
		{"peak_bytes", &c.Peak, true},
	}
}

// Since returns what was used after before. A maximum stays as it is.
func (c Counters) Since(before Counters) Counters {
	then := before.All()
	for i, now := range c.All() {
		if !now.Max {
			*now.Value -= *then[i].Value
		}
	}
	return c
}

// Add adds what else was used. Of a maximum it keeps the larger one.
func (c *Counters) Add(other Counters) {
	more := other.All()
	for i, sum := range c.All() {
		if sum.Max {
			*sum.Value = max(*sum.Value, *more[i].Value)
		} else {
			*sum.Value += *more[i].Value
		}
	}
}

// Check returns why a process cannot have such counters.
func (c Counters) Check() error {
	for _, counter := range c.All() {
		if err := checkCounts(count{counter.Name, *counter.Value}); err != nil {
			return err
		}
	}
	return nil
}
