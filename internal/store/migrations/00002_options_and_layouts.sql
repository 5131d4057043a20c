-- Builds with compile options of their own, in several link layouts.

-- +goose Up

ALTER TABLE target ADD COLUMN options TEXT NOT NULL DEFAULT 'null';  -- JSON: compile options that were asked for
ALTER TABLE target ADD COLUMN layouts INTEGER NOT NULL DEFAULT 0;    -- link layouts that launches take in turn; 0: there is one
ALTER TABLE trial ADD COLUMN options TEXT NOT NULL DEFAULT '';       -- compile options that were asked for, joined by colons
ALTER TABLE trial ADD COLUMN layout INTEGER NOT NULL DEFAULT 0;      -- of the worker program, from 1; 0: there is one
