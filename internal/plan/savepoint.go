package plan

import (
	"slices"
	"strings"

	"assay"
	"assay/internal/plan/sqltext"
)

// savepoint holds what a statement does with a savepoint.
type savepoint struct {
	verb string // SAVEPOINT, RELEASE or ROLLBACK
	name string
}

// savepointOf reads SAVEPOINT x, RELEASE x and ROLLBACK TO x.
func savepointOf(tokens []sqltext.Token) (savepoint, bool) {
	if len(tokens) < 2 {
		return savepoint{}, false
	}
	verb, rest := strings.ToUpper(tokens[0].Text), tokens[1:]
	optional := []string{"SAVEPOINT"}
	switch verb {
	case "SAVEPOINT":
		optional = nil
	case "RELEASE":
	case "ROLLBACK":
		to := slices.IndexFunc(rest, func(t sqltext.Token) bool { return t.Is("TO") })
		if to < 0 || to > 1 || to == 1 && !rest[0].Is("TRANSACTION") {
			return savepoint{}, false
		}
		rest = rest[to+1:]
	default:
		return savepoint{}, false
	}
	if len(rest) == 2 && slices.ContainsFunc(optional, rest[0].Is) {
		rest = rest[1:]
	}
	if len(rest) != 1 {
		return savepoint{}, false
	}
	name, ok := rest[0].Name()
	return savepoint{verb, strings.ToLower(name)}, ok
}

// savepointsOf lists what the steps of an operation do with savepoints, in order.
func savepointsOf(steps []assay.Step) (all []savepoint) {
	for _, step := range steps {
		tokens, _ := sqltext.Scan(step.SQL)
		for _, statement := range sqltext.Statements(tokens) {
			if s, ok := savepointOf(statement); ok {
				all = append(all, s)
			}
		}
	}
	return all
}

// savepoints reports those outside of a transaction, and those that no step before
// them has set: what they do would depend on the operations before.
func (r *resolver) savepoints(v variant) {
	if name := UnsetSavepoint(v.operation.Steps); name != "" {
		r.m.at(v.spec.place, "no step before sets the savepoint %s, or it is released already", name)
	}
	outside := func(name string) {
		r.m.at(v.spec.place, "%s has savepoints, which belong to a transaction: add transaction: 1 to it", name)
	}
	if len(savepointsOf(v.operation.Steps)) > 0 && v.spec.commitsAlone() && !v.spec.Only.set() { // in a mix, the mix is asked
		outside(v.operation.Name)
	}
	for _, part := range v.operation.Parts {
		if part.Operation.Transaction == 0 && len(savepointsOf(part.Operation.Steps)) > 0 {
			outside(part.Operation.Name)
		}
	}
}

// UnsetSavepoint is the first savepoint that steps use and have not set, or have
// released; empty where there is none.
func UnsetSavepoint(steps []assay.Step) string {
	var open []string
	for _, s := range savepointsOf(steps) {
		if s.verb == "SAVEPOINT" {
			open = append(open, s.name)
			continue
		}
		last := len(open) - 1
		for last >= 0 && open[last] != s.name {
			last--
		}
		if last < 0 {
			return s.name
		}
		open = open[:last]
		if s.verb == "ROLLBACK" {
			open = append(open, s.name) // it stays
		}
	}
	return ""
}
