package assay

import (
	"cmp"
	"slices"
	"strings"
)

// Promise holds what a cell promises about the data that its operation changes.
type Promise struct {
	Durability Durability
	Settings   []Setting // with what was read back
}

// Unequal reports whether two promises are of different classes, or of one class of which
// only one syncs each commit: it loses less than the class says. Then figures are neither
// compared nor ranked.
func (p Promise) Unequal(other Promise) bool {
	return p.Durability != other.Durability || p.Syncs() != other.Syncs()
}

// Syncs reports whether each commit is synced before it is acknowledged: a store has the
// setting sync, and elsewhere the class says it, but on storage that keeps no sync.
func (p Promise) Syncs() bool {
	for _, s := range p.Settings {
		if value := cmp.Or(s.Effective, s.Requested); s.Name == "sync" && value != "" {
			return value == "1" || value == "on"
		}
	}
	return p.Durability.AtLeast(LastCommit) || p.Durability == Process && Effective(p.Settings, "synchronous") >= "2"
}

// Synced says by which setting two promises of one class sync otherwise, and what the two
// have; the name is empty where they do not. Two databases in memory sync alike: there is
// nothing to sync.
func (p Promise) Synced(other Promise) (setting string, have [2]string) {
	if p.Unequal(other) || p.InMemory() && other.InMemory() {
		return "", have
	}
	for _, name := range []string{"synchronous", "journal_mode"} {
		ours, theirs := Effective(p.Settings, name), Effective(other.Settings, name)
		if ours != "" && theirs != "" && ours != theirs {
			return name, [2]string{ours, theirs}
		}
	}
	return "", have
}

// InMemory reports whether the database has no file.
func (p Promise) InMemory() bool {
	memory := Effective(p.Settings, "memory")
	return memory != "" && memory != "0"
}

// Effective returns a setting as read back, with all values where connections
// differ; empty where it was not read.
func Effective(settings []Setting, name string) string {
	var values []string
	for _, s := range settings {
		if s.Name == name && s.Effective != "" && !slices.Contains(values, s.Effective) {
			values = append(values, s.Effective)
		}
	}
	slices.Sort(values)
	return strings.Join(values, "/")
}
