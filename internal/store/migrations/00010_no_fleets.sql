-- Each machine keeps its runs in a file of its own and pushes them to the server: there is no queue.

-- +goose Up

DROP TABLE fleet_machine;
DROP TABLE fleet_agent;
DROP TABLE fleet;
