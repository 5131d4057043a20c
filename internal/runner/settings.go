//go:build unix

package runner

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"assay"
	"assay/internal/dataset"
	"assay/kit/kv"
	"assay/kit/wire"
)

// compareSettings sets requested beside effective, for every connection. The
// second result is a *failure that names each setting which is not effective,
// and the connections of those asked for that were not read back. A worker's
// word is not enough where the database file itself can tell.
func compareSettings(profile assay.Profile, opened wire.Opened, asked connections, read []wire.Connection, path string) ([]assay.Setting, error) {
	requested := profile.Requested()
	var all []assay.Setting
	for _, connection := range read {
		for _, name := range settingNames(requested, connection.Settings) {
			s := assay.Setting{Name: name, Connection: connection.Name, Requested: requested[name],
				Issued: opened.Issued[name], Effective: connection.Settings[name]}
			s.Applied = s.Requested == "" || equalSetting(name, s.Requested, s.Effective) || onlyTraced(s)
			all = append(all, s)
		}
	}
	var wrong []string
	for _, s := range condense(all) {
		if !s.Applied {
			wrong = append(wrong, notApplied(s))
		}
	}
	if len(requested) > 0 && len(read) == 0 {
		wrong = append(wrong, "the worker read no setting back")
	}
	if len(read) > 0 { // else nothing is read back by this worker, as by one that has no settings
		wrong = append(wrong, unread(asked, read)...)
	}
	wrong = append(wrong, contradictions(condense(all), path)...)
	if len(wrong) == 0 {
		return all, nil
	}
	return all, &failure{assay.NotApplied, strings.Join(slices.Compact(wrong), "; ")}
}

// unread says which connections were asked for and not read back.
func unread(asked connections, read []wire.Connection) []string {
	seen := map[string]bool{}
	for _, c := range read {
		seen[c.Name] = true
	}
	var all []string
	for _, kind := range []struct {
		name  func(int) string
		count int
	}{{wire.ReaderName, asked.readers}, {wire.WriterName, asked.writers}} {
		var missing []string
		for i := range kind.count {
			if name := kind.name(i); !seen[name] {
				missing = append(missing, name)
			}
		}
		if len(missing) > 0 {
			all = append(all, join(missing)+" was not read back")
		}
	}
	return all
}

// join names connections of one kind: FIRST..LAST (how many).
func join(names []string) string {
	if len(names) == 1 {
		return names[0]
	}
	return fmt.Sprintf("%s..%s (%d)", names[0], names[len(names)-1], len(names))
}

// condense joins connections of one kind that read alike: a pool of a thousand
// says the same a thousand times.
func condense(all []assay.Setting) []assay.Setting {
	var kept []assay.Setting
	index := map[assay.Setting]int{}
	members := map[int][]string{}
	for _, s := range all {
		kind, _, _ := strings.Cut(s.Connection, "-")
		same := s
		same.Connection = kind
		i, seen := index[same]
		if !seen {
			i = len(kept)
			index[same] = i
			kept = append(kept, s)
		}
		members[i] = append(members[i], s.Connection)
	}
	for i, names := range members {
		kept[i].Connection = join(names)
	}
	return kept
}

func settingNames(requested, effective map[string]string) []string {
	names := slices.Sorted(maps.Keys(requested))
	for _, name := range slices.Sorted(maps.Keys(effective)) {
		if _, asked := requested[name]; !asked {
			names = append(names, name)
		}
	}
	return names
}

func equalSetting(name, requested, effective string) bool {
	setting, known := kv.AllSettings.Lookup(name)
	if !known {
		return requested == effective
	}
	want, err := setting.Normal(requested)
	if err != nil {
		return requested == effective
	}
	got, err := setting.Normal(effective)
	return err == nil && got == want
}

// onlyTraced reports whether a setting is one that a store need not be able to
// read back, of which no trace is there either: it is claimed, and the warning
// not-traced says so. A trace would stand in its effective value.
func onlyTraced(s assay.Setting) bool { return s.Name == kv.Sync && s.Effective == "" }

func notApplied(s assay.Setting) string {
	if s.Effective == "" {
		return fmt.Sprintf("%s=%s was requested and cannot be read back on %s", s.Name, s.Requested, s.Connection)
	}
	if s.Name == "memory" && s.Effective == "private" {
		return fmt.Sprintf("memory was requested, and the database in memory of %s has none of the data: it is private to that connection", s.Connection)
	}
	return fmt.Sprintf("%s=%s was requested, effective is %s on %s", s.Name, kv.Word(s.Name, s.Requested), kv.Word(s.Name, s.Effective), s.Connection)
}

// contradictions compares what the worker read back with the database file.
func contradictions(settings []assay.Setting, path string) []string {
	file, err := dataset.Header(path)
	if err != nil {
		return nil // not a file that shows its settings: a database in memory, or none
	}
	var wrong []string
	for _, s := range settings {
		switch s.Name {
		case "journal_mode":
			if (s.Effective == "wal") != (file["journal_mode"] == "wal") && s.Effective != "memory" && s.Effective != "off" {
				wrong = append(wrong, fmt.Sprintf("%s reads journal_mode=%s, but the file is in %s mode", s.Connection, s.Effective, file["journal_mode"]))
			}
		case "page_size":
			if s.Effective != file["page_size"] {
				wrong = append(wrong, fmt.Sprintf("%s reads page_size=%s, but the file's is %s", s.Connection, s.Effective, file["page_size"]))
			}
		}
	}
	return wrong
}
