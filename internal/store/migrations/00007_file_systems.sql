-- Proofs of one fault on several file systems: what one of them refutes, another does
-- not restore.

-- +goose Up

CREATE TABLE proof_of_file_system (
	plan_digest TEXT NOT NULL,     -- SHA-256 of the plan's text, hexadecimal: a profile is what its plan says
	target      TEXT NOT NULL,     -- driver@version
	build       TEXT NOT NULL,     -- digest of everything that went into the worker program
	profile     TEXT NOT NULL,
	fault       TEXT NOT NULL,     -- power, power-files, kill, full, eio
	filesystem  TEXT NOT NULL,     -- of the disk: xfs, btrfs; empty: ext4, or the fault takes no disk
	claimed     TEXT NOT NULL,     -- durability that the settings claim
	states      INTEGER NOT NULL,  -- different states that were checked
	held        INTEGER NOT NULL,  -- of these, states in which the promise was kept
	refuted     INTEGER NOT NULL,  -- states in which it was broken
	kind        TEXT NOT NULL,     -- the worst that was found; empty where refuted is 0
	replay      TEXT NOT NULL,     -- identifies the smallest counterexample; empty: none
	proved      TEXT NOT NULL,     -- when
	PRIMARY KEY (plan_digest, target, build, profile, fault, filesystem)
) STRICT, WITHOUT ROWID;

INSERT INTO proof_of_file_system (plan_digest, target, build, profile, fault, filesystem, claimed, states, held, refuted, kind, replay, proved)
SELECT plan_digest, target, build, profile, fault, '', claimed, states, held, refuted, kind, replay, proved FROM proof;

DROP TABLE proof;

ALTER TABLE proof_of_file_system RENAME TO proof;
