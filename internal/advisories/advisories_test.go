package advisories

import (
	"slices"
	"testing"
	"time"
)

func ids(all []Advisory) []string {
	var names []string
	for _, a := range all {
		names = append(names, a.ID)
	}
	return names
}

func TestEngineVersions(t *testing.T) {
	for version, want := range map[string][]string{
		"3.6.23": nil, "3.7.0": {"sqlite-wal-reset"}, "3.36.0": {"sqlite-wal-reset", "sqlite-savepoint-memory", "sqlite-wal-savepoint"}, "3.37.2": {"sqlite-wal-reset", "sqlite-wal-savepoint"},
		"3.10.2": {"sqlite-wal-reset"}, "3.44.5": {"sqlite-wal-reset"}, "3.44.6": nil, "3.45.0": {"sqlite-wal-reset", "sqlite-wal-savepoint"},
		"3.50.1": {"sqlite-wal-reset", "sqlite-wal-savepoint"}, "3.50.2": {"sqlite-wal-reset"}, "3.53.2": nil, "3.53.3": {"sqlite-super-journal"}, "3.53.4": nil, "3.50.6": {"sqlite-wal-reset"}, "3.50.7": nil, "3.51.0": {"sqlite-wal-reset"}, "3.51.2": {"sqlite-wal-reset"}, "3.51.3": nil,
		"3.52.0": {"sqlite-withdrawn"}, "3.53.0": nil, "3.54.1": nil, "": nil, "unknown": nil, "3.51.2-rc1": nil,
	} {
		if got := ids(Of(Build{Engine: "sqlite", EngineVersion: version})); !slices.Equal(got, want) {
			t.Errorf("sqlite %s: got %v, want %v", version, got, want)
		}
	}
	if got := Of(Build{Engine: "postgresql", EngineVersion: "15.18"}); got != nil {
		t.Errorf("postgresql: got %v, want none", ids(got))
	}
}

func TestLibraryVersions(t *testing.T) {
	const ncruces = "github.com/ncruces/go-sqlite3"
	for _, c := range []struct {
		build Build
		want  []string
	}{
		{Build{Library: ncruces, Version: "v0.35.2", System: "windows"}, []string{"ncruces-windows"}},
		{Build{Library: ncruces, Version: "v0.35.2", System: "linux"}, nil},
		{Build{Library: ncruces, Version: "v0.35.3", System: "windows"}, nil},
		{Build{Library: "go.etcd.io/bbolt", Version: "v1.3.6"}, []string{"bbolt-last"}},
		{Build{Library: "go.etcd.io/bbolt", Version: "v1.3.7"}, nil},
		{Build{Engine: "sqlite", EngineVersion: "3.53.3", Library: "modernc.org/sqlite", Version: "v1.55.0"}, []string{"sqlite-super-journal"}},
		{Build{Engine: "sqlite", EngineVersion: "3.53.3", Library: "modernc.org/sqlite", Version: "v1.56.0"}, nil},
		{Build{Engine: "sqlite", EngineVersion: "3.53.3", Library: "github.com/mattn/go-sqlite3", Version: "v1.56.0"}, []string{"sqlite-super-journal"}},
	} {
		if got := ids(Of(c.build)); !slices.Equal(got, c.want) {
			t.Errorf("%+v: got %v, want %v", c.build, got, c.want)
		}
	}
}

// A version between two whose engines are known is judged only where no version of the
// engine that lies between them could make a difference.
func TestPinned(t *testing.T) {
	const mattn = "github.com/mattn/go-sqlite3"
	for _, c := range []struct {
		library, version string
		affected, sure   bool
	}{
		{mattn, "v1.14.22", true, true}, {mattn, "v1.14.28", true, true}, {mattn, "v1.14.34", true, true},
		{mattn, "v1.14.35", false, false}, // 3.51.2 or 3.51.3
		{mattn, "v1.14.40", false, true}, {mattn, "v1.14.53", false, true},
		{mattn, "v1.14.5", false, false}, {mattn, "v1.99.0", false, false}, {mattn, "", false, false},
		{mattn, "v1.14.23-0.20240901000000-abcdefabcdef", false, false},
		{"modernc.org/sqlite", "v1.39.0", false, false}, // 3.50.7 lies between 3.50.3 and 3.51.2
		{"modernc.org/sqlite", "v1.34.5", true, true},
		{"zombiezen.com/go/sqlite", "v1.4.2", true, true}, {"example.com/other", "v1.0.0", false, false},
	} {
		b, known := Pinned(c.library, c.version)
		affected := known && slices.Contains(ids(Of(b)), "sqlite-wal-reset")
		if affected != c.affected || (known && b.Decided()) != c.sure {
			t.Errorf("%s@%s: affected %t, decided %t of %+v; want %t, %t", c.library, c.version, affected, known && b.Decided(), b, c.affected, c.sure)
		}
	}
}

// Each entry can be read, and has a dated source.
func TestTable(t *testing.T) {
	for _, a := range All() {
		_, err := time.Parse(time.DateOnly, a.Date)
		if err != nil || a.Source == "" || a.URL == "" || (a.Engine == "") == (a.Library == "") || len(a.Fixed) == 0 {
			t.Errorf("%+v: incomplete", a)
		}
		for _, r := range a.Affected {
			from, ok := parse(r.From)
			before, too := parse(r.Before)
			if !ok || !too || slices.Compare(from, before) >= 0 {
				t.Errorf("%s: range %+v", a.ID, r)
			}
		}
	}
	for library, engines := range table.Bundled {
		for version, engine := range engines {
			_, ok := parse(version)
			_, too := parse(engine)
			if !ok || !too {
				t.Errorf("%s %s: engine %q", library, version, engine)
			}
		}
	}
}
