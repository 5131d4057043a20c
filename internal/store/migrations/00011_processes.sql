-- How many processes share the database of a cell.

-- +goose Up

ALTER TABLE trial ADD COLUMN processes INTEGER NOT NULL DEFAULT 1;  -- each with the cell's clients
