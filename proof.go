package assay

import (
	"fmt"
	"slices"
)

// Fault names what a proof of durability does to a running workload.
type Fault string

// The faults.
const (
	PowerCut Fault = "power" // the disk loses what was not flushed
	// FileCut is the weaker model of a power cut that takes no root: each file and
	// folder loses what was not synced, in a file system that is only a model.
	FileCut   Fault = "power-files"
	Kill      Fault = "kill" // the process dies, the operating system does not
	FullDisk  Fault = "full" // writes fail for want of space
	FailingIO Fault = "eio"  // reads, writes and syncs fail
	// PowerShared and KillShared are done to two processes on a file of SQLite, one of which
	// writes while the other checkpoints.
	PowerShared Fault = "power-shared"
	KillShared  Fault = "kill-shared"
)

// FileSystem says what lies on a disk that faults are done to.
type FileSystem string

// The file systems.
const (
	Ext4  FileSystem = "ext4"
	Tmpfs FileSystem = "tmpfs" // in memory: it can run full, and needs no disk
)

// Refutation says how a promise about the data was broken.
type Refutation string

// The refutations, the mildest first.
const (
	LosesLastCommit Refutation = "loses-last-commit" // the last acknowledged commit is missing
	LosesCommits    Refutation = "loses-commits"     // several of the newest are
	TearsCommits    Refutation = "tears-commits"     // transactions are there in part, or commits after a missing one are
	Corrupts        Refutation = "corrupts"          // the engine's own check fails, or values are wrong
	DoesNotOpen     Refutation = "does-not-open"     // the database does not open unaided
)

// Words says what the refutation is.
func (r Refutation) Words() string {
	switch r {
	case LosesLastCommit:
		return "loses the last acknowledged commit"
	case LosesCommits:
		return "loses acknowledged commits"
	case TearsCommits:
		return "keeps parts of transactions"
	case Corrupts:
		return "corrupts the database"
	case DoesNotOpen:
		return "leaves a database that does not open"
	}
	return string(r)
}

// Proof holds what faults showed of a target with a profile, held against the
// durability that its settings claim. The zero value is no proof.
type Proof struct {
	Target  string     // Target.Name
	Build   string     // digest of everything that went into the worker program
	Profile string     // the settings
	Fault   Fault      // what was done
	Claimed Durability // what the settings claim
	States  int        // different states of the disk that were checked
	Held    int        // of these, states in which the promise was kept
	Refuted int        // states in which it was broken
	Kind    Refutation // the worst that was found; empty where Refuted is 0
	Replay  string     // identifies the smallest counterexample
	// FileSystem is the file system of the disk; empty where it is ext4, or where the fault
	// takes no disk.
	FileSystem FileSystem
}

// Code is the proof as CSV has it: held:N, refuted:KIND, or empty where there is
// none.
func (p Proof) Code() string {
	switch {
	case p.Refuted > 0:
		return "refuted:" + string(p.Kind)
	case p.Held > 0 && p.tests():
		return fmt.Sprintf("held:%d", p.Held)
	}
	return ""
}

// Words is the proof as reports say it, behind or instead of the class.
func (p Proof) Words() string {
	switch {
	case p.Refuted > 0:
		return "refuted: " + p.Kind.Words() + p.where()
	case p.Held > 0 && !p.tests():
		return fmt.Sprintf("promises nothing about %s", p.Fault.Times(0))
	case p.Held > 0:
		return fmt.Sprintf("held in %d %s", p.Held, p.Fault.Times(p.Held)) + p.where()
	}
	return "claimed"
}

// tests reports whether the class that is claimed promises something that the fault could
// break. Whatever a power cut leaves of the class process keeps its promise.
func (p Proof) tests() bool {
	switch p.Claimed {
	case None:
		return false
	case Process:
		return p.Fault == Kill || p.Fault == FullDisk
	}
	return true
}

// where names a file system that is not the usual one.
func (p Proof) where() string {
	if p.FileSystem == "" {
		return ""
	}
	return " on " + string(p.FileSystem)
}

// mildness orders refutations, the mildest first.
var mildness = []Refutation{LosesLastCommit, LosesCommits, TearsCommits, Corrupts, DoesNotOpen}

// Foremost is the proof that stands for those of several faults: the worst
// refutation, or else what most power cuts showed, or else their weaker model, or else,
// of a class that promises nothing about power cuts, what most kills showed; the zero
// value where there is none of them.
func Foremost(all []Proof) Proof {
	var foremost Proof
	for _, p := range all {
		switch {
		case p.Refuted > 0:
			if foremost.Refuted == 0 || slices.Index(mildness, p.Kind) > slices.Index(mildness, foremost.Kind) {
				foremost = p
			}
		case foremost.Refuted > 0 || !p.tests():
		case p.Fault == PowerCut && (foremost.Fault != PowerCut || p.States > foremost.States), p.Fault == FileCut && foremost.States == 0,
			p.Fault == Kill && p.Claimed == Process && p.States > foremost.States:
			foremost = p
		}
	}
	return foremost
}

// IsServer reports whether an engine is a server: a process of its own, which does not
// end with the application.
func IsServer(engine string) bool { return engine == "postgresql" }

// Proven returns what remains of a class that the settings of an engine claim: of a refuted
// one, the strongest that the proof does not refute too.
func (p Proof) Proven(engine string, claimed Durability) Durability {
	strong := claimed.AtLeast(Consistent)
	switch {
	case p.Refuted == 0 || claimed == DurabilityUnknown:
		return claimed
	case !strong:
		return None
	case !p.Fault.LosesUnsynced(engine):
		return None // the others lose nothing while the system runs
	case p.Kind == LosesLastCommit:
		return LastCommit.Weaker(claimed)
	case p.Kind == LosesCommits:
		return Consistent // what is there is whole
	}
	return Process
}

// LosesUnsynced reports whether the fault may take what an engine did not sync. A process
// that is killed, and a disk that is full, take nothing from the operating system's
// memory; a server that is killed takes along what is in its own.
func (f Fault) LosesUnsynced(engine string) bool {
	return f != Kill && f != KillShared && f != FullDisk || IsServer(engine)
}

// Times counts a fault in words.
func (f Fault) Times(n int) string {
	words := map[Fault]string{PowerCut: "power cut", FileCut: "power cut", Kill: "kill", FullDisk: "full disk", FailingIO: "I/O error",
		PowerShared: "power cut", KillShared: "kill"}[f]
	if n != 1 {
		words += "s"
	}
	if f == FileCut {
		words += " of a file model"
	}
	if f == PowerShared || f == KillShared {
		words += " with a second process"
	}
	return words
}
