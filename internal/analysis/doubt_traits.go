package analysis

// Trait is what displays and audits have to know of a kind of doubt beside its words.
type Trait uint

// The traits.
const (
	// Grave: the figure is not what it is taken for. It is named before the others.
	Grave Trait = 1 << iota
	// Shown: other marks, the column of durability or the run show it, and the figure
	// has no mark of its own.
	Shown
	// Obvious: in a table that has some, the mark of what is undecided, and the command
	// that decides it, say it all.
	Obvious
)

// Kinds are all kinds of doubts by code, with their traits: those of this package, and
// those that trials report. A new kind has a row here, a sentence in package report and
// a row in docs/fairness.md.
var Kinds = map[string]Trait{
	"acknowledged-unsynced": Grave,
	"autocorrelation":       0,
	"begin-immediate":       Grave,
	"beyond-disk":           Grave,
	"busy":                  Grave,
	"dropped":               Shown,
	"disturbed":             Shown,
	"drift":                 0,
	"failed-requests":       0,
	"few-launches":          Shown | Obvious,
	"few-samples":           0,
	"generator-bound":       0,
	"grows":                 Grave,
	"inside-default-cache":  0,
	"known-bug":             Grave,
	"layout":                Shown,
	"memtable-not-filled":   0,
	"no-checkpoint":         0,
	"no-phases":             0,
	"noise":                 Shown,
	"not-steady":            0,
	"not-traced":            Shown,
	"option-without-effect": Shown,
	"overloaded":            0,
	"own-loop":              0,
	"refuted-durability":    Grave,
	"reopens":               0,
	"same-engine":           Shown,
	"scan":                  Grave,
	"shared-cpus":           0,
	"short-sequence":        0,
	"skewed":                0,
	"split-transaction":     0,
	"stalls":                Grave,
	"storage-loses-syncs":   0,
	"stronger-sync-faster":  Grave,
	"two-modes":             0,
	UnequalDurability:       Shown,
	"unequal-syncs":         0,
	"unknown-durability":    Grave,
	"unknown-noise":         Shown,
}

// Is reports whether warnings of this kind have a trait.
func (w Warning) Is(t Trait) bool { return Kinds[w.Code()]&t != 0 }
