package assay

// Metric is a quantity that trials have a figure of.
type Metric struct {
	Name         string
	Unit         string
	HigherBetter bool
	About        string
}

// The names of metrics that code refers to.
const (
	NsPerOp = "ns/op"
	OpPerS  = "op/s"
	P50     = "p50"
	P99     = "p99"
	BusyOp  = "busy/op"
)

// Metrics lists every metric, in the order of tables.
var Metrics = []Metric{
	{NsPerOp, "ns", false, "wall time / operations"},
	{OpPerS, "1/s", true, "operations / wall time"},
	{P50, "ns", false, "latency that half of the operations stayed under"},
	{"p90", "ns", false, "90th percentile of latency"},
	{P99, "ns", false, "99th percentile of latency"},
	{"p99.9", "ns", false, "99.9th percentile of latency"},
	{BusyOp, "1/op", false, "answers of 'database is busy' per operation; each was tried again"},
	{"cpu-ns/op", "ns", false, "user and system CPU time of the worker / operations"},
	{"B/op", "B", false, "bytes allocated on the Go heap / operations; memory of C code is not in it"},
	{"allocs/op", "1/op", false, "allocations on the Go heap / operations"},
	{"read-B/op", "B", false, "bytes read through system calls / operations"},
	{"fetched-B/op", "B", false, "bytes read from storage, what the page cache did not have / operations"},
	{"bytes-written/op", "B", false, "bytes sent to storage / operations"},
	{"written-B/B", "B/B", false, "bytes sent to storage / bytes of keys and values put; what closing writes is not in it"},
	{"syncs/op", "1/op", false, "syncs of files / operations, in a trace of some commits that is not measured"},
	{"disk-B", "B", false, "what the database takes on the disk after the block, when it is closed"},
	{"switches/op", "1/op", false, "voluntary and involuntary context switches / operations"},
	{"peak-B", "B", false, "peak resident memory of the worker process"},
	{"close-ns", "ns", false, "time to close the database after the block"},
	{"prepare-ns/op", "ns", false, "phase: compile the statement; phases are timed in windows of their own"},
	{"bind-ns/op", "ns", false, "phase: hand over the arguments, where the API has that apart"},
	{"query-ns/op", "ns", false, "phase: hand over the arguments and start the statement"},
	{"next-ns/op", "ns", false, "phase: step to the next row, for all rows"},
	{"scan-ns/op", "ns", false, "phase: read the columns, of all rows"},
	{"close-rows-ns/op", "ns", false, "phase: end the answer, or reset the statement"},
	{"close-stmt-ns/op", "ns", false, "phase: finalize the statement"},
	{"clock-ns/op", "ns", false, "what reading the clock between the phases costs; it is in the phases, and not subtracted"},
}

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
