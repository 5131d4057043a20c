package tune

import (
	"math"

	"assay/internal/stat"
)

type intervalValue struct {
	Ratio *float64 `json:"ratio"`
	Low   *float64 `json:"low"`
	High  *float64 `json:"high"`
}

// operationValue is an operation's ratio.
type operationValue struct {
	Name string `json:"name"`
	intervalValue
}

// indexValue is a state of the data or another use of the driver, and what it does.
type indexValue struct {
	Statements []string `json:"statements"`
	Use        string   `json:"use,omitempty"`
	Helps      bool     `json:"helps"`
	Bytes      *int64   `json:"bytes"` // more in the file
	intervalValue
	Operations []operationValue `json:"operations"`
}

func intervalOf(i stat.Interval) intervalValue {
	v := intervalValue{}
	if !math.IsNaN(i.Center) { // else nothing was measured
		v.Ratio = &i.Center
	}
	if i.Known() {
		v.Low, v.High = &i.Low, &i.High
	}
	return v
}

// ablationValue holds what a setting of the proposal does.
type ablationValue struct {
	Setting string `json:"setting"`
	Matters bool   `json:"matters"`
	intervalValue
}

// priceValue holds what another class of durability costs.
type priceValue struct {
	Durability string `json:"durability"`
	intervalValue
}

type reportValue struct {
	Plan       string            `json:"plan"`
	Driver     string            `json:"driver"`
	Current    string            `json:"current"`
	Durability string            `json:"durability"`
	Memory     int64             `json:"memory"`
	Answer     string            `json:"answer"`
	Better     bool              `json:"better"`
	Settings   map[string]string `json:"settings,omitempty"`
	Search     *float64          `json:"search,omitempty"`
	Confirmed  *intervalValue    `json:"confirmed,omitempty"`
	Launches   int               `json:"launches"`
	Indexes    []indexValue      `json:"indexes"`
	Operations []operationValue  `json:"operations"`
	Ablation   []ablationValue   `json:"alone"`
	Nothing    []string          `json:"nothing"`
	Prices     []priceValue      `json:"prices"`
	Robustness []robustnessValue `json:"robustness"`
	Unscaled   []string          `json:"unscaled"`
	Unindexed  []string          `json:"unindexed"`
	Notes      []string          `json:"notes"`
	Runs       []StageRun        `json:"runs"`
	Next       []string          `json:"next"`
	Emitted    string            `json:"emitted,omitempty"`
}

func (r *Report) values() reportValue {
	v := reportValue{Plan: r.Plan, Driver: r.Driver, Current: r.Current, Durability: string(r.Class), Memory: r.Memory, Answer: r.answer(),
		Launches: r.Outcome.Launches, Indexes: r.indexValues(), Operations: []operationValue{}, Ablation: []ablationValue{}, Prices: []priceValue{}, Emitted: r.Emitted}
	if f := r.Outcome.Chosen; f != nil {
		v.Better, v.Settings, v.Confirmed = true, r.Profile.Settings, new(intervalOf(f.Gain))
		if !math.IsNaN(f.Search) {
			v.Search = &f.Search
		}
	}
	for i, gain := range r.figures() {
		v.Operations = append(v.Operations, operationValue{r.Operations[i].Name, intervalOf(gain)})
	}
	for _, a := range r.Outcome.Ablation {
		v.Ablation = append(v.Ablation, ablationValue{r.Space.Factors[a.Factor].Name, a.Matters, intervalOf(a.Gain)})
	}
	nothing, _ := r.nothing()
	v.Nothing = append([]string{}, nothing...)
	for _, p := range r.Outcome.Prices {
		v.Prices = append(v.Prices, priceValue{p.Class, intervalOf(p.Gain)})
	}
	v.Robustness, v.Unscaled = r.robustnessValues(), append([]string{}, r.Unscaled...)
	v.Next, v.Runs = r.nextTexts(), r.Runs
	v.Unindexed, v.Notes = append([]string{}, r.Unindexed...), r.notes()
	return v
}
