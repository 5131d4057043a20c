package history

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"assay"
	"assay/internal/analysis"
	"assay/internal/stat"
)

// onMachines are results of one plan on machines, on which mattn takes so many times
// as long; all but the last have an SSD.
func onMachines(t *testing.T, times ...float64) []*analysis.Result {
	t.Helper()
	var all []*analysis.Result
	for i, x := range times {
		all = append(all, run(t, 1+i, "v1.0.0", x, func(r *assay.Run) {
			r.Host["machine"] = fmt.Sprintf("%02d%014d", i, 0)
			r.Host["rotational"] = "no"
			if i >= len(times)-2 {
				r.Host["rotational"] = "yes"
			}
			r.Host["syncs-per-second"] = fmt.Sprint(1000 - 100*i)
		}))
	}
	return all
}

func acrossOf(t *testing.T, results []*analysis.Result) *Across {
	t.Helper()
	filter, err := NewFilter([]string{"read", "driver=mattn"})
	must(t, err)
	all := OverMachines(filter, results)
	if len(all) != 1 {
		t.Fatalf("got %d cells over machines, want 1", len(all))
	}
	return all[0]
}

func TestOverMachines(t *testing.T) {
	a := acrossOf(t, onMachines(t, 0.80, 0.81, 0.82, 1.5, 1.6))
	var out bytes.Buffer
	must(t, writeMachines(&out, []*Across{a}))
	for _, want := range []string{
		"faster on 3 of 5 machines, slower on 2; time / baseline 1.0", "over machines like these: undecided",
		"x, 2 cores #0000 ", "machines like these ", "one more such machine ",
		"hint, which chance can give too: rotational: no 0.8", "hint, which chance can give too: syncs of the disk: 1.60x at 600 per second, 0.800x at 1000",
	} {
		if !strings.Contains(strings.Join(strings.Fields(out.String()), " ")+" ", want) {
			t.Errorf("the text lacks %q:\n%s", want, out.String())
		}
	}
	if strings.Contains(out.String(), "cpu:") {
		t.Errorf("all machines have one processor, and it is a hint:\n%s", out.String())
	}
	out.Reset()
	if err := writeMachinesCSV(&out, []*Across{a}); err != nil || strings.Count(out.String(), "\n") != 1+5+2 {
		t.Errorf("got CSV %s, %v; want a head, five machines and two lines over them", out.String(), err)
	}
	out.Reset()
	var read []jsonAcross
	format, err := MachineFormats().Named("json")
	must(t, err)
	must(t, format.Write(&out, []*Across{a}))
	if err := json.Unmarshal(out.Bytes(), &read); err != nil || len(read) != 1 || len(read[0].Machines) != 5 || read[0].Next == nil {
		t.Fatalf("got JSON %s, %v; want one cell of five machines and one more", out.String(), err)
	}
	if one, got := a.Points[0].Cost, read[0].Machines[0]; got.Ratio != one.Center || *got.Low != one.Low || got.N != one.N || got.Verdict != stat.Faster || read[0].Over.N != 5 {
		t.Errorf("got %+v of the first machine, want %+v, faster", got, one)
	}

	agreed := acrossOf(t, onMachines(t, 0.8, 0.8, 0.8, 0.8))
	if !strings.HasPrefix(agreed.Verdict(), "faster on 4 of 4 machines; time / baseline 0.8") || !strings.HasSuffix(agreed.Verdict(), ": faster") || len(agreed.Hints) > 0 {
		t.Errorf("machines that agree: got %q with hints %q", agreed.Verdict(), agreed.Hints)
	}
}

// A machine that failed a check is marked in every format, and counts.
func TestMarkedMachines(t *testing.T) {
	results := onMachines(t, 0.8, 0.8, 0.8)
	for i, governor := range []string{"performance", "powersave\x1b[2J", "performance"} {
		results[i].Run.Host["governor"] = governor
	}
	a := acrossOf(t, results)
	const cleaned = "CPU governor powersave [2J, most machines: performance"
	if got, want := a.Marked(), []string{"x, 2 cores #0100: " + cleaned}; !slices.Equal(got, want) || a.Over.Ratio.N != 3 {
		t.Errorf("got the marks %q over %d machines, want %q over 3", got, a.Over.Ratio.N, want)
	}
	for name, want := range map[string]string{"text": "\n! x, 2 cores #0100: " + cleaned + "\n", "csv": ",faster,\"CPU governor powersave\x1b[2J, most machines: performance\"\n",
		"json": `"failed_checks": [`} {
		var out bytes.Buffer
		format, err := MachineFormats().Named(name)
		if err == nil {
			err = format.Write(&out, []*Across{a})
		}
		if err != nil || strings.Count(out.String(), want) != 1 {
			t.Errorf("%s: got %v and\n%s\nwant %q once", name, err, out.String(), want)
		}
	}
}

// Another version of the driver, or another plan text, is another question.
func TestOverMachinesOfOneQuestion(t *testing.T) {
	results := onMachines(t, 0.8, 0.8)
	other := run(t, 9, "v2.0.0", 2, func(r *assay.Run) { r.Host["machine"] = "ff" })
	if a := acrossOf(t, append(results, other)); len(a.Points) != 2 {
		t.Errorf("got %d machines, want the two of one version", len(a.Points))
	}
	if all := OverMachines(Filter{"operation": "read"}, results[:1]); len(all) != 0 {
		t.Errorf("one machine: got %d cells, want none", len(all))
	}
}
