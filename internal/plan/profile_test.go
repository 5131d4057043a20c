package plan

import (
	"maps"
	"slices"
	"testing"

	"assay"

	"github.com/google/go-cmp/cmp"
)

func TestProfileByName(t *testing.T) {
	p, err := Decode("own.yaml", []byte(`
name: own
drivers: [mattn]
profiles:
  plain: {}
  reader: {file: {journal_mode: WAL}, page_size: 8192, read_only: on}
workload:
  schema: CREATE TABLE t (id INTEGER PRIMARY KEY)
  data: {t: "SELECT value FROM generate_series(1, 10)"}
operations:
  read: {sql: SELECT id FROM t WHERE id = ?, args: "SELECT random(1, 10)"}
`))
	must(t, err)
	profile, file, err := p.Profile("reader")
	if diff := cmp.Diff(map[string]string{"page_size": "8192", "read_only": "1"}, profile.Settings); err != nil || profile.Name != "reader" || diff != "" {
		t.Errorf("got profile %q and error %v, want reader; settings (-want +got)\n%s", profile.Name, err, diff)
	}
	if diff := cmp.Diff(map[string]string{"journal_mode": "wal", "page_size": "8192"}, file); diff != "" {
		t.Errorf("settings of the file (-want +got)\n%s", diff)
	}
	if _, _, err := p.Profile("raeder"); err == nil || err.Error() != `unknown profile "raeder" (did you mean "reader"?)` {
		t.Errorf("got %v", err)
	}
}

// Other profiles have the operations, counts and file of the one that they are made
// from; the text still decodes to the plan itself.
func TestWithProfiles(t *testing.T) {
	p, err := Decode("own.yaml", []byte(`
name: own
drivers: [mattn]
profiles:
  plain: {}
  reader: {file: {journal_mode: WAL}, read_only: on}
workload:
  schema: CREATE TABLE t (id INTEGER PRIMARY KEY)
  data: {t: "SELECT value FROM generate_series(1, 10)"}
operations:
  read: {sql: SELECT id FROM t WHERE id = ?, args: "SELECT random(1, 10)", profiles: [reader], count: {reader: 70, plain: 50}}
  other: {sql: SELECT id FROM t, profiles: [plain]}
`))
	must(t, err)
	other := p.WithProfiles("own.race", "reader", []assay.Profile{{Name: "now"}, {Name: "large", Settings: map[string]string{"page_size": "8192"}, Prepare: []string{"ANALYZE"}}}, 8)
	cases, err := other.Expand(nil)
	if err != nil || len(cases) != 2 {
		t.Fatalf("got %d cases, %v; want the operation of the profile with both", len(cases), err)
	}
	want := map[string]map[string]string{"now": {"journal_mode": "wal"}, "large": {"journal_mode": "wal", "page_size": "8192"}}
	for _, c := range cases {
		if c.Cell.Plan != "own.race" || c.Cell.Operation != "read" || c.Operation.Count != 70 || c.Dataset.Seed == p.Seed || !maps.Equal(c.Dataset.FileSettings, want[c.Cell.Profile]) {
			t.Errorf("got %+v with %d operations, seed %d, file %v; want the plan own.race, 70 operations, another seed, file %v", c.Cell, c.Operation.Count, c.Dataset.Seed, c.Dataset.FileSettings, want[c.Cell.Profile])
		}
	}
	if got := cases[1].Dataset.Prepare; len(cases[0].Dataset.Prepare) != 0 || !slices.Equal(got, []string{"ANALYZE"}) {
		t.Errorf("got %q and %q, want the statements of the one profile that has them", cases[0].Dataset.Prepare, got)
	}
	again, err := Decode("own.yaml", []byte(other.Text))
	if err != nil || again.Name != "own" || len(again.Profiles) != 2 || again.Text == p.Text {
		t.Errorf("the text is of %+v, %v; want the plan that it was made of, with a comment", again, err)
	}
	if !(assay.Run{Plan: other.Name, PlanText: other.Text}).IsStage() || (assay.Run{Plan: p.Name, PlanText: p.Text}).IsStage() {
		t.Errorf("the text does not tell a stage from the plan:\n%s", other.Text)
	}
}
