package report

import (
	"encoding/json"
	"io"
	"time"

	"assay"
	"assay/internal/analysis"
	"assay/internal/stat"
)

// The types of this file are the JSON document. Its field names are a
// contract; they do not follow renamings in the model. A number that is not
// known is null. The reference is generated from the fields and their comments.
type (
	jsonReport struct {
		Run         jsonRun          `json:"run"`
		Suggestions []jsonSuggestion `json:"suggestions"` // for each class of durability
		Tables      []jsonTable      `json:"tables"`      // what is compared with each other
		Differences []jsonDifference `json:"differences"` // in what the targets differ
	}
	jsonRun struct {
		ID        string              `json:"id"`
		Plan      string              `json:"plan"`
		PlanText  string              `json:"plan_text"`
		Seed      uint64              `json:"seed,string"` // it can exceed what a JavaScript number holds
		Started   time.Time           `json:"started"`
		Finished  *time.Time          `json:"finished"`           // null for a run that is not
		Status    assay.Status        `json:"status"`             // `running`, `interrupted` or `finished`
		Version   string              `json:"assay_version"`      // of assay that measured it
		Reference string              `json:"reference"`          // the baseline, as DRIVER or DRIVER/PROFILE
		Drivers   []string            `json:"drivers,omitempty"`  // `--drivers`, where given
		Only      map[string][]string `json:"only,omitempty"`     // `--only`, where given
		BudgetNS  int64               `json:"budget_ns"`          // 0: none
		Precision float64             `json:"precision"`          // target half-width of the confidence intervals, as a fraction
		Exact     bool                `json:"exact,omitempty"`    // true with `--precision`: large differences were to become as narrow, too
		LeastNS   int64               `json:"least_ns"`           // estimated time of the minimum of launches of all cells
		SpentNS   assay.Spent         `json:"spent_ns,omitempty"` // wall time by stage
		Host      map[string]string   `json:"host"`               // facts of the machine
		Targets   []jsonTarget        `json:"targets"`
		Repeat    string              `json:"repeat"` // the command that measures the same again
	}
	jsonTarget struct {
		Driver         string            `json:"driver"`
		DriverVersion  string            `json:"driver_version"`
		Engine         string            `json:"engine"`
		EngineVersion  string            `json:"engine_version"`
		Build          string            `json:"build"`           // digest of all that went into the worker program
		Facts          map[string]string `json:"facts"`           // as the worker reports them
		CompileOptions []string          `json:"compile_options"` // as the engine reports them
		Options        []string          `json:"options"`         // compile options that were requested
		Layouts        int               `json:"layouts"`         // link layouts of the program, which launches take in turn
	}
	jsonSuggestion struct {
		Durability  assay.Durability `json:"durability"`  // the class; empty for operations that change no data
		Text        string           `json:"text"`        // the report's sentence
		Connections []jsonConnection `json:"connections"` // how to open the suggested targets
	}
	jsonConnection struct {
		Name     string        `json:"name"` // driver and profile
		DSN      string        `json:"dsn"`  // what the driver gets
		Each     []string      `json:"each"` // SQL of every new connection
		Settings []jsonSetting `json:"settings"`
	}
	jsonSetting struct {
		Name       string `json:"name"`
		Connection string `json:"connection,omitempty"` // one, or those that read alike; `trace`: seen in a trace of system calls
		Requested  string `json:"requested"`            // by the profile
		Issued     string `json:"issued"`               // what the worker sent
		Effective  string `json:"effective"`            // what was read back
		Applied    bool   `json:"applied"`              // whether it is effective as requested
	}
	jsonTable struct {
		Title           string               `json:"title"`           // operation with its coordinates
		Primary         string               `json:"primary"`         // the metric that rows are compared by
		Changes         bool                 `json:"changes"`         // whether the operation changes data
		Margin          float64              `json:"margin"`          // the fraction that counts as equivalent
		Noise           float64              `json:"noise"`           // the fraction by which the A/A test differs
		LaunchNS        int64                `json:"launch_ns"`       // mean wall time of one launch of all rows
		Recommendations []jsonRecommendation `json:"recommendations"` // for each class of durability
		Rows            []jsonRow            `json:"rows"`            // the cells
		Twins           []jsonRow            `json:"twins"`           // the rows of the A/A test
		Factors         []jsonRow            `json:"factors"`         // the rows of the ablation
		Differences     []jsonDifference     `json:"differences"`     // in what the rows differ
	}
	jsonRecommendation struct {
		Durability assay.Durability `json:"durability"` // the class
		Text       string           `json:"text"`       // the report's sentence
	}
	jsonRow struct {
		Plan          string            `json:"plan"`
		Workload      string            `json:"workload"`
		Operation     string            `json:"operation"`
		Engine        string            `json:"engine"`
		Driver        string            `json:"driver"`
		DriverVersion string            `json:"driver_version"`
		Build         string            `json:"build"`
		Profile       string            `json:"profile"`
		Without       string            `json:"without,omitempty"` // the setting that the ablation left out
		Clients       int               `json:"clients"`
		Processes     int               `json:"processes"`
		Pool          int               `json:"pool"`
		Idle          int               `json:"idle"`
		Statement     string            `json:"statement"`
		Transaction   string            `json:"transaction"`
		Begin         assay.Begin       `json:"begin,omitempty"`
		Rate          float64           `json:"rate"`
		Params        map[string]string `json:"params"`
		AsPublished   bool              `json:"as_published"` // whether the profile is a condition as published
		Outcome       assay.Outcome     `json:"outcome"`      // how the cell ended
		Reason        string            `json:"reason"`       // why
		Durability    assay.Durability  `json:"durability"`
		Reference     string            `json:"reference"`
		Rank          int               `json:"rank"` // in its class of durability; 0: not ranked
		Options       string            `json:"options"`
		IsFloor       bool              `json:"is_floor"` // whether it is the floor
		Floor         *jsonInterval     `json:"floor"`    // its ratio to the floor
		Figures       []jsonFigure      `json:"figures"`
		Warnings      []jsonWarning     `json:"warnings"`
		DSN           string            `json:"dsn"`  // what the driver got
		Each          []string          `json:"each"` // SQL of every new connection
		Settings      []jsonSetting     `json:"settings"`
		QueryPlan     string            `json:"query_plan"` // as the engine prints it
		Trials        []jsonTrial       `json:"trials"`     // one per launch
	}
	jsonFigure struct {
		Metric string `json:"metric"`
		Unit   string `json:"unit"`
		jsonInterval
		Ratio        *jsonInterval `json:"ratio"`         // to the baseline
		Verdict      stat.Verdict  `json:"verdict"`       // of the metric that rows are compared by
		Reason       string        `json:"reason"`        // why it is undecided
		MoreLaunches int           `json:"more_launches"` // that are likely to decide; 0: decided, or unknown
	}
	jsonInterval struct {
		N      int      `json:"n"`      // launches
		Center *float64 `json:"center"` // their mean
		Low    *float64 `json:"low"`    // of its 95 % confidence interval
		High   *float64 `json:"high"`   // likewise
	}
	jsonWarning struct {
		Code     string `json:"code"`
		Evidence string `json:"evidence"`
		Advice   string `json:"advice"`
		Launches int    `json:"launches"` // that had it; 0: about all launches together
		Of       int    `json:"of"`       // all launches that could
	}
	jsonTrial struct {
		Launch       int                 `json:"launch"`
		Mode         assay.Mode          `json:"mode"`    // `windows` or `blocks`
		Outcome      assay.Outcome       `json:"outcome"` // how it ended
		Reason       string              `json:"reason"`  // why
		Figures      map[string]*float64 `json:"figures"` // by metric
		Samples      [][2]int64          `json:"samples"` // operations and nanoseconds of each window or block
		Digest       string              `json:"digest"`  // of the verified answers
		Started      time.Time           `json:"started"`
		TookNS       int64               `json:"took_ns"`      // wall time of all that was done for it
		Steal        *float64            `json:"steal"`        // fraction of the machine that the hypervisor took
		Foreign      *float64            `json:"foreign"`      // fraction that other programs took
		Disqualified bool                `json:"disqualified"` // whether the launch was disturbed
	}
	jsonDifference struct {
		Of     string        `json:"of"`   // `engine`, `compile option`, or `profile NAME`
		Name   string        `json:"name"` // the fact, option or setting
		Values []jsonHolders `json:"values"`
	}
	jsonHolders struct {
		Value   string   `json:"value"`   // also `not set`, `not reported`
		Drivers []string `json:"drivers"` // that have it
	}
)

