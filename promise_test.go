package assay_test

import (
	"testing"

	"assay"
)

func TestPromises(t *testing.T) {
	settings := func(pairs ...string) (all []assay.Setting) {
		for i := 0; i < len(pairs); i += 2 {
			all = append(all, assay.Setting{Name: pairs[i], Effective: pairs[i+1]})
		}
		return all
	}
	full := assay.Promise{Durability: assay.Power, Settings: settings("synchronous", "2", "journal_mode", "wal")}
	for name, c := range map[string]struct {
		a, b    assay.Promise
		unequal bool
		setting string
		have    [2]string
	}{
		"the same":        {full, full, false, "", [2]string{}},
		"unknown classes": {assay.Promise{Settings: settings("synchronous", "2")}, assay.Promise{Settings: settings("synchronous", "1")}, false, "synchronous", [2]string{"2", "1"}},
		"a setting":       {full, assay.Promise{Durability: assay.Power, Settings: settings("synchronous", "2", "journal_mode", "delete")}, false, "journal_mode", [2]string{"wal", "delete"}},
		"a class":         {full, assay.Promise{Durability: assay.Consistent}, true, "", [2]string{}},
		"a store that syncs, and one that does not": {assay.Promise{Durability: assay.Process, Settings: settings("sync", "1")},
			assay.Promise{Durability: assay.Process, Settings: settings("sync", "0")}, true, "", [2]string{}},
		"a store that syncs, and SQLite that does not": {assay.Promise{Durability: assay.Process, Settings: settings("sync", "1")},
			assay.Promise{Durability: assay.Process, Settings: settings("synchronous", "0", "journal_mode", "wal")}, true, "", [2]string{}},
		"a store that does not sync, and SQLite": {assay.Promise{Durability: assay.Consistent, Settings: settings("sync", "0")},
			assay.Promise{Durability: assay.Consistent, Settings: settings("synchronous", "1", "journal_mode", "wal")}, false, "", [2]string{}},
		"both sync, in vain": {assay.Promise{Durability: assay.Process, Settings: settings("sync", "1")},
			assay.Promise{Durability: assay.Process, Settings: settings("synchronous", "2", "journal_mode", "wal")}, false, "", [2]string{}},
		"a sync that was asked for, and not read back": {assay.Promise{Durability: assay.None, Settings: []assay.Setting{{Name: "sync", Requested: "1"}}},
			assay.Promise{Durability: assay.None, Settings: settings("sync", "0")}, true, "", [2]string{}},
		"what one cannot say": {full, assay.Promise{Durability: assay.Power}, false, "", [2]string{}},
		"connections that differ": {full, assay.Promise{Durability: assay.Power, Settings: settings("synchronous", "2", "synchronous", "0")},
			false, "synchronous", [2]string{"2", "0/2"}},
		"two in memory": {assay.Promise{Durability: assay.None, Settings: settings("memory", "1", "journal_mode", "memory")},
			assay.Promise{Durability: assay.None, Settings: settings("memory", "1", "journal_mode", "off")}, false, "", [2]string{}},
	} {
		setting, have := c.a.Synced(c.b)
		if unequal := c.a.Unequal(c.b); setting != c.setting || have != c.have || unequal != c.unequal {
			t.Errorf("%s: got %t, %q, %q; want %t, %q, %q", name, unequal, setting, have, c.unequal, c.setting, c.have)
		}
	}
}
