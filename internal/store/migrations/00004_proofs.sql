-- Proofs of durability: what faults showed of a target with a profile of a plan.

-- +goose Up

CREATE TABLE proof (
	plan_digest TEXT NOT NULL,     -- SHA-256 of the plan's text, hexadecimal: a profile is what its plan says
	target      TEXT NOT NULL,     -- driver@version
	build       TEXT NOT NULL,     -- digest of everything that went into the worker program
	profile     TEXT NOT NULL,
	fault       TEXT NOT NULL,     -- power, kill, full, eio
	claimed     TEXT NOT NULL,     -- durability that the settings claim
	states      INTEGER NOT NULL,  -- different states that were checked
	held        INTEGER NOT NULL,  -- of these, states in which the promise was kept
	refuted     INTEGER NOT NULL,  -- states in which it was broken
	kind        TEXT NOT NULL,     -- the worst that was found; empty where refuted is 0
	replay      TEXT NOT NULL,     -- identifies the smallest counterexample; empty: none
	proved      TEXT NOT NULL,     -- when
	PRIMARY KEY (plan_digest, target, build, profile, fault)
) STRICT, WITHOUT ROWID;
