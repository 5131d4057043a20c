package sqlite

import "strconv"

// Durability says what a database's effective settings claim about a commit
// that was acknowledged: none (a killed application may lose or corrupt data),
// process (survives a killed application, a power cut may corrupt), consistent (a
// power cut loses the newest commits only) or power (every commit survives).
// It is empty where journal_mode or synchronous is not known. Values are as
// SQLite reads them back: synchronous is a number.
//
// Sources: https://www.sqlite.org/pragma.html#pragma_synchronous,
// https://www.sqlite.org/pragma.html#pragma_journal_mode and
// https://www.sqlite.org/wal.html.
func Durability(effective map[string]string) string {
	if memory := effective["memory"]; memory != "" && memory != "0" {
		return "none"
	}
	sync, err := strconv.Atoi(effective["synchronous"])
	if err != nil {
		return ""
	}
	switch effective["journal_mode"] {
	case "off", "memory":
		// No journal outlives the process. Memory databases show one of these.
		return "none"
	case "wal", "truncate", "persist":
		return class(sync, 2)
	case "delete":
		// With FULL the directory is not synced after the journal is deleted,
		// so a power cut can bring the journal back, and it undoes the newest
		// commit. EXTRA syncs the directory.
		return class(sync, 3)
	}
	return ""
}

// class is the durability of a journal on disk where commits are synced from
// the level durable on.
func class(sync, durable int) string {
	switch {
	case sync == 0:
		return "process"
	case sync < durable:
		return "consistent"
	}
	return "power"
}
