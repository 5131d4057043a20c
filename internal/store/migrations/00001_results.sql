-- The results of runs.
--
--   run      one execution of a plan, with what is needed to believe and to repeat it
--   target   a driver at a build that took part in the run, as its worker reported it
--   trial    one cell in one launch; the cell's coordinates are its columns
--   figure   one metric of one trial
--   setting  one setting of one connection of one trial, requested and read back
--
-- Units and formats:
--
--   *_ns             nanoseconds
--   started, finished   UTC as 2006-01-02T15:04:05.000000000Z, which sorts by time; NULL: none
--   figure.value     in the unit of its metric: ns for ns/op, p50 .. p99.9 and close-ns,
--                    1/s for op/s, bytes for B/op, read-B/op, bytes-written/op and peak-B,
--                    a count per operation for allocs/op, switches/op and busy/op
--   steal, foreign_cpu   shares of the whole CPU time of the machine, 0 to 1
--   rate             arrivals per second; 0: closed loop
--   transaction_size operations to a transaction; 0: each commits alone
--   samples          JSON, [[operations, nanoseconds], ...], in order of time
--   histogram        JSON, [[upper bound in nanoseconds, count], ...]
--   targets, figures, settings   how many rows of that table belong to this one; NULL where
--                    the program had no list at all
--   Other JSON       objects for maps, arrays for lists, null where there was none
--
-- Example: the median of ns/op over launches needs the launches one by one:
--
--   SELECT t.operation, t.driver, t.profile, t.launch, f.value
--   FROM trial t JOIN figure f ON f.trial_id = t.id
--   WHERE f.metric = 'ns/op' AND t.outcome = 'ok' AND NOT t.disqualified AND NOT t.twin;

-- +goose Up

-- "assa" in ASCII: tells a file of results from the database of another program.
PRAGMA application_id = 1634956129;

CREATE TABLE run (
	id        TEXT PRIMARY KEY,
	plan      TEXT NOT NULL,
	plan_text TEXT NOT NULL,     -- the plan's YAML as it was read
	plan_file TEXT NOT NULL,     -- its path: files that it names are relative to it
	options   TEXT NOT NULL,     -- JSON: drivers, only, budget_ns, precision, margin
	seed      TEXT NOT NULL,     -- an unsigned 64-bit number, in decimal
	started   TEXT,
	finished  TEXT,
	status    TEXT NOT NULL,     -- running, interrupted or finished
	version   TEXT NOT NULL,     -- of assay
	host      TEXT NOT NULL,     -- JSON: facts of the machine
	reference TEXT NOT NULL,     -- the driver@version that others are compared with
	least_ns  INTEGER NOT NULL,  -- estimated least time of the run; 0: unknown
	targets   INTEGER,
	files     TEXT NOT NULL      -- JSON: a user's own file with its file settings, and the digest of its data
) STRICT, WITHOUT ROWID;

CREATE INDEX run_by_start ON run (started);

CREATE TABLE target (
	run_id          TEXT NOT NULL REFERENCES run (id) ON DELETE CASCADE,
	position        INTEGER NOT NULL,  -- in plan order, from 0
	driver          TEXT NOT NULL,
	driver_version  TEXT NOT NULL,
	engine          TEXT NOT NULL,
	engine_version  TEXT NOT NULL,
	build           TEXT NOT NULL,     -- digest of everything that went into the worker program
	facts           TEXT NOT NULL,     -- JSON
	compile_options TEXT NOT NULL,     -- JSON
	PRIMARY KEY (run_id, position)
) STRICT, WITHOUT ROWID;

CREATE TABLE trial (
	id               INTEGER PRIMARY KEY,  -- in order of arrival
	run_id           TEXT NOT NULL REFERENCES run (id) ON DELETE CASCADE,
	plan             TEXT NOT NULL,
	workload         TEXT NOT NULL,
	operation        TEXT NOT NULL,
	engine           TEXT NOT NULL,
	driver           TEXT NOT NULL,
	driver_version   TEXT NOT NULL,
	build            TEXT NOT NULL,
	profile          TEXT NOT NULL,
	without          TEXT NOT NULL,        -- the one setting of the profile that is left out; empty: none
	clients          INTEGER NOT NULL,
	pool             INTEGER NOT NULL,     -- open connections for readers
	idle             INTEGER NOT NULL,     -- connections kept idle
	statement        TEXT NOT NULL,        -- once, each or never
	transaction_size INTEGER NOT NULL,
	rate             REAL NOT NULL,
	params           TEXT NOT NULL,        -- JSON: the other axes
	as_published     INTEGER NOT NULL,     -- 1: a deliberately faulty condition
	group_name       TEXT NOT NULL,        -- of instances measured in the same launches
	launch           INTEGER NOT NULL,     -- from 1 in its group; trials of one launch are paired
	twin             INTEGER NOT NULL,     -- 1: the reference again
	mode             TEXT NOT NULL,        -- windows or blocks
	outcome          TEXT NOT NULL,        -- ok or why not: see Outcome in the program
	reason           TEXT NOT NULL,
	durability       TEXT NOT NULL,        -- as the settings claim; empty: unknown
	query_plan       TEXT NOT NULL,
	dsn              TEXT NOT NULL,        -- with {{path}} for the file
	each_sql         TEXT NOT NULL,        -- JSON: SQL run on every new connection
	digest           TEXT NOT NULL,        -- of the answers, hexadecimal
	warnings         TEXT NOT NULL,        -- JSON: objects with code, evidence, advice
	samples          TEXT NOT NULL,
	histogram        TEXT NOT NULL,
	started          TEXT,
	took_ns          INTEGER NOT NULL,     -- measuring and everything around it
	steal            REAL NOT NULL,        -- taken by the hypervisor
	foreign_cpu      REAL NOT NULL,        -- used by processes that are not ours
	disqualified     INTEGER NOT NULL,     -- 1: disturbed from outside; not in any centre or ratio
	figures          INTEGER,
	settings         INTEGER
) STRICT;

CREATE INDEX trial_of_run ON trial (run_id);

CREATE TABLE figure (
	trial_id INTEGER NOT NULL REFERENCES trial (id) ON DELETE CASCADE,
	metric   TEXT NOT NULL,
	value    REAL NOT NULL,
	PRIMARY KEY (trial_id, metric)
) STRICT, WITHOUT ROWID;

CREATE TABLE setting (
	trial_id   INTEGER NOT NULL REFERENCES trial (id) ON DELETE CASCADE,
	position   INTEGER NOT NULL,  -- in the order of the worker's answer, from 0
	name       TEXT NOT NULL,
	connection TEXT NOT NULL,     -- reader-1, writer-1, ...
	requested  TEXT NOT NULL,     -- empty: the profile says nothing
	issued     TEXT NOT NULL,     -- what the worker sent to its driver
	effective  TEXT NOT NULL,     -- as read back
	applied    INTEGER NOT NULL,  -- 1: requested and effective agree
	PRIMARY KEY (trial_id, position)
) STRICT, WITHOUT ROWID;
