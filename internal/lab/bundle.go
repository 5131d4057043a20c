package lab

import (
	"context"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"assay/internal/build"
	"assay/internal/dataset"
)

// WriteBundle builds what a request measures and writes it with this program and the plan's
// data, so that another machine needs nothing else. Whatever driver cannot be built is an
// error.
func (l *Lab) WriteBundle(ctx context.Context, request Request, to io.Writer, folder string) error {
	if err := l.knowsDrivers(request); err != nil {
		return err
	}
	chosen, err := l.selectCases(ctx, request.Plan, request.options(), nil)
	if err != nil {
		return err
	}
	made, err := l.build(ctx, chosen.cases, chosen.options.Budget)
	if err != nil {
		return err
	}
	if len(made.failed) > 0 {
		return made.none()
	}
	work, err := l.Workspace()
	if err != nil {
		return err
	}
	defer work.Close()
	bundle := build.BundleRequest{Assay: Self(), Plan: strings.TrimSuffix(request.PlanFile, ".yaml"), Drivers: request.Drivers, Workers: map[string]build.Worker{}}
	if filepath.IsAbs(request.PlanFile) { // else it is built in
		bundle.Plan, bundle.PlanText = request.PlanFile, []byte(request.Plan.Text)
	}
	b, copied := l.builder(), map[string]bool{}
	for _, c := range chosen.cases {
		key := c.Cell.Target()
		spec, err := build.ParseSpec(key)
		if err != nil {
			return AsInputError(err)
		}
		if _, built := bundle.Workers[key]; !built {
			if bundle.Workers[key], err = b.BuildLayouts(ctx, spec, layouts(chosen.cases, spec.Name, chosen.options.Budget)); err != nil {
				return err
			}
		}
		for _, named := range []string{c.Dataset.File, c.Dataset.Recorded} {
			if named == "" || copied[named] {
				continue
			}
			copied[named] = true
			data, err := copyData(ctx, named, filepath.Dir(request.PlanFile), filepath.Join(work.Dir, fmt.Sprint(len(copied))))
			if err != nil {
				return err
			}
			bundle.Data = append(bundle.Data, data)
		}
	}
	return l.Source.WriteBundle(to, folder, bundle)
}

// copyData makes a copy of a file that a plan in a folder names.
func copyData(ctx context.Context, named, folder, to string) (build.BundleData, error) {
	path, err := filepath.Abs(named)
	if err != nil {
		return build.BundleData{}, err
	}
	relative, err := filepath.Rel(folder, path)
	if err != nil {
		return build.BundleData{}, err
	}
	return build.BundleData{Names: []string{path, relative}, Copy: to}, dataset.Snapshot(ctx, path, to)
}
