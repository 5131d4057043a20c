package tune

import (
	"fmt"
	"math"
	"slices"

	"assay"
	"assay/kit/postgres"
)

// open reports whether the intervals leave room for settings that are better.
func (r *Report) open() bool {
	return r.Outcome.Chosen == nil && r.Space.StartIsCurrent && slices.ContainsFunc(r.Outcome.Finalists, func(f Finalist) bool { return f.Gain.High > 1+r.Margin })
}

// next is what the reader would do with the answer.
func (r *Report) next() []string {
	var all []string
	if helping, _ := r.indexes(); len(helping) > 0 {
		all = append(all, "make the changes above, and tune again: other settings may then be best")
	}
	o := r.Outcome
	switch {
	case o.Unconfirmed && o.Enough > 0:
		all = append(all, fmt.Sprintf("tune again with a --budget of about %.0fm or more, or for fewer operations: --only operation=NAME", math.Ceil(o.Enough.Minutes())))
	case o.Unconfirmed, r.open():
		all = append(all, "tune again with a larger --budget, on a machine that does nothing else")
	case o.Unsearched:
		all = append(all, "keep your settings, or change the constraints")
	case len(o.Finalists) == 0:
		all = append(all, "look at the notes above, which say why")
	case o.Chosen == nil:
		all = append(all, "keep your settings")
	case len(r.harmed()) > 0:
		all = append(all, "weigh what is slower (!): --only operation=NAME tunes for the operations that you name")
	case r.Engine == postgres.Engine && r.Emitted == "":
		all = append(all, "print them as lines of postgresql.conf: "+r.Again+" --emit postgresql.conf")
	case r.Engine == postgres.Engine:
		all = append(all, "set them in postgresql.conf, and start the server again")
	case r.Emitted == "" && !IsStore(r.Engine):
		all = append(all, "print them as configuration of your program: "+r.Again+" --emit ECOSYSTEM")
	default:
		all = append(all, "set them in your program")
	}
	if o.Chosen != nil && r.Class != assay.DurabilityUnknown {
		all = append(all, "prove that they keep the data: assay crash, with these settings as a profile of the plan")
	}
	return all
}
