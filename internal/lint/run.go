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
	of := func(pkg *sourcePackage, result *Result) *checker {
		return &checker{evaluator: whole, notes: newNotes(dir, result), Facts: table, resolve: p.resolve, pkg: pkg.path, files: pkg.files, opened: map[token.Pos]bool{}}
	}
	var elsewhere []*open
	for _, pkg := range all {
		c := of(pkg, &Result{})
		opens, _ := c.opens(pkg.files)
		elsewhere = append(elsewhere, slices.DeleteFunc(opens, func(o *open) bool { return c.isTest(o.call) })...)
	}
	opened := map[token.Pos]bool{}
	for _, pkg := range all {
		c := of(pkg, &result)
		c.elsewhere, c.opened = elsewhere, opened
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
