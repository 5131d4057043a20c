-- Where the wall time of a run's launches went.

-- +goose Up

ALTER TABLE run ADD COLUMN spent TEXT NOT NULL DEFAULT 'null';  -- JSON: nanoseconds by stage, of which one is measured
