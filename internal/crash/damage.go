package crash

import (
	_ "embed"
	"encoding/json"
	"slices"

	"assay"
)

// Damage says what a fault did to a database.
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

// damage holds what there is to know of a kind of damage.
type damage struct {
	Damage     Damage
	line       string           // in words
	refutation assay.Refutation // in a proof
}

// damages are all kinds, the worst last.
var damages = []damage{
	{Unharmed, "unharmed", ""},
	{Unmade, "it did not open, cut off while it was created, with nothing acknowledged yet", ""},
	{LostLast, "loses the last acknowledged commit", assay.LosesLastCommit},
	{Lost, "loses acknowledged commits", assay.LosesCommits},
	{Unwritable, "cannot be written to afterwards", assay.Corrupts},
	{Unstable, "changes when it is opened again", assay.TearsCommits},
	{Inconsistent, "keeps parts of transactions", assay.TearsCommits},
	{Corrupt, "corrupts: the engine's own check fails", assay.Corrupts},
	{Unopened, "does not open", assay.DoesNotOpen},
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

// about returns what there is to know of a kind of damage, which is one of them.
func (d Damage) about() damage { return damages[d.severity()] }

// Promise holds what an engine's documentation says of some settings, in our words.
type Promise struct {
	Engine string
	// Settings have values as they are read back, of which each setting has one.
	// None stands for the default of a library that does not show it.
	Settings map[string][]string
	Class    assay.Durability // that the words come to
	// NewestOnly says that no fault takes more than the newest commits, though the
	// class allows it.
	NewestOnly bool `json:"newest_only"`
	Says       string
	Source     string // address of the documentation
}

//go:embed promises.json
var promisesText []byte

// promises are in the order in which they are looked through: the first that
// fits holds.
var promises = func() (all []Promise) {
	if err := json.Unmarshal(promisesText, &all); err != nil {
		panic(err) // a test reads it
	}
	return all
}()

// Documented returns what the documentation promises of the settings that were read
// back; false where that is not known.
func (r *Result) Documented() (Promise, bool) {
	for _, p := range promises {
		if p.Engine == r.Engine && p.fits(r.Settings) {
			return p, true
		}
	}
	return Promise{}, false
}

func (p Promise) fits(settings map[string]string) bool {
	for name, values := range p.Settings {
		if !slices.Contains(values, settings[name]) {
			return false
		}
	}
	return true
}

// Contradicts reports whether a result shows what the documentation excludes.
func (p Promise) Contradicts(r *Result) bool {
	return slices.ContainsFunc(r.damages(), func(d Damage) bool {
		return promised(p.Class, r.losesUnsynced(), d) || p.NewestOnly && d.beyondLoss()
	})
}
