package emit_test

import (
	"slices"
	"strings"
	"testing"

	"assay"
	"assay/internal/emit"
)

// A server's settings are lines of postgresql.conf, as every version reads them. What is no
// setting of a server is told.
func TestServer(t *testing.T) {
	form, err := ecosystems.For(emit.PostgreSQL, emit.Source{Name: "app/tuned", Profile: assay.Profile{Settings: map[string]string{
		"shared_buffers": "134217728", "work_mem": "1000", "synchronous_commit": "off", "wal_compression": "pglz", "cache_size": "-2000"},
		Each: []string{"SET  jit = off"}, Prepare: []string{"ANALYZE"}}})
	must(t, err)
	want := `# Profile app/tuned for PostgreSQL: lines of postgresql.conf.
# shared_buffers takes effect when the server is started again.
# NOT SET: cache_size=-2000: it is not a setting of PostgreSQL.
# NOT SET: SET jit = off: runs on every connection, which is the application's to do.
# NOT SET: ANALYZE: changes the database before it is opened, which is the application's to do.

shared_buffers = 128MB
synchronous_commit = off
wal_compression = on
work_mem = 1000B
`
	if form.Text != want {
		t.Errorf("got\n%swant\n%s", form.Text, want)
	}
	if len(form.Unset) != 3 || !strings.HasPrefix(form.Unset[0], "cache_size=-2000:") {
		t.Errorf("got %q that are not set, want cache_size and the SQL", form.Unset)
	}
	if all := ecosystems.Names(); !slices.Contains(all, emit.PostgreSQL) {
		t.Errorf("got %q, want the form of a server, too", all)
	}
}
