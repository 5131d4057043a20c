-- How the transactions of a cell begin.

-- +goose Up

ALTER TABLE trial ADD COLUMN begin_mode TEXT NOT NULL DEFAULT '';  -- deferred, immediate or exclusive; empty: as by default
