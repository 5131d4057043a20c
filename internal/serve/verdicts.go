package serve

import (
	"cmp"
	"context"
	"net/http"
	"slices"
	"strings"

	"assay"
	"assay/internal/audit"
	"assay/internal/doc"
	"assay/internal/store"
)

type claimsView struct {
	Head     doc.Head
	Age      string
	Machines []string
	Claims   []claimLine
}

type claimLine struct {
	Says, Source string
	Verdicts     []verdictView
}

type verdictView struct {
	Verdict audit.Verdict
	Reason  string
	Doubts  string
	Warn    bool
}

// claims shows what each class of machines says about each claim.
func (s *server) claims(ctx context.Context, _ *http.Request, a *answer) error {
	runs, err := s.Store.Runs(ctx)
	if err != nil {
		return err
	}
	all, age, err := s.library.verdicts(ctx, runs)
	if err != nil {
		return err
	}
	v := claimsView{Age: a.tell(age), Head: doc.NewHead("Claims", "published claims by machine", "'self'", links("/claims"), "")}
	for _, m := range all {
		name := m.machine
		if m.imported {
			name += " (imported)"
		}
		v.Machines = append(v.Machines, name)
		for i, c := range m.claims { // every machine has all claims, in one order
			if i == len(v.Claims) {
				v.Claims = append(v.Claims, claimLine{Says: c.says, Source: c.source})
			}
			v.Claims[i].Verdicts = append(v.Claims[i].Verdicts, verdictView{c.verdict, c.reason, strings.Join(c.doubts, ", "), c.verdict == audit.Fails || c.verdict == audit.Broken})
		}
	}
	return a.show("claims", v)
}

type proofsView struct {
	Head   doc.Head
	Proofs []proofLine
}

type proofLine struct {
	assay.Proof
	Plan  string
	Words string
}

// proofs shows what faults showed, also of plans that no run of the store measured.
func (s *server) proofs(ctx context.Context, _ *http.Request, a *answer) error {
	runs, err := s.Store.Runs(ctx)
	if err != nil {
		return err
	}
	proofs, err := s.Store.AllProofs(ctx)
	if err != nil {
		return err
	}
	names := map[string]string{} // by the digest of the plan's text
	for _, run := range runs {
		digest := store.PlanDigest(run.PlanText)
		names[digest] = cmp.Or(names[digest], run.Plan)
	}
	v := proofsView{Head: doc.NewHead("Proofs", "durability under power cuts and other faults", "'self'", links("/proofs"), "")}
	for _, p := range proofs {
		plan := cmp.Or(names[p.PlanDigest], "no run of it: SHA-256 "+p.PlanDigest[:min(12, len(p.PlanDigest))])
		v.Proofs = append(v.Proofs, proofLine{p.Proof, plan, p.Words()})
	}
	slices.SortStableFunc(v.Proofs, func(a, b proofLine) int {
		return cmp.Or(b.Refuted-a.Refuted, strings.Compare(a.Plan, b.Plan), strings.Compare(a.Target, b.Target))
	})
	return a.show("proofs", v)
}
