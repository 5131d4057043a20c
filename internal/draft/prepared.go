package draft

import (
	"fmt"
	"slices"
)

// once is how a plan prepares statements that does not say it: once for each connection.
const once = "once"

// policy is how the program prepares the statements of some shapes: as most of their
// executions were. A log that does not show it, as that of another language, is taken
// for one of statements that are kept.
func policy(all ...*shape) string {
	executed, prepared := 0, map[string]int{}
	for _, s := range all {
		executed += s.executed
		for how, n := range s.prepared {
			prepared[how] += n
		}
	}
	for _, how := range []string{"never", "each"} {
		if 2*prepared[how] > executed {
			return how
		}
	}
	return once
}

// policy is how an operation's statements are prepared.
func (o *operation) policy() string {
	if o.shape == nil {
		return once
	}
	return policy(o.shape)
}

// policy is how most statements of the mix are prepared.
func (m *mix) policy() string {
	var all []*shape
	for _, o := range slices.Concat(m.reads, m.writes) {
		if o.shape != nil {
			all = append(all, o.shape)
		}
	}
	return policy(all...)
}

// prepares says how statements are prepared in the plan, and why.
func (t *logged) prepares() string {
	switch how := policy(t.shapes...); how {
	case "never":
		return "most statements are not prepared by the program (statement: never in the plan), as database/sql does without Prepare"
	case "each":
		return "most statements are prepared for one execution (statement: each in the plan)"
	}
	return "statements are taken for prepared once for each connection (statement: once in the plan)"
}

func writePolicy(w *writer, how string) {
	if how != once {
		w.line(4, "statement: %s", how)
	}
}

// assumed is what a plan without a log assumes.
func (d *document) assumed() string {
	where := "each operation"
	if d.mix != nil {
		where += " and to the mix"
	}
	return fmt.Sprintf("guessed: statements are prepared %s for each connection. Where your Go code calls db.Query and db.Exec without Prepare, add to %s: statement: never", once, where)
}
