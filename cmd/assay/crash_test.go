package main

import (
	"slices"
	"strings"
	"testing"

	"assay"
	"assay/internal/crash"
	"assay/internal/lab"
	"assay/internal/plan"
)

// The command fails where a promise was refuted, and where what it was asked for
// was not tried.
func TestCrashVerdict(t *testing.T) {
	task := crash.Task{Fault: assay.PowerCut}
	held := crash.Result{Task: task, Outcome: assay.OK, Claimed: assay.Power, States: 5, Counts: map[crash.Damage]int{crash.Unharmed: 5}}
	lost := crash.Result{Task: task, Outcome: assay.OK, Claimed: assay.Power, States: 5, Counts: map[crash.Damage]int{crash.Lost: 5}}
	none := crash.Result{Task: task, Outcome: assay.OK, Claimed: assay.Power}
	void := crash.Result{Task: task, Outcome: assay.OK, States: 5, Controls: []crash.Control{{Name: "a disk that ignores flushes"}}}
	failed := crash.Result{Task: task, Outcome: assay.Failed, Reason: "mount: it hangs"}
	unsupported := crash.Result{Task: task, Outcome: assay.Unsupported, Reason: "it needs root"}
	for name, c := range map[string]struct {
		results []crash.Result
		want    string // empty: no error
	}{
		"held":                        {[]crash.Result{held}, ""},
		"held, and one not supported": {[]crash.Result{held, unsupported}, ""},
		"no cell":                     {nil, "nothing was tried"},
		"none is supported":           {[]crash.Result{unsupported, unsupported}, "nothing was tried"},
		"no time for a state":         {[]crash.Result{held, none}, "no state was checked for 1 result"},
		"neither time nor support":    {[]crash.Result{none, unsupported}, "no state was checked for 1 result"},
		"refuted":                     {[]crash.Result{held, lost, unsupported}, "1 promise refuted"},
		"failed":                      {[]crash.Result{held, failed}, "1 target could not be tried"},
		"void":                        {[]crash.Result{held, void}, "1 result void"},
	} {
		got := ""
		if err := verdict(c.results); err != nil {
			got = err.Error()
			if status := asExit(t.Context(), err).status; status != statusFailed {
				t.Errorf("%s: got status %d, want %d", name, status, statusFailed)
			}
		}
		if c.want == "" && got != "" || !strings.Contains(got, c.want) {
			t.Errorf("%s: got error %q, want %q", name, got, c.want)
		}
	}
}

// A profile with a driver's own spelling is tried with that driver at every version
// and with every compile option, and with no other.
func TestCrashTasksOfOwnSpelling(t *testing.T) {
	profile := assay.Profile{Name: "raw", Raw: map[string]string{"mattn": "file:{path}?_fk=1"}}
	var candidates []lab.Candidate
	for driver, name := range map[string]string{"mattn": "mattn", "mattn@v1.14.40": "mattn", "mattn:DQS=0": "mattn", "modernc": "modernc"} {
		candidates = append(candidates, lab.Candidate{Name: name, Driver: driver, Profile: profile})
	}
	var got []string
	for _, task := range crashTasks(&plan.Plan{Name: "p"}, candidates, "", crashFlags{faults: []string{string(assay.Kill)}}) {
		got = append(got, task.Driver)
		if task.DSN != profile.Raw["mattn"] {
			t.Errorf("%s: got DSN %q, want %q", task.Driver, task.DSN, profile.Raw["mattn"])
		}
	}
	slices.Sort(got)
	if want := []string{"mattn", "mattn:DQS=0", "mattn@v1.14.40"}; !slices.Equal(got, want) {
		t.Errorf("got tasks for %q, want %q", got, want)
	}
}