// writeJSON prints the whole model.
func writeJSON(w io.Writer, r *Report) error {
	doc := jsonReport{
		Run:         toJSONRun(r.Run),
		Suggestions: convert(r.Suggestions, toJSONSuggestion),
		Tables:      convert(r.Tables, toJSONTable),
		Differences: convert(r.Differences, toJSONDifference),
	}
	out := json.NewEncoder(w)
	out.SetIndent("", " ")
	return out.Encode(doc)
}

// convert maps a list; an empty one becomes [], not null.
func convert[A, B any](list []A, to func(A) B) []B {
	all := make([]B, len(list))
	for i, v := range list {
		all[i] = to(v)
	}
	return all
}

func toJSONRun(run assay.Run) jsonRun {
	j := jsonRun{
		ID: run.ID, Plan: run.Plan, PlanText: run.PlanText, Seed: run.Seed, Started: run.Started,
		Status: run.Status, Version: run.Version, Reference: run.Baseline.String(),
		Drivers: run.Options.Drivers, Only: run.Options.Only, BudgetNS: int64(run.Options.Budget),
		Precision: run.Options.Precision, Exact: run.Options.Exact, LeastNS: int64(run.MinTime), SpentNS: run.Spent, Host: run.Host,
		Targets: convert(run.Targets, func(t assay.Target) jsonTarget { return jsonTarget(t) }),
		Repeat:  repeat(run, ""),
	}
	if !run.Finished.IsZero() {
		j.Finished = &run.Finished
	}
	return j
}

