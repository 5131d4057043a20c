//go:build unix

package runner

import (
	"encoding/binary"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"assay"
	"assay/kit/wire"
)

// database writes the header of a database file with pages of 4096 bytes.
func database(t *testing.T, wal bool) string {
	t.Helper()
	header := make([]byte, 100)
	copy(header, "SQLite format 3\x00")
	binary.BigEndian.PutUint16(header[16:], 4096)
	header[18], header[19] = 1, 1
	if wal {
		header[18], header[19] = 2, 2
	}
	path := filepath.Join(t.TempDir(), "data.db")
	must(t, os.WriteFile(path, header, 0o644))
	return path
}

// connection reads back the settings given as name, value, ...
func connection(name string, settings ...string) wire.Connection {
	c := wire.Connection{Name: name, Settings: map[string]string{}}
	for i := 0; i < len(settings); i += 2 {
		c.Settings[settings[i]] = settings[i+1]
	}
	return c
}

func TestCompareSettings(t *testing.T) {
	type connections = []wire.Connection
	none, wal, rollback := "", database(t, true), database(t, false)
	for _, c := range []struct {
		name      string
		requested map[string]string
		read      connections
		path      string
		want      string // the reason of not-applied; empty: all is applied
	}{
		{"nothing is requested", nil,
			connections{connection("reader-1", "synchronous", "2")}, none, ""},
		{"words and numbers are the same", map[string]string{"synchronous": "normal", "foreign_keys": "on", "journal_mode": "WAL", "busy_timeout": "5s"},
			connections{connection("reader-1", "synchronous", "1", "foreign_keys", "1", "journal_mode", "wal", "busy_timeout", "5000")}, wal, ""},
		{"another value", map[string]string{"cache_size": "-4096"},
			connections{connection("reader-1", "cache_size", "-2000")}, none,
			"cache_size=-4096 was requested, effective is -2000 on reader-1"},
		{"another value on one connection", map[string]string{"synchronous": "off"},
			connections{connection("reader-1", "synchronous", "0"), connection("reader-2", "synchronous", "2"), connection("writer-1", "synchronous", "0")}, none,
			"synchronous=off was requested, effective is FULL on reader-2"},
		{"several", map[string]string{"synchronous": "off", "foreign_keys": "on"},
			connections{connection("writer-1", "synchronous", "2", "foreign_keys", "0")}, none,
			"foreign_keys=on was requested, effective is OFF on writer-1; synchronous=off was requested, effective is FULL on writer-1"},
		{"no value", map[string]string{"mmap_size": "1"},
			connections{connection("reader-1")}, none,
			"mmap_size=1 was requested and cannot be read back on reader-1"},
		{"no connection", map[string]string{"mmap_size": "1"}, nil, none, "the worker read no setting back"},
		{"a lie about the journal", map[string]string{"journal_mode": "wal"},
			connections{connection("writer-1", "journal_mode", "wal")}, rollback,
			"writer-1 reads journal_mode=wal, but the file is in rollback mode"},
		{"a lie about it that nobody asked for", nil,
			connections{connection("writer-1", "journal_mode", "delete")}, wal,
			"writer-1 reads journal_mode=delete, but the file is in wal mode"},
		{"a journal in memory does not show in the file", map[string]string{"journal_mode": "memory"},
			connections{connection("writer-1", "journal_mode", "memory")}, rollback, ""},
		{"a lie about the page size", map[string]string{"page_size": "8192"},
			connections{connection("reader-1", "page_size", "8192")}, rollback,
			"reader-1 reads page_size=8192, but the file's is 4096"},
	} {
		t.Run(c.name, func(t *testing.T) {
			settings, err := compareSettings(assay.Profile{Settings: c.requested}, wire.Opened{}, askedFor(c.read), c.read, c.path)
			reason := ""
			var f *failure
			if errors.As(err, &f) {
				reason = f.reason
			}
			if reason != c.want || (err != nil) != (c.want != "") || f != nil && f.outcome != assay.NotApplied {
				t.Errorf("got %v, want %q", err, c.want)
			}
			if got := len(settings); got < len(c.requested)*len(c.read) {
				t.Errorf("%d settings, want all that were requested on each connection", got)
			}
		})
	}
}

