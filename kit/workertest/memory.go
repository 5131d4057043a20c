//go:build unix

package workertest

import (
	"errors"
	"fmt"

	"assay/kit/wire"
)

// memoryShared checks that a database in memory begins with the content of the
// file, and that what one connection changes is seen by all others.
func memoryShared(b *bench) error {
	if err := b.prepareFile(); err != nil {
		return err
	}
	err := b.open(wire.Open{Settings: map[string]string{"memory": "1"}, Readers: 3, Idle: 3, Writers: 2})
	var lacks *wire.Error
	if errors.As(err, &lacks) && lacks.Code == wire.Unsupported {
		return fmt.Errorf("%w: %s", errNotApplicable, lacks.Message)
	}
	if err != nil {
		return err
	}
	insert, err := b.insert("insert", 0, 4) // the writers' connections take turns
	if err != nil {
		return err
	}
	read := wire.Operation{Name: "read", Steps: []wire.Step{{SQL: "SELECT id FROM t", Query: true, Rows: len(allRows) + 4, Returns: []string{"int"}}}}
	return steps(
		b.inMemory,
		func() error { return b.runs(insert, 1, 4) },
		func() error { return b.runs(read, 3, 300) })
}

// prepareFile has another worker make the database file.
func (b *bench) prepareFile() error {
	worker, err := b.start(b.dir)
	if err != nil {
		return err
	}
	defer worker.Kill()
	first := &bench{suite: b.suite, worker: worker, dir: b.dir}
	if err := first.make(wire.Open{Writers: 1}); err != nil {
		return err
	}
	_, err = worker.Stop(b.ctx)
	return err
}

// inMemory checks what each of the five connections reads back.
func (b *bench) inMemory() error {
	var read wire.SettingsRead
	if err := b.call(wire.TypeSettings, wire.Settings{Names: []string{"memory"}}, &read); err != nil {
		return err
	}
	for _, c := range read.Connections {
		if err := expect("memory of "+c.Name, c.Settings["memory"], "1"); err != nil {
			return err
		}
	}
	return expect("number of connections", len(read.Connections), 5)
}

// runs checks that all operations of a block are right.
func (b *bench) runs(op wire.Operation, clients int, operations int64) error {
	var m wire.Measured
	return steps(
		func() error { return b.call(wire.TypePrepare, wire.Prepare{Operation: op, Clients: clients}, nil) },
		func() error {
			return b.call(wire.TypeMeasure, wire.Measure{Operation: op.Name, Operations: operations}, &m)
		},
		func() error { return expect("errors and misses ("+m.Error+m.Miss+")", m.Errors+m.Misses, int64(0)) },
		func() error { return expect("executed", m.Executed, operations) })
}