func toJSONSuggestion(s analysis.Suggestion) jsonSuggestion {
	return jsonSuggestion{s.Durability, suggestionSentence(s, false), convert(s.Connections, func(c analysis.Connection) jsonConnection {
		return jsonConnection{c.Name, c.DSN, convert(c.Each, same), convert(c.Settings, toJSONSetting)}
	})}
}

func toJSONSetting(s assay.Setting) jsonSetting { return jsonSetting(s) }

func same(s string) string { return s }

func toJSONDifference(d analysis.Difference) jsonDifference {
	return jsonDifference{d.Of, d.Name, convert(d.Values, func(h analysis.Holders) jsonHolders { return jsonHolders(h) })}
}

func toJSONTable(t *analysis.Table) jsonTable {
	return jsonTable{
		Title: t.Title, Primary: t.Primary.Name, Changes: t.Changes,
		Margin: t.Margin, Noise: t.Noise, LaunchNS: int64(t.Launch),
		Recommendations: convert(t.Rankings, func(k *analysis.Ranking) jsonRecommendation {
			return jsonRecommendation{k.Durability, Sentence(k)}
		}),
		Rows: convert(t.Rows, toJSONRow), Twins: convert(t.Twins, toJSONRow), Factors: convert(t.Factors, toJSONRow),
		Differences: convert(t.Differences, toJSONDifference),
	}
}

func toJSONRow(r *analysis.Row) jsonRow {
	c := r.Cell
	return jsonRow{
		Options: c.Options, IsFloor: r.IsFloor, Floor: toJSONInterval(r.Floor),
		Plan: c.Plan, Workload: c.Workload, Operation: c.Operation, Engine: c.Engine, Driver: c.Driver,
		DriverVersion: c.DriverVersion, Build: c.Build, Profile: c.Profile, Without: c.Without, Clients: c.Clients, Processes: max(1, c.Processes), Pool: c.Pool,
		Idle: c.Idle, Statement: c.Statement, Transaction: assay.TransactionString(c.Transaction), Begin: c.Begun(), Rate: c.Rate,
		Params: c.Params, AsPublished: c.AsPublished,
		Outcome: r.Outcome, Reason: r.Reason, Durability: r.Durability, Reference: r.Reference.ID(), Rank: r.Rank,
		Figures: convert(r.Figures, toJSONFigure),
		Warnings: convert(r.Warnings, func(w analysis.Warning) jsonWarning {
			return jsonWarning{w.Code, w.Evidence, w.Advice, w.Launches, w.Of}
		}),
		DSN: r.DSN, Each: convert(r.Each, same), Settings: convert(r.Settings, toJSONSetting), QueryPlan: r.QueryPlan,
		Trials: convert(r.Trials, toJSONTrial),
	}
}

func toJSONFigure(f analysis.Figure) jsonFigure {
	j := jsonFigure{Metric: f.Metric.Name, Unit: f.Metric.Unit, jsonInterval: *toJSONInterval(&f.Interval), Ratio: toJSONInterval(f.Ratio)}
	if c := f.Comparison; c != nil {
		j.Verdict, j.Reason, j.MoreLaunches = c.Verdict, Why(*c), c.LaunchesToDecide()
	}
	return j
}

func toJSONInterval(i *stat.Interval) *jsonInterval {
	if i == nil {
		return nil
	}
	return &jsonInterval{i.N, known(i.Center), known(i.Low), known(i.High)}
}

func toJSONTrial(t analysis.Trial) jsonTrial {
	figures := map[string]*float64{}
	for name, v := range t.Figures.All() {
		figures[name] = known(v)
	}
	return jsonTrial{
		Launch: t.Launch, Mode: t.Mode, Outcome: t.Outcome, Reason: t.Reason, Figures: figures,
		Samples: convert(t.Samples, func(s assay.Sample) [2]int64 { return [2]int64{s.Operations, s.Nanos} }),
		Digest:  t.Digest, Started: t.Started, TookNS: int64(t.Took),
		Steal: known(t.Noise.Steal), Foreign: known(t.Noise.Foreign), Disqualified: t.Disqualified,
	}
}

// known is nil for what JSON cannot hold.
func known(v float64) *float64 {
	if !analysis.Finite(v) {
		return nil
	}
	return &v
}
