package serve

import (
	"cmp"
	"context"
	"net/http"
	"slices"
	"strings"

	"assay"
	"assay/internal/audit"
	"assay/internal/report"
	"assay/internal/wording"
)

type claimsView struct {
	Head     report.Head
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
	v := claimsView{Age: a.tell(age), Head: report.NewHead("Claims", "published claims by machine", links("/claims"))}
	for _, m := range all {
		name := wording.Clean(m.machine)
		if m.imported {
			name += " (imported)"
		}
		v.Machines = append(v.Machines, name)
		for i, c := range m.claims { // every machine has all claims, in one order
			if i == len(v.Claims) {
				v.Claims = append(v.Claims, claimLine{Says: wording.Clean(c.says), Source: wording.Clean(c.source)})
			}
			v.Claims[i].Verdicts = append(v.Claims[i].Verdicts, verdictView{c.verdict, wording.Clean(c.reason), strings.Join(c.doubts, ", "), c.verdict == audit.Fails})
		}
	}
	return a.show("claims", v)
}

type proofsView struct {
	Head   report.Head
	Proofs []proofLine
}

type proofLine struct {
	assay.Proof
	Plan  string
	Words string
}

// proofs shows what faults showed of the targets of the runs.
func (s *server) proofs(ctx context.Context, _ *http.Request, a *answer) error {
	runs, err := s.Store.Runs(ctx)
	if err != nil {
		return err
	}
	v := proofsView{Head: report.NewHead("Proofs", "durability under power cuts and other faults", links("/proofs"))}
	seen := map[string]bool{} // plan texts
	for _, run := range runs {
		if seen[run.PlanText] {
			continue
		}
		seen[run.PlanText] = true
		for _, p := range run.Proofs {
			p.Target, p.Profile, p.Replay, p.Build = wording.Clean(p.Target), wording.Clean(p.Profile), wording.Clean(p.Replay), wording.Clean(p.Build)
			v.Proofs = append(v.Proofs, proofLine{p, wording.Clean(run.Plan), wording.Clean(p.Words())})
		}
	}
	slices.SortStableFunc(v.Proofs, func(a, b proofLine) int {
		return cmp.Or(b.Refuted-a.Refuted, strings.Compare(a.Plan, b.Plan), strings.Compare(a.Target, b.Target))
	})
	return a.show("proofs", v)
}
