-- The order of runs does not depend on the clock, a run has one owner, and no trial is kept twice.

-- +goose Up

ALTER TABLE run ADD COLUMN sequence INTEGER NOT NULL DEFAULT 0;  -- in order of their beginning, from 1
ALTER TABLE run ADD COLUMN owner TEXT NOT NULL DEFAULT '';       -- the process that may append trials; empty: none yet
UPDATE run SET sequence = (SELECT count(*) FROM run AS other WHERE (coalesce(other.started, ''), other.id) <= (coalesce(run.started, ''), run.id));
DROP INDEX run_by_start;
CREATE UNIQUE INDEX run_by_sequence ON run (sequence);

-- Group, launch and cell of a trial; NULL where it belongs to no launch, and for trials of earlier versions.
ALTER TABLE trial ADD COLUMN place TEXT;
CREATE UNIQUE INDEX trial_by_place ON trial (run_id, place);
