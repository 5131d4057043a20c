// Package duckdb is the vocabulary of DuckDB: its settings. It opens no database.
//
// Source: https://duckdb.org/docs/stable/configuration/overview.
package duckdb

import (
	"slices"
	"strconv"
	"strings"

	"assay/kit/setting"
)

// Engine is the name by which workers report DuckDB.
const Engine = "duckdb"

// Settings lists the settings that a profile can give, by name. They hold for all
// connections. SQLite has threads, too.
var Settings = setting.Table{
	memory("checkpoint_threshold"),
	memory("memory_limit"),
	setting.Switch("preserve_insertion_order", "false", "true"),
	setting.Integer("threads", 1, 1024),
}

// Alone lists those that no other engine has.
var Alone = slices.DeleteFunc(slices.Clone(Settings), func(s setting.Setting) bool { return s.Name == "threads" })

// memory is an amount as DuckDB takes it. It shows one decimal only, so that of
// others than these nobody could say whether they are in effect.
func memory(name string) setting.Setting {
	return setting.Custom(name, "a whole number up to 1023 with a unit: 512MiB, 4GiB", func(value string) (string, bool) {
		for _, unit := range []string{"KiB", "MiB", "GiB", "TiB"} {
			digits, found := strings.CutSuffix(value, unit)
			if !found {
				continue
			}
			n, err := strconv.Atoi(strings.TrimSuffix(strings.TrimSpace(digits), ".0"))
			return strconv.Itoa(n) + unit, err == nil && n >= 1 && n <= 1023
		}
		return "", false
	})
}
