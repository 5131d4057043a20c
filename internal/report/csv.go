package report

import (
	"encoding/csv"
	"io"
	"slices"
	"strconv"
	"strings"

	"assay"
	"assay/internal/analysis"
	"assay/internal/analysis/wording"
)

// csvHeader is a contract: docs/csv.md describes it, new columns come at the
// end, none is renamed.
var csvHeader = strings.Split("run,plan,workload,operation,engine,driver,driver_version,build,profile,clients,pool,"+
	"metric,unit,n,median,ci_low,ci_high,outcome,warnings,params,idle,statement,transaction,rate,durability,"+
	"reference,ratio,ratio_low,ratio_high,verdict,without,options,floor,floor_low,floor_high,machine,proof", ",")

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
	write(slices.Clone(csvHeader))
	for _, t := range r.Tables {
		for _, row := range slices.Concat(t.Rows, t.Factors) {
			for _, f := range row.Figures {
				write(r.record(row, f))
			}
			if len(row.Figures) == 0 {
				write(r.record(row, analysis.Figure{}))
			}
		}
	}
	out.Flush()
	return out.Error()
}

func (r *Report) record(row *analysis.Row, f analysis.Figure) []string {
	c := row.Cell
	ratios, verdict := []string{"", "", ""}, ""
	if f.Ratio != nil {
		ratios = []string{number(f.Ratio.Center), number(f.Ratio.Low), number(f.Ratio.High)}
	}
	if f.Comparison != nil {
		verdict = string(f.Comparison.Verdict)
	}
	floor := []string{"", "", ""}
	if row.Floor != nil && f.Metric.Name == row.Table.Primary.Name {
		floor = []string{number(row.Floor.Center), number(row.Floor.Low), number(row.Floor.High)}
	}
	centre := []string{"", "", ""}
	if f.Metric.Name != "" {
		centre = []string{number(f.Interval.Center), number(f.Interval.Low), number(f.Interval.High)}
	}
	return []string{
		r.Run.ID, c.Plan, c.Workload, c.Operation, c.Engine, c.Driver, c.DriverVersion, c.Build, c.Profile,
		strconv.Itoa(c.Clients), strconv.Itoa(c.Pool),
		f.Metric.Name, f.Metric.Unit, strconv.Itoa(f.Interval.N), centre[0], centre[1], centre[2],
		string(row.Outcome), strings.Join(row.Codes(), ";"), c.ParamString(), strconv.Itoa(c.Idle), c.Statement,
		assay.TransactionString(c.Transaction), number(c.Rate), string(row.Durability),
		row.Reference.ID(), ratios[0], ratios[1], ratios[2], verdict, c.Without, c.Options, floor[0], floor[1], floor[2],
		r.Run.Machine(), assay.Foremost(row.Proofs).Code(),
	}
}

// number is a figure in full precision, empty where it is unknown.
func number(v float64) string {
	if !analysis.Finite(v) {
		return ""
	}
	return strconv.FormatFloat(v, 'g', -1, 64)
}
