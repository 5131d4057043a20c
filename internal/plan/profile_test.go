package plan

import (
	"maps"
	"testing"
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
  data: {t: {rows: 10, columns: {id: seq}}}
operations:
  read: {sql: SELECT id FROM t WHERE id = ?, args: [{uniform: t.id}]}
`))
	if err != nil {
		t.Fatal(err)
	}
	profile, file, err := p.Profile("reader")
	if err != nil || profile.Name != "reader" || !maps.Equal(profile.Settings, map[string]string{"page_size": "8192", "read_only": "1"}) {
		t.Errorf("got %+v, %v", profile, err)
	}
	if !maps.Equal(file, map[string]string{"journal_mode": "wal", "page_size": "8192"}) {
		t.Errorf("the file has %v", file)
	}
	if _, _, err := p.Profile("raeder"); err == nil || err.Error() != `unknown profile "raeder" (did you mean "reader"?)` {
		t.Errorf("got %v", err)
	}
}
