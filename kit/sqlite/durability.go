package sqlite

import "strconv"

// Durability says what a database's effective settings claim about a commit
// that was acknowledged: none (a killed application may lose or corrupt data),
// process (survives a killed application, a power cut may corrupt), consistent (a
// power cut loses the newest commits only: those since the last checkpoint),
// last-commit (it loses at most the last one) or power (every commit survives).
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
	case "wal":
		// With NORMAL the log is synced only before a checkpoint.
		return class(sync, 2, "consistent")
	case "truncate", "persist":
		return class(sync, 2, "last-commit")
	case "delete":
		// With FULL the directory is not synced after the journal is deleted,
		// so a power cut can bring the journal back, and it undoes the newest
		// commit. EXTRA syncs the directory.
		return class(sync, 3, "last-commit")
	}
	return ""
}

// class is the durability of a journal on disk where commits are synced from
// the level durable on, and what it is below that. The database is synced at every commit
// unless there is a log: only the end of the journal can be undone, and with it one commit.
func class(sync, durable int, below string) string {
	switch {
	case sync == 0:
		return "process"
	case sync < durable:
		return below
	}
	return "power"
}
