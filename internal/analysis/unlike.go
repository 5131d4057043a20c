package analysis

import (
	"cmp"
	"fmt"

	"assay"
	"assay/internal/analysis/wording"
)

// Codes of doubts that displays and audits ask for.
const (
	UnequalDurability = "unequal-durability"
	UnequalSyncs      = "unequal-syncs"
	Drift             = "drift"
)

// UnlikePromises says why two rows are not compared: their classes of durability differ, or
// only one of one class syncs its commits.
type UnlikePromises struct {
	Names   [2]string
	Classes [2]assay.Durability
	Syncs   [2]bool // where the classes are one
}

// Warning says how the promises about the data differ.
func (u UnlikePromises) Warning() Warning {
	return newWarning(UnequalDurability, 0, "compare what promises the same: set the durability explicitly in the profile",
		"%s", sides(u.Names, func(i int) string {
			if u.Classes[0] == u.Classes[1] {
				return Class(u.Classes[i]) + map[bool]string{true: " with syncs", false: " without syncs"}[u.Syncs[i]]
			}
			return Class(u.Classes[i])
		}))
}

// UnlikeSyncs says how two rows of one class of durability sync otherwise.
type UnlikeSyncs struct {
	Setting string // as it was read back
	Names   [2]string
	Values  [2]string
	// PerOperation are the syncs that a trace shows; 0 where that is not known of both.
	PerOperation [2]float64
}

// Warning says by which setting they sync otherwise.
func (u UnlikeSyncs) Warning() Warning {
	return newWarning(UnequalSyncs, 0, "one class of durability, but different syncs: figures can differ for that alone",
		"%s", sides(u.Names, func(i int) string {
			text := u.Setting + "=" + wording.Setting(u.Setting, u.Values[i])
			if u.PerOperation[0]+u.PerOperation[1] > 0 {
				text += fmt.Sprintf(" (%s syncs per operation)", wording.Significant(u.PerOperation[i], 2))
			}
			return text
		}))
}

// sides are two rows with what each has.
func sides(names [2]string, has func(i int) string) string {
	return names[0] + " " + has(0) + ", " + names[1] + " " + has(1)
}

// Class names a class of durability.
func Class(d assay.Durability) string { return cmp.Or(string(d), "unknown") }
