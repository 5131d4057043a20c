package tune

import (
	"fmt"
	"math"
	"slices"
	"time"

	"assay"
	"assay/kit/postgres"
)

// open reports whether the intervals leave room for settings that are better.
func (r *Report) open() bool {
	return r.Outcome.Chosen == nil && slices.ContainsFunc(r.Outcome.Finalists, func(f Finalist) bool { return f.Gain.High > 1+r.Margin })
}

// step is something that the reader would do with the answer.
type step struct {
	text    string
	command string // that does it; empty: none does
}

func (s step) String() string {
	if s.command == "" {
		return s.text
	}
	return s.text + ": " + s.command
}

func (r *Report) nextTexts() []string {
	var all []string
	for _, s := range r.next() {
		all = append(all, s.String())
	}
	return all
}

// next is what the reader would do with the answer, step by step.
func (r *Report) next() []step {
	var all []step
	do := func(text string) { all = append(all, step{text: text}) }
	if helping, _ := r.indexes(); len(helping) > 0 {
		do("make the changes above, and tune again: other settings may then be best")
	} else if len(r.uses()) > 0 {
		do("make the changes in the program, and tune again: other settings may then be best")
	}
	o := r.Outcome
	switch {
	case o.Unconfirmed && o.Enough > 0:
		text := fmt.Sprintf("tune again with a --budget of %s", minutes(o.Enough))
		if len(r.Operations) > 1 {
			text += ", or for fewer operations: --only operation=NAME"
		}
		do(text)
	case o.Unconfirmed, r.open():
		do("tune again with a larger --budget, on a machine that does nothing else")
	case o.Unsearched:
		do("keep your settings, or change the constraints")
	case len(o.Finalists) == 0:
		do("look at the notes above, which say why")
	case o.Chosen == nil:
		do("keep your settings")
	case len(r.harmed()) > 0:
		do("weigh the lines with !: --only operation=NAME tunes for the operations that you name")
	case r.Engine == postgres.Engine && r.Emitted == "":
		all = append(all, step{"print them as lines of postgresql.conf", r.Again + " --emit postgresql.conf"})
	case r.Engine == postgres.Engine:
		do("set them in postgresql.conf, and start the server again")
	case IsStore(r.Engine):
		do("set them where your program opens the store")
	case r.Emitted == "" && r.Ecosystem != "":
		all = append(all, step{"print them as configuration of your program", r.Again + " --emit " + r.Ecosystem})
	default:
		do("set them in your program")
	}
	if o.Chosen != nil && r.Class != assay.DurabilityUnknown {
		do("prove that they keep the data: assay crash, with these settings as a profile of the plan")
	}
	return all
}

// minutes says of a budget that would be enough how long it is: no estimate is more exact.
func minutes(enough time.Duration) string {
	return fmt.Sprintf("about %.0fm or more", math.Ceil(enough.Minutes()))
}
