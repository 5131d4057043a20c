package history

import (
	"reflect"
	"testing"

	"assay"
	"assay/internal/analysis"
)

// A machine that fails a check is marked.
func TestMarks(t *testing.T) {
	machine := func(governor string, systematic ...float64) *analysis.Result {
		r := &analysis.Result{Run: assay.Run{Host: map[string]string{"governor": governor}}}
		for _, s := range systematic {
			r.Tables = append(r.Tables, &analysis.Table{Margin: 0.02, Systematic: s})
		}
		return r
	}
	for _, test := range []struct {
		name     string
		machines []*analysis.Result
		want     [][]string
	}{
		{"alike", []*analysis.Result{machine("performance", 0.01), machine("performance")}, [][]string{nil, nil}},
		{"noisy", []*analysis.Result{machine("", 0.175, 0.03, 0), machine("", 0)}, [][]string{{"noise up to 17.5 % (A/A test: the baseline against itself) in 2 of 3 tables"}, nil}},
		{"governor", []*analysis.Result{machine("powersave"), machine("schedutil"), machine("schedutil")}, [][]string{{"CPU governor powersave, most machines: schedutil"}, nil, nil}},
		{"as many", []*analysis.Result{machine("ondemand"), machine("performance")}, [][]string{{"CPU governor ondemand, most machines: performance"}, nil}},
		{"unknown", []*analysis.Result{machine("performance"), machine("performance"), machine("")}, [][]string{nil, nil, {"CPU governor unknown, most machines: performance"}}},
	} {
		if got := Marks(test.machines); !reflect.DeepEqual(got, test.want) {
			t.Errorf("%s: got %q, want %q", test.name, got, test.want)
		}
	}
	if got := Marks(nil); len(got) > 0 {
		t.Errorf("no machine: got %q", got)
	}
}
