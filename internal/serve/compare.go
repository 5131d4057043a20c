package serve

import (
	"context"
	"errors"
	"net/http"
	"strings"

	"assay/internal/analysis"
	"assay/internal/doc"
	"assay/internal/lab"
	"assay/internal/report"
)

type compareView struct {
	Head      doc.Head
	A, B, Run string
	Problem   string
	Result    doc.Document
}

// compare shows two runs, or two parts of one, side by side.
func (s *server) compare(ctx context.Context, r *http.Request, a *answer) error {
	q := r.URL.Query()
	v := compareView{Head: doc.NewHead("Compare", "two runs, or two parts of one run", "'self'", links("/compare"), ""), A: q.Get("a"), B: q.Get("b"), Run: q.Get("run")}
	if v.A == "" || v.B == "" {
		if v.A+v.B != "" {
			v.Problem = "Name both A and B."
		}
		return a.show("compare", v)
	}
	versus, err := s.versus(ctx, v)
	var p *problem
	switch {
	case errors.As(err, &p):
		v.Problem, a.status = p.Error(), p.status
	case err != nil:
		return err
	default:
		v.Result = report.VersusDocument(versus)
	}
	return a.show("compare", v)
}

// versus compares what a query names.
func (s *server) versus(ctx context.Context, v compareView) (*analysis.Versus, error) {
	sides, err := lab.Sides(ctx, s.Store, [2]string{v.A, v.B}, v.Run)
	if input, is := errors.AsType[*lab.InputError](err); is {
		return nil, &problem{http.StatusNotFound, errors.New(strings.Join(append([]string{input.Error()}, input.Hints...), "; "))}
	}
	if err != nil {
		return nil, err
	}
	versus, err := analysis.NewVersus(sides[0], sides[1])
	if errors.Is(err, analysis.ErrUnlikeSides) || errors.Is(err, analysis.ErrSeveralBuilds) || errors.Is(err, analysis.ErrSameSide) {
		return nil, &problem{http.StatusBadRequest, err}
	}
	if err == nil && len(versus.Lines) == 0 {
		return nil, &problem{http.StatusBadRequest, errors.New("no cell of A matches one of B in all other coordinates")}
	}
	return versus, err
}
