-- Runs that are measured on several machines: what is to be measured, and how far each machine is.
-- Only stores on a server have rows here.

-- +goose Up

CREATE TABLE fleet (
	id        TEXT PRIMARY KEY,   -- as that of a run
	plan      TEXT NOT NULL,
	plan_text TEXT NOT NULL,
	plan_file TEXT NOT NULL,
	options   TEXT NOT NULL,      -- JSON, as those of a run
	seed      TEXT NOT NULL,      -- JSON
	version   TEXT NOT NULL,      -- of assay: agents of another one leave it alone
	started   TEXT NOT NULL,
	launches  INTEGER NOT NULL    -- that each machine makes
) STRICT;

-- A machine's part: its launches are made one after the other, and each is a job.
CREATE TABLE fleet_machine (
	fleet_id TEXT NOT NULL REFERENCES fleet (id),
	position INTEGER NOT NULL,              -- from 1
	machine  TEXT,                          -- which; NULL: none has begun
	name     TEXT NOT NULL DEFAULT '',      -- of the machine, in words
	run_id   TEXT REFERENCES run (id),      -- that has its trials; NULL: not begun yet
	done     INTEGER NOT NULL DEFAULT 0,    -- launches that are kept: the next one has the next number
	problem  TEXT NOT NULL DEFAULT '',      -- why it is given up; empty: it is not
	holder   TEXT NOT NULL DEFAULT '',      -- the agent that has the next launch
	attempt  INTEGER NOT NULL DEFAULT 0,    -- counts the holders: a former one has another number
	expires  INTEGER NOT NULL DEFAULT 0,    -- end of its lease, in ms since 1970 by the server's clock; 0: nobody has it
	PRIMARY KEY (fleet_id, position),
	UNIQUE (fleet_id, machine)
) STRICT;
CREATE UNIQUE INDEX fleet_machine_by_run ON fleet_machine (run_id);

-- Agents that live, or did.
CREATE TABLE fleet_agent (
	agent   TEXT PRIMARY KEY,
	machine TEXT NOT NULL,
	name    TEXT NOT NULL,      -- of the machine, in words
	version TEXT NOT NULL,      -- of assay
	seen    INTEGER NOT NULL    -- when it was heard of, as expires has it
) STRICT;
