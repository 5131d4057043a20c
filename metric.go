package assay

import "slices"

// Metric is a quantity that trials have a figure of.
type Metric struct {
	Name         string
	Unit         string
	HigherBetter bool
	MayBeZero    bool    // a ratio or a logarithm does not suit it
	Of           Subject // an operation unless it says otherwise
	About        string
}

// Subject says what a metric is of.
type Subject int

// The subjects.
const (
	OfOperation Subject = iota // operations, or the worker that does them
	OfPhase                    // one phase of a statement
	OfRequest                  // requests to a server: all that are served over HTTP have some, and nothing else does
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
	StaleOp = "stale/op"

	LoopNsPerOp      = "loop-ns/op"
	CPUPerOp         = "cpu-ns/op"
	ComputePerOp     = "compute-ns/op"
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
	PoolWaitPerOp    = "pool-wait-ns/op"

	PreparePerOp   = "prepare" + PhaseSuffix
	BindPerOp      = "bind" + PhaseSuffix
	QueryPerOp     = "query" + PhaseSuffix
	NextPerOp      = "next" + PhaseSuffix
	ScanPerOp      = "scan" + PhaseSuffix
	CloseRowsPerOp = "close-rows" + PhaseSuffix
	CloseStmtPerOp = "close-stmt" + PhaseSuffix
	ClockPerOp     = "clock-ns/op" // of all phases

	CapacityPerS = "capacity/s"
	OfferedPerS  = "offered/s"
	LimitPerS    = "limit/s"
	Lag          = "lag"
	LateOp       = "late/op"
	DroppedOp    = "dropped/op"
	FailedOp     = "failed/op"
	ReopensOp    = "reopens/op"
)

// PhaseSuffix makes the name of a phase that of its metric.
const PhaseSuffix = "-ns/op"

