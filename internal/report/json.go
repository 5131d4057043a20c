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
// known is null.
type (
	jsonReport struct {
		Run         jsonRun          `json:"run"`
		Suggestions []jsonSuggestion `json:"suggestions"`
		Tables      []jsonTable      `json:"tables"`
		Differences []jsonDifference `json:"differences"`
	}
	jsonRun struct {
		ID        string              `json:"id"`
		Plan      string              `json:"plan"`
		PlanText  string              `json:"plan_text"`
		Seed      uint64              `json:"seed,string"` // beyond what a JavaScript number holds
		Started   time.Time           `json:"started"`
		Finished  *time.Time          `json:"finished"`
		Status    assay.Status        `json:"status"`
		Version   string              `json:"assay_version"`
		Reference string              `json:"reference"`
		Drivers   []string            `json:"drivers,omitempty"`
		Only      map[string][]string `json:"only,omitempty"`
		BudgetNS  int64               `json:"budget_ns"`
		Precision float64             `json:"precision"`
		Exact     bool                `json:"exact,omitempty"`
		LeastNS   int64               `json:"least_ns"`
		SpentNS   assay.Spent         `json:"spent_ns,omitempty"`
		Host      map[string]string   `json:"host"`
		Targets   []jsonTarget        `json:"targets"`
		Repeat    string              `json:"repeat"`
	}
	jsonTarget struct {
		Driver         string            `json:"driver"`
		DriverVersion  string            `json:"driver_version"`
		Engine         string            `json:"engine"`
		EngineVersion  string            `json:"engine_version"`
		Build          string            `json:"build"`
		Facts          map[string]string `json:"facts"`
		CompileOptions []string          `json:"compile_options"`
		Options        []string          `json:"options"`
		Layouts        int               `json:"layouts"`
	}
	jsonSuggestion struct {
		Durability  assay.Durability `json:"durability"`
		Text        string           `json:"text"`
		Connections []jsonConnection `json:"connections"`
	}
	jsonConnection struct {
		Name     string        `json:"name"`
		DSN      string        `json:"dsn"`
		Each     []string      `json:"each"`
		Settings []jsonSetting `json:"settings"`
	}
	jsonSetting struct {
		Name       string `json:"name"`
		Connection string `json:"connection,omitempty"`
		Requested  string `json:"requested"`
		Issued     string `json:"issued"`
		Effective  string `json:"effective"`
		Applied    bool   `json:"applied"`
	}
	jsonTable struct {
		Title           string               `json:"title"`
		Primary         string               `json:"primary"`
		Changes         bool                 `json:"changes"`
		Margin          float64              `json:"margin"`
		Noise           float64              `json:"noise"`
		LaunchNS        int64                `json:"launch_ns"`
		Recommendations []jsonRecommendation `json:"recommendations"`
		Rows            []jsonRow            `json:"rows"`
		Twins           []jsonRow            `json:"twins"`
		Factors         []jsonRow            `json:"factors"`
		Differences     []jsonDifference     `json:"differences"`
	}
	jsonRecommendation struct {
		Durability assay.Durability `json:"durability"`
		Text       string           `json:"text"`
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
		Without       string            `json:"without,omitempty"`
		Clients       int               `json:"clients"`
		Pool          int               `json:"pool"`
		Idle          int               `json:"idle"`
		Statement     string            `json:"statement"`
		Transaction   string            `json:"transaction"`
		Rate          float64           `json:"rate"`
		Params        map[string]string `json:"params"`
		AsPublished   bool              `json:"as_published"`
		Outcome       assay.Outcome     `json:"outcome"`
		Reason        string            `json:"reason"`
		Durability    assay.Durability  `json:"durability"`
		Reference     string            `json:"reference"`
		Rank          int               `json:"rank"` // 0: not ranked
		Options       string            `json:"options"`
		IsFloor       bool              `json:"is_floor"`
		Floor         *jsonInterval     `json:"floor"`
		Figures       []jsonFigure      `json:"figures"`
		Warnings      []jsonWarning     `json:"warnings"`
		DSN           string            `json:"dsn"`
		Each          []string          `json:"each"`
		Settings      []jsonSetting     `json:"settings"`
		QueryPlan     string            `json:"query_plan"`
		Trials        []jsonTrial       `json:"trials"`
	}
	jsonFigure struct {
		Metric string `json:"metric"`
		Unit   string `json:"unit"`
		jsonInterval
		Ratio        *jsonInterval `json:"ratio"`
		Verdict      stat.Verdict  `json:"verdict"`
		Reason       string        `json:"reason"`
		MoreLaunches int           `json:"more_launches"`
	}
	jsonInterval struct {
		N      int      `json:"n"`
		Center *float64 `json:"center"`
		Low    *float64 `json:"low"`
		High   *float64 `json:"high"`
	}
	jsonWarning struct {
		Code     string `json:"code"`
		Evidence string `json:"evidence"`
		Advice   string `json:"advice"`
		Launches int    `json:"launches"` // 0: about all launches together
		Of       int    `json:"of"`
	}
	jsonTrial struct {
		Launch       int                 `json:"launch"`
		Mode         assay.Mode          `json:"mode"`
		Outcome      assay.Outcome       `json:"outcome"`
		Reason       string              `json:"reason"`
		Figures      map[string]*float64 `json:"figures"`
		Samples      [][2]int64          `json:"samples"` // operations, nanoseconds
		Digest       string              `json:"digest"`
		Started      time.Time           `json:"started"`
		TookNS       int64               `json:"took_ns"`
		Steal        *float64            `json:"steal"`
		Foreign      *float64            `json:"foreign"`
		Disqualified bool                `json:"disqualified"`
	}
	jsonDifference struct {
		Of     string        `json:"of"`
		Name   string        `json:"name"`
		Values []jsonHolders `json:"values"`
	}
	jsonHolders struct {
		Value   string   `json:"value"`
		Drivers []string `json:"drivers"`
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
	return jsonSuggestion{s.Durability, suggestionSentence(s), convert(s.Connections, func(c analysis.Connection) jsonConnection {
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
	var floor *jsonInterval
	if r.Floor != nil {
		interval := toJSONInterval(*r.Floor)
		floor = &interval
	}
	return jsonRow{
		Options: c.Options, IsFloor: r.IsFloor, Floor: floor,
		Plan: c.Plan, Workload: c.Workload, Operation: c.Operation, Engine: c.Engine, Driver: c.Driver,
		DriverVersion: c.DriverVersion, Build: c.Build, Profile: c.Profile, Without: c.Without, Clients: c.Clients, Pool: c.Pool,
		Idle: c.Idle, Statement: c.Statement, Transaction: assay.TransactionString(c.Transaction), Rate: c.Rate,
		Params: c.Params, AsPublished: c.AsPublished,
		Outcome: r.Outcome, Reason: r.Reason, Durability: r.Durability, Reference: r.Reference.ID(), Rank: r.Rank,
		Figures: convert(r.Figures, toJSONFigure),
		Warnings: convert(r.Warnings, func(w analysis.Warning) jsonWarning {
			evidence, advice := words(w.Doubt)
			return jsonWarning{w.Code(), evidence, advice, w.Launches, w.Of}
		}),
		DSN: r.DSN, Each: convert(r.Each, same), Settings: convert(r.Settings, toJSONSetting), QueryPlan: r.QueryPlan,
		Trials: convert(r.Trials, toJSONTrial),
	}
}

func toJSONFigure(f analysis.Figure) jsonFigure {
	j := jsonFigure{Metric: f.Metric.Name, Unit: f.Metric.Unit, jsonInterval: toJSONInterval(f.Interval)}
	if f.Ratio != nil {
		ratio := toJSONInterval(*f.Ratio)
		j.Ratio = &ratio
	}
	if c := f.Comparison; c != nil {
		j.Verdict, j.Reason, j.MoreLaunches = c.Verdict, Why(*c), c.MoreLaunches()
	}
	return j
}

func toJSONInterval(i stat.Interval) jsonInterval {
	return jsonInterval{i.N, known(i.Center), known(i.Low), known(i.High)}
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
