package crash

import (
	"slices"

	"assay"
)

// Damage is what a fault did to a database.
type Damage string

// The kinds of damage.
const (
	Unharmed     Damage = ""
	Unmade       Damage = "unmade"       // it does not open, and nothing was acknowledged yet: its creation was cut short
	LostLast     Damage = "lost-last"    // the last acknowledged transaction is gone; what is there is whole
	Lost         Damage = "lost"         // several of the newest are
	Unwritable   Damage = "unwritable"   // everything is there, and nothing can be written
	Unstable     Damage = "unstable"     // a second open finds something else than the first
	Inconsistent Damage = "inconsistent" // half a transaction, a hole in their order, or a wrong value
	Corrupt      Damage = "corrupt"      // the engine's own check fails
	Unopened     Damage = "unopened"     // it does not open, or cannot be read
)

// damage is what there is to know of a kind of damage.
type damage struct {
	Damage     Damage
	line       string           // in a result's one line
	sentence   string           // behind "in 3 of 9 states"
	refutation assay.Refutation // in a proof
}

// damages are all kinds, the worst last.
var damages = []damage{
	{Unharmed, "unharmed", "nothing is wrong", ""},
	{Unmade, "it did not open, cut off while it was created, with nothing acknowledged yet", "it does not open, and nothing had been acknowledged", ""},
	{LostLast, "loses the last acknowledged commit", "the last acknowledged commit is missing", assay.LosesLastCommit},
	{Lost, "loses acknowledged commits", "acknowledged commits are missing", assay.LosesCommits},
	{Unwritable, "cannot be written to afterwards", "it cannot be written to", assay.Corrupts},
	{Unstable, "changes when it is opened again", "it shows something else when it is opened again", assay.TearsCommits},
	{Inconsistent, "keeps parts of transactions", "it has parts of transactions", assay.TearsCommits},
	{Corrupt, "corrupts: the engine's own check fails", "the engine's own check finds damage", assay.Corrupts},
	{Unopened, "does not open", "it does not open or cannot be read", assay.DoesNotOpen},
}

func (d Damage) severity() int {
	return slices.IndexFunc(damages, func(known damage) bool { return known.Damage == d })
}

// beyondLoss reports whether it is worse than the loss of the newest commits.
func (d Damage) beyondLoss() bool { return d.severity() > Lost.severity() }

// unopened is the damage of a database that does not open after so many acknowledged
// transactions.
func unopened(acked int) Damage {
	if acked == 0 {
		return Unmade
	}
	return Unopened
}

// about is what there is to know of a kind of damage, which is one of them.
func (d Damage) about() damage { return damages[d.severity()] }
