package lint

import (
	"context"
	"go/token"
	"maps"
	"slices"

	"assay/internal/lint/facts"
)

// Run checks the packages that patterns name, in a folder.
func Run(ctx context.Context, dir string, patterns []string, table *facts.Table) (Result, error) {
	result := Result{Findings: []Finding{}}
	p, err := loadProgram(ctx, dir, patterns, table)
	if err != nil {
		return result, err
	}
	loader := newLoader(p)
	all, err := loader.packages()
	if err != nil {
		return result, err
	}
	whole := newEvaluator(loader.fset, p.libraries)
	for _, pkg := range all {
		whole.read(pkg.info, pkg.files)
		if pkg.wrong != nil {
			result.Broken = append(result.Broken, pkg.wrong.Error())
		}
	}
	result.Packages = len(p.roots)
	n, opened := newNotes(dir, &result), map[token.Pos]bool{}
	of := func(pkg *sourcePackage) *checker {
		return &checker{evaluator: whole, notes: n, Facts: table, resolve: p.resolve, pkg: pkg.path, files: pkg.files, opened: opened}
	}
	var elsewhere []*open
	for _, pkg := range all {
		c := of(pkg)
		c.readComments()
		c.notes = newNotes(dir, &Result{})
		opens, _ := c.opens(pkg.files)
		elsewhere = append(elsewhere, slices.DeleteFunc(opens, func(o *open) bool { return c.isTest(o.call) })...)
	}
	for _, pkg := range all {
		c := of(pkg)
		c.elsewhere = elsewhere
		c.run()
	}
	result.Opens = len(opened)
	for judged := range maps.Values(opened) {
		if judged {
			result.Judged++
		}
	}
	p.see(&result)
	result.sort()
	return result, nil
}
