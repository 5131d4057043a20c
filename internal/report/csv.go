package report

import (
	"cmp"
	"encoding/csv"
	"io"
	"slices"
	"strconv"
	"strings"

	"assay"
	"assay/internal/analysis"
	"assay/internal/analysis/wording"
	"assay/internal/stat"
)

// CSVColumn is a column of the CSV, and what it has.
type CSVColumn struct{ Name, About string }

// CSVColumns are a contract: new columns come at the end, none is renamed. The reference
// describes them.
var CSVColumns = []CSVColumn{
	{"run", "id of the run"},
	{"plan", "name of the plan"},
	{"workload", "schema, data and operations that belong together"},
	{"operation", "what was timed"},
	{"engine", "the database: `sqlite`, `postgresql`, or a key-value store such as `bbolt`"},
	{"driver", "the library that accesses it"},
	{"driver_version", "version of that library; empty where the worker never reported it"},
	{"build", "digest of everything that went into the worker program"},
	{"profile", "the named set of settings"},
	{"clients", "how many clients ran the operation at once"},
	{"pool", "open connections for readers"},
	{"metric", "what the figure measures: `ns/op`, `op/s`, `p99`, ... ; empty for a cell without figures"},
	{"unit", "unit of `median`, `ci_low` and `ci_high`: `ns`, `1/s`, `B`, `1/op`, `B/B`"},
	{"n", "number of launches behind the figure; 0 without a figure"},
	{"median", "the mean over launches, not their median (the name is part of the contract): the geometric mean; the arithmetic mean for metrics that can be 0, such as `busy/op` and `allocs/op`"},
	{"ci_low", "lower bound of the mean's 95 % confidence interval; empty with fewer than two launches"},
	{"ci_high", "upper bound of that interval"},
	{"outcome", "`ok`, `unsupported`, `not-applied`, `wrong-answer`, `failed`, `timed-out` or `not-run`; assay compares only `ok`"},
	{"warnings", "codes of the cell's warnings, joined by `;`"},
	{"params", "the other axes as `k=v;k=v`, sorted by name"},
	{"idle", "connections kept idle"},
	{"statement", "`once`, `each` or `never`: when the worker prepared the statement"},
	{"transaction", "operations per transaction; `none`: each commits alone"},
	{"rate", "arrivals per second; 0 for a closed loop and for a capacity search"},
	{"durability", "`none`, `process`, `consistent`, `last-commit` or `power`, as claimed by settings, or what a refutation leaves of it; empty for operations that change no data, and where unknown"},
	{"reference", "the baseline: the cell that this one is compared with, as DRIVER@VERSION/PROFILE; the baseline names itself"},
	{"ratio", "figure / figure of the baseline, paired by launch; empty for the baseline, and where no launch has both or a figure is 0"},
	{"ratio_low", "lower bound of the ratio's 95 % confidence interval"},
	{"ratio_high", "upper bound of that interval"},
	{"verdict", "`faster`, `slower`, `equivalent` or `undecided`; only on the metric that assay compares the operation by: `ns/op`, or `op/s` for blocks of several clients and for requests; with a `rate`, `p99`, or `p50` where there are too few requests; `capacity/s` in a capacity search"},
	{"without", "the setting that the ablation left out of the profile; such a row's baseline is the same target with the setting, and its ratio is without / with"},
	{"options", "the requested compile options, joined by colons, such as `DQS=0:OMIT_SHARED_CACHE`; empty: the driver's own"},
	{"floor", "figure / figure of the floor (`sqlite-c`, the engine with no driver in between; for key-value stores `append-log`) with the same profile, for the compared metric, paired by launch; empty where the run has no floor"},
	{"floor_low", "lower bound of its 95 % confidence interval"},
	{"floor_high", "upper bound of that interval"},
	{"machine", "a short description of the machine: processor, cores, memory"},
	{"proof", "what faults showed about the target with the profile: `held:N` (it kept its durability promise in N power cuts, or kills where the class is `process`, which promises nothing about power cuts), `refuted:KIND` (`loses-last-commit`, `loses-commits`, `tears-commits`, `corrupts` or `does-not-open`; by any fault, the worst), or empty: the settings only claim the durability"},
	{"begin", "how transactions begin: `deferred`, `immediate` (also where the plan does not say) or `exclusive`; empty without transactions of SQLite"},
	{"processes", "worker processes that share the database, each with `clients` and `pool`; their memory and CPU time are added up"},
}

// writeCSV prints one row per cell and metric, and one without a metric for a
// cell without figures.
func writeCSV(w io.Writer, r *Report) error {
	out := csv.NewWriter(w)
	write := func(record []string) {
		for i := range record {
			record[i] = wording.Clean(record[i])
		}
		_ = out.Write(record) // Error, below, tells
	}
	var header []string
	for _, c := range CSVColumns {
		header = append(header, c.Name)
	}
	write(header)
	for _, t := range r.Tables {
		for _, row := range slices.Concat(t.Rows, t.Factors) {
			for _, f := range row.Figures {
				write(r.record(row, f))
			}
			if len(row.Figures) == 0 {
				write(r.record(row, analysis.Figure{Interval: stat.MeanInterval(nil)}))
			}
		}
	}
	out.Flush()
	return out.Error()
}

func (r *Report) record(row *analysis.Row, f analysis.Figure) []string {
	c := row.Cell
	unknown, verdict := stat.MeanInterval(nil), ""
	ratio, floor := cmp.Or(f.Ratio, &unknown), &unknown
	if f.Comparison != nil {
		verdict = string(f.Comparison.Verdict)
	}
	if row.Floor != nil && f.Metric.Name == row.Table.Primary.Name {
		floor = row.Floor
	}
	return []string{
		r.Run.ID, c.Plan, c.Workload, c.Operation, c.Engine, c.Driver, c.DriverVersion, c.Build, c.Profile,
		strconv.Itoa(c.Clients), strconv.Itoa(c.Pool),
		f.Metric.Name, f.Metric.Unit, strconv.Itoa(f.Interval.N), number(f.Interval.Center), number(f.Interval.Low), number(f.Interval.High),
		string(row.Outcome), strings.Join(row.Codes(), ";"), c.ParamString(), strconv.Itoa(c.Idle), c.Statement,
		assay.TransactionString(c.Transaction), number(c.Rate), string(row.Durability),
		row.Reference.ID(), number(ratio.Center), number(ratio.Low), number(ratio.High), verdict, c.Without, c.Options, number(floor.Center), number(floor.Low), number(floor.High),
		r.Run.Machine(), assay.Foremost(row.Proofs).Code(), string(c.Begun()), strconv.Itoa(max(1, c.Processes)),
	}
}

// number is a figure in full precision, empty where it is unknown.
func number(v float64) string {
	if !analysis.Finite(v) {
		return ""
	}
	return strconv.FormatFloat(v, 'g', -1, 64)
}
