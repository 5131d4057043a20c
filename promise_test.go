package assay_test

import (
	"testing"

	"assay"
)

func TestUnequal(t *testing.T) {
	settings := func(pairs ...string) (all []assay.Setting) {
		for i := 0; i < len(pairs); i += 2 {
			all = append(all, assay.Setting{Name: pairs[i], Effective: pairs[i+1]})
		}
		return all
	}
	full := assay.Promise{Durability: assay.Power, Settings: settings("synchronous", "2", "journal_mode", "wal")}
	for name, c := range map[string]struct {
		a, b    assay.Promise
		setting string
		have    [2]string
		unequal bool
	}{
		"the same":            {full, full, "", [2]string{}, false},
		"unknown classes":     {assay.Promise{Settings: settings("synchronous", "2")}, assay.Promise{Settings: settings("synchronous", "1")}, "synchronous", [2]string{"2", "1"}, true},
		"a setting":           {full, assay.Promise{Durability: assay.Power, Settings: settings("synchronous", "2", "journal_mode", "delete")}, "journal_mode", [2]string{"wal", "delete"}, true},
		"a class":             {full, assay.Promise{Durability: assay.Consistent}, "", [2]string{"power", "consistent"}, true},
		"what one cannot say": {full, assay.Promise{Durability: assay.Power}, "", [2]string{}, false},
		"connections that differ": {full, assay.Promise{Durability: assay.Power, Settings: settings("synchronous", "2", "synchronous", "0")},
			"synchronous", [2]string{"2", "0/2"}, true},
		"two in memory": {assay.Promise{Durability: assay.None, Settings: settings("memory", "1", "journal_mode", "memory")},
			assay.Promise{Durability: assay.None, Settings: settings("memory", "1", "journal_mode", "off")}, "", [2]string{}, false},
	} {
		setting, have, unequal := c.a.Unequal(c.b)
		if !unequal {
			have = [2]string{}
		}
		if setting != c.setting || have != c.have || unequal != c.unequal {
			t.Errorf("%s: got %q, %q, %t; want %q, %q, %t", name, setting, have, unequal, c.setting, c.have, c.unequal)
		}
	}
}
