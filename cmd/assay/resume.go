package main

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	"assay"
	"assay/runner"
)

// sameTargets refuses to go on with other drivers or builds than the run was
// started with: their figures would stand for one target, and are of two.
func sameTargets(before, now []assay.Target) error {
	for _, t := range now {
		if !slices.ContainsFunc(before, func(b assay.Target) bool { return sameBuild(b, t) }) {
			return fmt.Errorf("driver %s: its worker was rebuilt since the run was started: start a new run", t.Name())
		}
	}
	for _, t := range before {
		if !slices.ContainsFunc(now, func(n assay.Target) bool { return sameBuild(n, t) }) {
			return fmt.Errorf("driver %s: the run was started with it, and now its worker cannot be built or does not start: mend that, or start a new run", t.Name())
		}
	}
	return nil
}

func sameBuild(a, b assay.Target) bool { return a.Name() == b.Name() && a.Build == b.Build }

// sameFiles refuses to go on with other data than the run was started with.
func sameFiles(before map[string]string, now runner.Files) error {
	var changed []error
	var last string // one file may be there with several file settings
	for _, key := range slices.Sorted(maps.Keys(now)) {
		data := now[key]
		if data.Digest != before[key] && data.Spec.File != last {
			last = data.Spec.File
			changed = append(changed, fmt.Errorf("%s has changed since the run was started: start a new run", last))
		}
	}
	return errors.Join(changed...)
}
