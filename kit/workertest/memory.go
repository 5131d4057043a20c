//go:build unix

package workertest

import (
	"assay/kit/wire"
)

// memoryShared checks that a database in memory begins with the content of the
// file, and that what one connection changes is seen by all others.
func memoryShared(b *bench) {
	b.prepareFile()
	applies(b.tryOpen(wire.Open{Settings: map[string]string{"memory": "1"}, Readers: 3, Idle: 3, Writers: 2}))
	insert := b.insert("insert", 0, 4) // the writers' connections take turns
	read := wire.Operation{Name: "read", Steps: []wire.Step{{SQL: "SELECT id FROM t", Query: true, Rows: len(allRows) + 4, Returns: []string{"int"}}}}
	connections := b.settings("memory")
	for _, c := range connections {
		expect("memory of "+c.Name, c.Settings["memory"], "1")
	}
	expect("number of connections", len(connections), 5)
	b.runs(insert, 1, 4)
	b.runs(read, 3, 300)
}

// another starts one more worker in the same folder, with a bench of its own.
func (b *bench) another() *bench {
	worker, err := b.start(b.dir)
	must(err)
	return &bench{suite: b.suite, worker: worker, dir: b.dir}
}

// stop has the worker close what it opened, and end.
func (b *bench) stop() {
	_, err := b.worker.Stop(b.ctx)
	must(err)
}

func (b *bench) prepareFile() {
	first := b.another()
	defer first.worker.Kill()
	first.make(wire.Open{Writers: 1})
	first.stop()
}

// runs checks that all operations of a block are right.
func (b *bench) runs(op wire.Operation, clients int, operations int64) {
	b.prepare(op, clients)
	m := b.block(op.Name, operations)
	expect("errors and misses ("+m.Error+m.Miss+")", m.Errors+m.Misses, int64(0))
	expect("executed", m.Executed, operations)
}
