package report

import (
	"bytes"
	"encoding/csv"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// parseCSV returns the records by column name.
func parseCSV(t *testing.T, r *Report) []map[string]string {
	t.Helper()
	var out bytes.Buffer
	must(t, r.Write(&out, "csv"))
	records, err := csv.NewReader(&out).ReadAll()
	must(t, err)
	var header []string
	for _, c := range CSVColumns {
		header = append(header, c.Name)
	}
	if diff := cmp.Diff(header, records[0]); diff != "" {
		t.Fatalf("header (-want +got)\n%s", diff)
	}
	var all []map[string]string
	for _, record := range records[1:] {
		row := map[string]string{}
		for i, name := range header {
			row[name] = record[i]
		}
		all = append(all, row)
	}
	return all
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
