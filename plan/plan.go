// Package plan decodes and validates plans and expands them to cells. A plan
// is the YAML in which users say what to measure; docs/plan-format.md is its
// contract.
//
// Decode reads a plan and reports all of its mistakes at once, each with
// file, line, column and, where one is close, a suggestion. Expand turns it
// into cases: every combination of target, profile, workload, operation and
// the other axes, with templates and references resolved.
package plan

import (
	"time"

	"assay"
)

// Plan is a decoded and valid plan.
type Plan struct {
	Name      string
	About     string
	Text      string // the YAML as it was read
	Seed      uint64
	Budget    time.Duration // of measuring
	Precision float64       // wished half-width of ratio intervals, as a fraction
	Margin    float64       // of equivalence, as a fraction
	Launches  int           // at least, of every cell
	Timeout   time.Duration // of one block or window
	Drivers   []string      // NAME or NAME@VERSION; the first is the reference unless Reference names one
	Reference string
	Clients   []int
	Pools     []Pool
	Profiles  []assay.Profile // in the order of the file; the first is the twin's
	Workloads []Workload
}

// Pool is a point of the pool axis. Zero Open means as many as clients;
// zero Idle means as many as Open.
type Pool struct{ Open, Idle int }

// Axis is a named axis with its values in the order of the file.
type Axis struct {
	Name   string
	Values []string
}

// Workload is a schema with data and the operations on it, with templates
// unresolved.
type Workload struct {
	Name       string
	Schema     string
	File       string
	Params     []Axis
	Tables     []table
	Operations []operation
}
