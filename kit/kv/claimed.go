package kv

import (
	"slices"

	"assay/kit/postgres"
	"assay/kit/sqlite"
	"assay/kit/wire"
)

// Claimed is the class of durability that the settings claim of a database opened by a
// worker with these capabilities, with the settings of the connection that it is of:
// each connection that writes is judged alone, and the weakest decides. What the engine
// itself says of its class stands. The settings are nil where no connection that writes
// was read back.
func Claimed(capabilities []string, opened wire.Opened, read []wire.Connection) (class string, settings map[string]string) {
	found := false
	for _, c := range read {
		if !wire.IsWriter(c.Name) {
			continue
		}
		own := ""
		switch {
		case slices.Contains(capabilities, wire.CapPostgreSQL):
			own = postgres.Durability(c.Settings)
		case !slices.Contains(capabilities, wire.CapKV):
			own = sqlite.Durability(c.Settings)
		}
		if !found || slices.Index(wire.Durabilities, own) < slices.Index(wire.Durabilities, class) {
			class, settings, found = own, c.Settings, true
		}
	}
	if opened.Durability != "" {
		class = opened.Durability
	}
	return class, settings
}
