package crash

import (
	"slices"
	"strings"
	"testing"

	"assay"
)

// A report is an error where a promise was refuted, and where what it was asked for
// was not tried.
func TestReportErr(t *testing.T) {
	task := Task{Fault: assay.PowerCut}
	held := Result{Task: task, Identity: Identity{Claimed: assay.Power}, Ending: Ending{Outcome: assay.OK}, Tried: Tried{States: 5, Counts: map[Damage]int{Unharmed: 5}}}
	lost := Result{Task: task, Identity: Identity{Claimed: assay.Power}, Ending: Ending{Outcome: assay.OK}, Tried: Tried{States: 5, Counts: map[Damage]int{Lost: 5}}}
	none := Result{Task: task, Identity: Identity{Claimed: assay.Power}, Ending: Ending{Outcome: assay.OK}}
	void := Result{Task: task, Controls: []Control{{Name: "a disk that ignores flushes"}}, Ending: Ending{Outcome: assay.OK}, Tried: Tried{States: 5}}
	failed := Result{Task: task, Ending: Ending{Outcome: assay.Failed, Reason: "mount: it hangs"}}
	unsupported := Result{Task: task, Ending: Ending{Outcome: assay.Unsupported, Reason: "it needs root"}}
	for name, c := range map[string]struct {
		results []Result
		want    string // empty: no error
	}{
		"held":                        {[]Result{held}, ""},
		"held, and one not supported": {[]Result{held, unsupported}, ""},
		"no cell":                     {nil, "nothing was tried"},
		"none is supported":           {[]Result{unsupported, unsupported}, "nothing was tried"},
		"no time for a state":         {[]Result{held, none}, "no state was checked for 1 result"},
		"neither time nor support":    {[]Result{none, unsupported}, "no state was checked for 1 result"},
		"refuted":                     {[]Result{held, lost, unsupported}, "1 promise refuted"},
		"failed":                      {[]Result{held, failed}, "1 target could not be tried"},
		"failed with two faults":      {[]Result{failed, failed}, "1 target could not be tried"},
		"void":                        {[]Result{held, void}, "1 result void"},
	} {
		got := ""
		if err := (&Report{Results: c.results}).Err(); err != nil {
			got = err.Error()
		}
		if c.want == "" && got != "" || !strings.Contains(got, c.want) {
			t.Errorf("%s: got error %q, want %q", name, got, c.want)
		}
	}
}

// A profile with a driver's own spelling is tried with that driver at every version
// and with every compile option, and with no other.
func TestTasksOfOwnSpelling(t *testing.T) {
	profile := assay.Profile{Name: "raw", Raw: map[string]string{"mattn": "file:{path}?_fk=1"}}
	var subjects []Subject
	for driver, name := range map[string]string{"mattn": "mattn", "mattn@v1.14.40": "mattn", "mattn:DQS=0": "mattn", "modernc": "modernc"} {
		subjects = append(subjects, Subject{Name: name, Driver: driver, Profile: profile})
	}
	var got []string
	for _, task := range (Request{Faults: []assay.Fault{assay.Kill}}).tasks(subjects) {
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
