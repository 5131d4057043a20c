package assay

// Metric is a quantity that trials have a figure of.
type Metric struct {
	Name         string
	Unit         string
	HigherBetter bool
	MayBeZero    bool // a ratio or a logarithm does not suit it
	Of           Subject
	About        string
}

// Subject is what a metric is of.
type Subject int

// The subjects.
const (
	OfOperation Subject = iota // operations, or the worker that does them
	OfPhase                    // one phase of a statement
	OfRequest                  // requests to a server: only rows that are served have it
)

// The names of metrics that code refers to.
const (
	NsPerOp = "ns/op"
	OpPerS  = "op/s"
	P50     = "p50"
	P90     = "p90"
	P99     = "p99"
	P999    = "p99.9"
	BusyOp  = "busy/op"

	LoopNsPerOp      = "loop-ns/op"
	CPUPerOp         = "cpu-ns/op"
	AllocatedPerOp   = "B/op"
	AllocationsPerOp = "allocs/op"
	ReadPerOp        = "read-B/op"
	FetchedPerOp     = "fetched-B/op"
	WrittenPerOp     = "bytes-written/op"
	WrittenPerPut    = "written-B/B"
	SyncsPerOp       = "syncs/op"
	DiskBytes        = "disk-B"
	SwitchesPerOp    = "switches/op"
	PeakBytes        = "peak-B"
	CloseNanos       = "close-ns"
	ClockPerOp       = "clock-ns/op"
	PoolWaitPerOp    = "pool-wait-ns/op"

	CapacityPerS = "capacity/s"
	OfferedPerS  = "offered/s"
	LimitPerS    = "limit/s"
	Lag          = "lag"
	LateOp       = "late/op"
	DroppedOp    = "dropped/op"
	FailedOp     = "failed/op"
	ReopensOp    = "reopens/op"
)

// Metrics lists every metric, in the order of tables.
var Metrics = []Metric{
	{NsPerOp, "ns", false, false, OfOperation, "wall time / operations"},
	{OpPerS, "1/s", true, false, OfOperation, "operations / wall time"},
	{P50, "ns", false, false, OfOperation, "latency that half of the operations stayed under"},
	{P90, "ns", false, false, OfOperation, "90th percentile of latency"},
	{P99, "ns", false, false, OfOperation, "99th percentile of latency"},
	{P999, "ns", false, false, OfOperation, "99.9th percentile of latency"},
	{BusyOp, "1/op", false, true, OfOperation, "answers of 'database is busy' per operation; each was tried again"},
	{LoopNsPerOp, "ns", false, false, OfOperation, "what the worker's own loop takes / operations, measured with statements that do nothing; it is in the other figures, and not subtracted"},
	{CPUPerOp, "ns", false, false, OfOperation, "user and system CPU time of the worker / operations"},
	{AllocatedPerOp, "B", false, true, OfOperation, "bytes allocated on the Go heap / operations; memory of C code is not in it"},
	{AllocationsPerOp, "1/op", false, true, OfOperation, "allocations on the Go heap / operations"},
	{ReadPerOp, "B", false, true, OfOperation, "bytes read through system calls / operations"},
	{FetchedPerOp, "B", false, false, OfOperation, "bytes read from storage, what the page cache did not have / operations"},
	{WrittenPerOp, "B", false, true, OfOperation, "bytes sent to storage / operations"},
	{WrittenPerPut, "B/B", false, false, OfOperation, "bytes sent to storage / bytes of keys and values put; what closing writes is not in it"},
	{SyncsPerOp, "1/op", false, false, OfOperation, "syncs of files / operations, in a trace of some commits that is not measured"},
	{DiskBytes, "B", false, false, OfOperation, "what the database takes on the disk after the block, when it is closed"},
	{SwitchesPerOp, "1/op", false, true, OfOperation, "voluntary and involuntary context switches / operations"},
	{PeakBytes, "B", false, false, OfOperation, "peak resident memory of the worker process"},
	{CloseNanos, "ns", false, true, OfOperation, "time to close the database after the block"},
	{"prepare-ns/op", "ns", false, false, OfPhase, "phase: compile the statement; phases are timed in windows of their own"},
	{"bind-ns/op", "ns", false, false, OfPhase, "phase: hand over the arguments, where the API has that apart"},
	{"query-ns/op", "ns", false, false, OfPhase, "phase: hand over the arguments and start the statement"},
	{"next-ns/op", "ns", false, false, OfPhase, "phase: step to the next row, for all rows"},
	{"scan-ns/op", "ns", false, false, OfPhase, "phase: read the columns, of all rows"},
	{"close-rows-ns/op", "ns", false, false, OfPhase, "phase: end the answer, or reset the statement"},
	{"close-stmt-ns/op", "ns", false, false, OfPhase, "phase: finalize the statement"},
	{CapacityPerS, "1/s", true, false, OfRequest, "the highest arrival rate that met the latency target"},
	{OfferedPerS, "1/s", false, false, OfRequest, "open loop: requests a second that were to be sent"},
	{LimitPerS, "1/s", false, false, OfRequest, "requests a second that the load generator reached without a database, with as many clients"},
	{Lag, "ns", false, false, OfRequest, "open loop: 99th percentile of how long requests waited for the load generator alone; it is in their latency"},
	{LateOp, "1/op", false, true, OfRequest, "open loop: requests sent over 1 ms after their time / requests"},
	{DroppedOp, "1/op", false, true, OfRequest, "open loop: requests not sent, for want of a connection for 1 s / requests"},
	{FailedOp, "1/op", false, true, OfRequest, "requests without an answer of status 200 / requests; they are in no other figure"},
	{ReopensOp, "1/op", false, true, OfRequest, "connections to the database that the pool closed under load, and opened again / requests"},
	{PoolWaitPerOp, "ns", false, true, OfRequest, "time that requests waited for a connection of the pool / requests"},
	{ClockPerOp, "ns", false, false, OfOperation, "what reading the clock between the phases costs; it is in the phases, and not subtracted"},
}

// Percentiles are the shares of operations that stay under a latency, by metric.
var Percentiles = map[string]float64{P50: 0.5, P90: 0.9, P99: 0.99, P999: 0.999}

// MetricByName returns the metric of that name; the second result is false
// where there is none.
func MetricByName(name string) (Metric, bool) {
	for _, m := range Metrics {
		if m.Name == name {
			return m, true
		}
	}
	return Metric{}, false
}

// Primary is the metric by which a trial is compared: what a search for the capacity
// found, or at a fixed rate of arrivals the latency, of few requests their median.
func (t Trial) Primary() string {
	if _, searched := t.Figures[CapacityPerS]; searched {
		return CapacityPerS
	}
	if t.Cell.Rate == 0 {
		return NsPerOp
	}
	if _, enough := t.Figures[P99]; enough {
		return P99
	}
	return P50
}
