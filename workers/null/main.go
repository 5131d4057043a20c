// Worker null does nothing, with right numbers of rows: what it measures is
// the cost of measuring. It has no answers and no settings.
package main

import (
	"os"
	"runtime"

	"assay/kit"
	"assay/kit/column"
	"assay/kit/wire"
)

func main() { os.Exit(kit.Main(engine{})) }

type engine struct{}

func (engine) Capabilities() []string { return nil }

func (engine) Target() (wire.Target, error) {
	return wire.Target{Driver: "null", DriverVersion: "v1", Engine: "null", EngineVersion: "1",
		Facts: map[string]string{"go": runtime.Version()}}, nil
}

func (engine) Open(request wire.Open) (kit.Database, wire.Opened, error) {
	if len(request.Settings) > 0 || request.DSN != "" {
		return nil, wire.Opened{}, wire.Errorf(wire.Unsupported, "the null engine has no settings")
	}
	return database{}, wire.Opened{}, nil
}

type database struct{}

func (database) Settings([]string) ([]wire.Connection, error) { return nil, nil }

func (database) Prepare(op wire.Operation, _ *column.File) (kit.Operation, error) {
	rows := 0
	for _, step := range op.Steps {
		rows += max(0, step.Rows)
	}
	return operation{rows * max(1, op.Transaction)}, nil
}

func (database) Query(string, []string, func([]any) error) error { return errNoAnswers }

func (database) Close() error { return nil }

var errNoAnswers = wire.Errorf(wire.Unsupported, "the null engine has no answers")

type operation struct{ rows int }

func (operation) QueryPlan() string { return "nothing" }

func (o operation) Client() (kit.Client, error) { return o, nil }

func (operation) Answer(int, func(int, []any) error) error { return errNoAnswers }

func (o operation) Do(int) (int, error) { return o.rows, nil }

func (operation) Close() error { return nil }