// Metrics lists every metric, in the order of tables.
var Metrics = []Metric{
	{Name: NsPerOp, Unit: "ns", About: "wall time / operations"},
	{Name: OpPerS, Unit: "1/s", HigherBetter: true, About: "operations / wall time"},
	{Name: P50, Unit: "ns", About: "latency that half of the operations stayed under"},
	{Name: P90, Unit: "ns", About: "90th percentile of latency"},
	{Name: P99, Unit: "ns", About: "99th percentile of latency"},
	{Name: P999, Unit: "ns", About: "99.9th percentile of latency"},
	{Name: BusyOp, Unit: "1/op", MayBeZero: true, About: "answers of 'database is busy' per operation; each was tried again"},
	{Name: StaleOp, Unit: "1/op", MayBeZero: true, About: "of these, answers to a transaction that began DEFERRED, had read, and came too late to change: at once, whatever busy_timeout says"},
	{Name: LoopNsPerOp, Unit: "ns", About: "what the worker's own loop takes / operations, measured with statements that do nothing; it is in the other figures, and not subtracted"},
	{Name: CPUPerOp, Unit: "ns", About: "user and system CPU time of the worker / operations"},
	{Name: ComputePerOp, Unit: "ns", About: "cpu-ns/op of an SQLite driver's reading operation that waits for nothing, in a run that found the machine busy when it began: there it is compared instead of ns/op, since other programs change it less"},
	{Name: AllocatedPerOp, Unit: "B", MayBeZero: true, About: "bytes allocated on the Go heap / operations; memory of C code is not in it"},
	{Name: AllocationsPerOp, Unit: "1/op", MayBeZero: true, About: "allocations on the Go heap / operations"},
	{Name: ReadPerOp, Unit: "B", MayBeZero: true, About: "bytes read through system calls / operations"},
	{Name: FetchedPerOp, Unit: "B", MayBeZero: true, About: "bytes read from storage, what the page cache did not have / operations"},
	{Name: WrittenPerOp, Unit: "B", MayBeZero: true, About: "bytes sent to storage / operations"},
	{Name: WrittenPerPut, Unit: "B/B", About: "bytes sent to storage / bytes of keys and values put; what closing writes is not in it"},
	{Name: SyncsPerOp, Unit: "1/op", MayBeZero: true, About: "syncs of files / operations, in a trace of 20 commits that is not measured and seldom has a checkpoint"},
	{Name: DiskBytes, Unit: "B", About: "what the database takes on the disk after the block, when it is closed"},
	{Name: SwitchesPerOp, Unit: "1/op", MayBeZero: true, About: "voluntary and involuntary context switches / operations"},
	{Name: PeakBytes, Unit: "B", About: "peak resident memory of the worker process; of several processes, added up"},
	{Name: CloseNanos, Unit: "ns", MayBeZero: true, About: "time to close the database after the block"},
	{Name: PreparePerOp, Unit: "ns", Of: OfPhase, About: "phase: compile the statement; phases are timed in windows of their own"},
	{Name: BindPerOp, Unit: "ns", Of: OfPhase, About: "phase: hand over the arguments, where the API has that apart"},
	{Name: QueryPerOp, Unit: "ns", Of: OfPhase, About: "phase: hand over the arguments and start the statement"},
	{Name: NextPerOp, Unit: "ns", Of: OfPhase, About: "phase: step to the next row, for all rows"},
	{Name: ScanPerOp, Unit: "ns", Of: OfPhase, About: "phase: read the columns, of all rows"},
	{Name: CloseRowsPerOp, Unit: "ns", Of: OfPhase, About: "phase: end the answer, or reset the statement"},
	{Name: CloseStmtPerOp, Unit: "ns", Of: OfPhase, About: "phase: finalize the statement"},
	{Name: CapacityPerS, Unit: "1/s", HigherBetter: true, Of: OfRequest, About: "the mean of the arrival rates that met the latency target in the steps that confirm it"},
	{Name: OfferedPerS, Unit: "1/s", Of: OfRequest, About: "open loop: requests a second that were to be sent"},
	{Name: LimitPerS, Unit: "1/s", Of: OfRequest, About: "requests a second that the load generator reached without a database, with as many clients"},
	{Name: Lag, Unit: "ns", Of: OfRequest, About: "open loop: 99th percentile of how long requests waited for the load generator alone; it is in their latency"},
	{Name: LateOp, Unit: "1/op", MayBeZero: true, Of: OfRequest, About: "open loop: requests sent over 1 ms after their time / requests"},
	{Name: DroppedOp, Unit: "1/op", MayBeZero: true, Of: OfRequest, About: "open loop: requests not sent, for want of a connection for 1 s / requests"},
	{Name: FailedOp, Unit: "1/op", MayBeZero: true, Of: OfRequest, About: "requests without an answer of status 200 / requests; they are in no other figure"},
	{Name: ReopensOp, Unit: "1/op", MayBeZero: true, About: "connections to the database that the pool closed under load, and opened again / operations"},
	{Name: PoolWaitPerOp, Unit: "ns", MayBeZero: true, About: "time that operations waited for a connection of the pool / operations"},
	{Name: ClockPerOp, Unit: "ns", About: "what reading the clock between the phases costs; it is in the phases, and not subtracted"},
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

// Primary is the metric by which the cells of a table are compared, all of them alike
// but for target and profile, by the trials of each that count:
//   - what a search for the capacity found;
//   - where requests arrive at a rate of their own, the latency: its 99th percentile if
//     some cell has it in every launch, else the median;
//   - the throughput of requests, and of blocks of several clients, whose latencies overlap;
//   - in a run that found the machine busy, the CPU time of operations that wait for nothing,
//     where each has it in every launch;
//   - otherwise the time of an operation.
func Primary[T measured](alike Cell, cells [][]T) string {
	trials := slices.Concat(cells...)
	switch {
	case slices.ContainsFunc(trials, func(t T) bool { return t.Has(CapacityPerS) }):
		return CapacityPerS
	case alike.Rate > 0 && slices.ContainsFunc(cells, func(trials []T) bool { return allHave(P99, trials) }):
		return P99
	case alike.Rate > 0:
		return P50
	case slices.ContainsFunc(trials, func(t T) bool { return t.As() == Blocks && t.Has(OpPerS) && (alike.AllClients() > 1 || served(t)) }):
		return OpPerS
	case allHave(ComputePerOp, trials):
		return ComputePerOp
	}
	return NsPerOp
}

// Kind returns what the spread of a cell's figures depends on beside the target: where the
// operation changes data, the profile. A commit that waits for the disk spreads by several
// times as much as one that does not.
func Kind(c Cell, changes bool) string {
	if !changes {
		return ""
	}
	return c.Profile
}

// allHave reports whether every trial that can be compared has a metric.
func allHave[T measured](metric string, trials []T) bool {
	compared := slices.DeleteFunc(slices.Clone(trials), func(t T) bool { return t.Ended() != OK })
	return len(compared) > 0 && !slices.ContainsFunc(compared, func(t T) bool { return !t.Has(metric) })
}

// Primary is the metric by which the trial would be compared if there were no other.
func (t Trial) Primary() string { return Primary(t.Cell, [][]*Trial{{&t}}) }

// Served reports whether the operation was asked for over HTTP: only then the trial
// has figures of requests.
func (t *Trial) Served() bool { return served(t) }

func served(t measured) bool { return slices.ContainsFunc(ofRequests, t.Has) }

// measured is a trial, or what is kept of one.
type measured interface {
	Has(metric string) bool
	As() Mode
	Ended() Outcome
}

// Has reports whether the trial has a figure of a metric.
func (t *Trial) Has(metric string) bool {
	_, has := t.Figures[metric]
	return has
}

// As returns how the trial was measured.
func (t *Trial) As() Mode { return t.Mode }

// Ended returns how the trial ended.
func (t *Trial) Ended() Outcome { return t.Outcome }

// PhaseMetrics are the metrics of phases, and ofRequests those of requests, in the order
// of tables.
var PhaseMetrics, ofRequests = namesOf(OfPhase), namesOf(OfRequest)

// namesOf lists the metrics of a subject.
func namesOf(subject Subject) []string {
	var names []string
	for _, m := range Metrics {
		if m.Of == subject {
			names = append(names, m.Name)
		}
	}
	return names
}
