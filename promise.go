package assay

import (
	"slices"
	"strings"
)

// Promise is what a cell promises about the data that its operation changes.
type Promise struct {
	Durability Durability
	Settings   []Setting // with what was read back
}

// Unequal says how two promises differ: by a setting, empty where it is by the class
// alone, and what the two have. Figures with unequal promises have no verdict. Two
// databases in memory promise alike: there is nothing to sync.
func (p Promise) Unequal(other Promise) (setting string, have [2]string, unequal bool) {
	if p.InMemory() && other.InMemory() {
		return "", have, false
	}
	for _, name := range []string{"synchronous", "journal_mode"} {
		ours, theirs := Effective(p.Settings, name), Effective(other.Settings, name)
		if ours != "" && theirs != "" && ours != theirs {
			return name, [2]string{ours, theirs}, true
		}
	}
	return "", [2]string{string(p.Durability), string(other.Durability)}, p.Durability != other.Durability
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
