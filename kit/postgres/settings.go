// Package postgres is the vocabulary of PostgreSQL: its settings, what they
// say about durability, and how the SQL of plans is said to it. It opens no
// database; package cluster starts servers.
//
// Sources: https://www.postgresql.org/docs/current/runtime-config-wal.html and
// https://www.postgresql.org/docs/current/runtime-config-resource.html.
package postgres

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"assay/kit/setting"
)

// Engine is the name by which workers report PostgreSQL.
const Engine = "postgresql"

// Where a worker finds the server: in the folder of its Unix socket, without a
// password.
const (
	Port     = 5432
	User     = "postgres"
	Database = "postgres"
)

// Settings lists the settings that a profile can give, by name. All of them are
// given to the server when it is started, so that they hold on every
// connection. Amounts of memory read back in bytes.
var Settings = setting.Table{
	whole("effective_io_concurrency", 1000),
	setting.Switch("fsync", "off", "on"),
	setting.Switch("full_page_writes", "off", "on"),
	setting.Switch("jit", "off", "on"),
	memory("max_wal_size"),
	memory("shared_buffers"),
	setting.Words("synchronous_commit", "off", "local", "on").AtOpen(),
	compression("wal_compression"),
	setting.Words("wal_sync_method", "fsync", "fdatasync", "open_sync", "open_datasync").AtOpen(),
	memory("work_mem"),
}

// Lookup returns the setting of that name; the second result is false where
// there is none.
func Lookup(name string) (setting.Setting, bool) { return Settings.Lookup(name) }

// Durability says what a server's effective settings claim about a commit that
// was acknowledged, in the classes of sqlite.Durability; empty where they are
// not known. They are of an application that is killed, and of a power cut; a
// killed server may lose what a power cut may: without synchronous_commit the
// newest commits.
func Durability(effective map[string]string) string {
	var value [3]string
	for i, name := range []string{"fsync", "full_page_writes", "synchronous_commit"} {
		value[i] = effective[name]
		if s, _ := Lookup(name); value[i] != "" {
			normal, err := s.Normal(value[i])
			if err != nil {
				return ""
			}
			value[i] = normal
		}
	}
	fsync, pages, commit := value[0], value[1], value[2]
	switch {
	case fsync == "" || pages == "" || commit == "":
		return ""
	case fsync == "off" || pages == "off":
		return "process"
	case commit == "off":
		return "consistent"
	}
	return "power"
}

// whole is a number from 0 to most.
func whole(name string, most int) setting.Setting {
	return setting.Custom(name, "a whole number up to "+strconv.Itoa(most), func(value string) (string, bool) {
		n, err := strconv.Atoi(value)
		return strconv.Itoa(n), err == nil && n >= 0 && n <= most
	})
}

// compression is a method of compression. Before version 15 the only one was on, which
// is pglz since.
func compression(name string) setting.Setting {
	s := setting.Words(name, "off", "pglz", "lz4", "zstd")
	return setting.Custom(name, s.Want, func(value string) (string, bool) {
		if strings.EqualFold(value, "on") {
			value = "pglz"
		}
		normal, err := s.Normal(value)
		return normal, err == nil
	})
}

// units are those that PostgreSQL knows of memory, in bytes.
var units = []struct {
	name  string
	bytes int64
}{{"kB", 1 << 10}, {"MB", 1 << 20}, {"GB", 1 << 30}, {"TB", 1 << 40}, {"B", 1}}

// memory is an amount in bytes, or with a unit as PostgreSQL shows it: 128MB.
func memory(name string) setting.Setting {
	return setting.Custom(name, "bytes, or an amount such as 128MB", func(value string) (string, bool) {
		factor := int64(1)
		for _, unit := range units {
			if digits, found := strings.CutSuffix(value, unit.name); found {
				value, factor = strings.TrimSpace(digits), unit.bytes
				break
			}
		}
		n, err := strconv.ParseInt(value, 10, 64)
		if err != nil || n < 1 || n > math.MaxInt64/factor {
			return "", false
		}
		return strconv.FormatInt(n*factor, 10), true
	})
}

// Argument is a setting as the server takes it on its command line. Values are
// as Normal gives them.
func Argument(name, value string) string {
	switch name {
	case "max_wal_size", "shared_buffers", "work_mem":
		value += "B"
	case "wal_compression":
		if value == "pglz" {
			value = "on" // which every version knows
		}
	}
	return name + "=" + value
}

// Word is a value as PostgreSQL shows it and as postgresql.conf has it: 128MB. Values
// are as Normal gives them.
func Word(name, value string) string {
	bytes, err := strconv.ParseInt(value, 10, 64)
	if _, amount := strings.CutSuffix(Argument(name, value), "B"); err != nil || !amount {
		return value
	}
	for _, unit := range slices.Backward(units[:3]) {
		if bytes > 0 && bytes%unit.bytes == 0 {
			return strconv.FormatInt(bytes/unit.bytes, 10) + unit.name
		}
	}
	return value
}