// askedFor counts the connections that were read back, as if these were all.
func askedFor(read []wire.Connection) connections {
	var c connections
	for _, r := range read {
		if strings.HasPrefix(r.Name, "reader-") {
			c.readers++
		} else {
			c.writers++
		}
	}
	return c
}

// Every connection that was asked for must be read back, by a worker that
// reads any, and by all where the profile requests a setting.
func TestConnectionsThatAreNotReadBack(t *testing.T) {
	for _, c := range []struct {
		name      string
		requested map[string]string
		read      []string
		want      string
	}{
		{"all", map[string]string{"cache_size": "1"}, []string{"reader-1", "reader-2", "reader-3", "writer-1", "writer-2"}, ""},
		{"a reader is missing", map[string]string{"cache_size": "1"}, []string{"reader-1", "reader-2", "writer-1", "writer-2"}, "reader-3 was not read back"},
		{"nothing is requested", nil, []string{"reader-1", "reader-2", "writer-1", "writer-2"}, "reader-3 was not read back"},
		{"one twice", nil, []string{"reader-1", "reader-1", "reader-3", "writer-1", "writer-2"}, "reader-2 was not read back"},
		{"several", nil, []string{"reader-1", "writer-1"}, "reader-2..reader-3 (2) was not read back; writer-2 was not read back"},
		{"none, where a setting is requested", map[string]string{"cache_size": "1"}, nil, "the worker read no setting back"},
		{"a worker without settings", nil, nil, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			var read []wire.Connection
			for _, name := range c.read {
				read = append(read, connection(name, "cache_size", "1"))
			}
			_, err := compareSettings(assay.Profile{Settings: c.requested}, wire.Opened{}, connections{readers: 3, writers: 2}, read, "")
			reason := ""
			var f *failure
			if errors.As(err, &f) {
				reason = f.reason
			}
			if reason != c.want || f != nil && f.outcome != assay.NotApplied {
				t.Errorf("got %v, want %q", err, c.want)
			}
		})
	}
}

// What a raw profile means is requested as much as what it sets.
func TestRequestsOfRawProfiles(t *testing.T) {
	profile := assay.Profile{Raw: map[string]string{"a": "file:{{path}}"}, Requests: map[string]string{"cache_size": "10"}}
	opened := wire.Opened{Issued: map[string]string{"cache_size": "PRAGMA cache_size = 10"}}
	settings, err := compareSettings(profile, opened, connections{readers: 1}, []wire.Connection{connection("reader-1", "cache_size", "20")}, "")
	want := assay.Setting{Name: "cache_size", Connection: "reader-1", Requested: "10", Issued: "PRAGMA cache_size = 10", Effective: "20"}
	if err == nil || len(settings) != 1 || settings[0] != want {
		t.Errorf("got %+v, %v, want %+v and an error", settings, err, want)
	}
}

// What nobody asked for is kept again only where it differs.
func TestSettingsNobodyAskedFor(t *testing.T) {
	settings, err := compareSettings(assay.Profile{}, wire.Opened{}, connections{readers: 3, writers: 1}, []wire.Connection{
		connection("reader-1", "cache_size", "1"), connection("reader-2", "cache_size", "1"), connection("reader-3", "cache_size", "2"),
		connection("writer-1", "cache_size", "2"),
	}, "")
	var got []string
	for _, s := range condense(settings) {
		got = append(got, s.Connection+" "+s.Effective)
	}
	if err != nil {
		t.Error(err)
	}
	same(t, "settings", got, []string{"reader-1..reader-2 (2) 1", "reader-3 2", "writer-1 2"})
}

// The classes of the wire are those of the vocabulary, in its order.
func TestDurabilities(t *testing.T) {
	var want []string
	for _, d := range assay.Durabilities {
		want = append(want, string(d))
	}
	same(t, "classes", wire.Durabilities, want)
}
