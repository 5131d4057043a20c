-- How much of a trial was compared with what is right.

-- +goose Up

ALTER TABLE trial ADD COLUMN checked TEXT NOT NULL DEFAULT '';  -- rows, answers, keys or state; empty: a trial of an earlier version
