package lab

import (
	"testing"
	"time"

	"assay"
)

// Settings that decide how long a commit takes are tried once each; what commits
// nothing, or not to a disk, is not tried.
func TestCommitTimes(t *testing.T) {
	changes := assay.Operation{Changes: true}
	store := assay.Operation{Changes: true, Steps: []assay.Step{{KV: "put"}}}
	of := func(op assay.Operation, name, value string) assay.Case {
		return assay.Case{Operation: op, Profile: assay.Profile{Settings: map[string]string{name: value}}}
	}
	cases := []assay.Case{
		of(changes, "journal_mode", "wal"), of(changes, "journal_mode", "wal"), of(changes, "cache_size", "-2000"),
		of(changes, "memory", "1"), of(assay.Operation{}, "journal_mode", "truncate"), of(store, "sync", "1"), of(store, "sync", "0"),
		of(changes, "synchronous_commit", "off"), of(changes, "synchronous_commit", "on"), of(changes, "fsync", "off"),
	}
	var keys []string
	for _, c := range cases {
		key := "none"
		if settings := committing(c); settings != nil {
			key = commitKey(settings)
		}
		keys = append(keys, key)
	}
	want := []string{"|wal|", "|wal|", "||", "none", "none", "|wal|2", "none", "none", "|wal|2", "none"}
	for i := range want {
		if keys[i] != want[i] {
			t.Errorf("case %d: got %q, want %q", i, keys[i], want[i])
		}
	}
	lab := &Lab{Cache: t.TempDir()}
	known := lab.commitTimes(t.Context(), cases)
	for _, key := range []string{"|wal|", "||", "|wal|2"} {
		if known[key] <= 0 {
			t.Errorf("%q: got %s, want a time", key, known[key])
		}
		delete(known, key)
	}
	if len(known) > 0 {
		t.Errorf("also tried: %v", known)
	}
	lab.Cache += "/none"
	if got := lab.commitTimes(t.Context(), cases[:1])["|wal|"]; got != time.Duration(0) {
		t.Errorf("without a folder: got %s, want that it is unknown", got)
	}
}
