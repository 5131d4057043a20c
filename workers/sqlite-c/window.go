package main

/*
#include <stdlib.h>
#include "loop.h"
*/
import "C"

import (
	"runtime"
	"strings"
	"unsafe"

	"assay/kit"
	"assay/kit/column"
	"assay/kit/stepdb"
	"assay/kit/wire"
)

// loop is a window in C's memory.
type loop struct {
	w          *C.window
	shares     []C.share
	histograms []*wire.Histogram
	phases     *kit.Phases
	readers    *C.turns
	writers    *C.turns
	memory     []unsafe.Pointer // to be freed
	pinned     runtime.Pinner   // column files and histograms, which C reads and writes where they are
}

func newLoop(w kit.Window, parts []stepdb.Part) (kit.Loop, error) {
	if w.Clients > 1 && C.sqlite3_threadsafe() == 0 {
		return nil, wire.Errorf(wire.Unsupported, "this SQLite is not made for several threads")
	}
	for _, part := range parts {
		if w.Phases != nil && part.Changes {
			return nil, wire.Errorf(wire.Unsupported, "phases are timed of reading operations")
		}
	}
	l := &loop{phases: w.Phases}
	l.w = allocate[C.window](l, 1)
	l.w.clients, l.w.retry_busy = C.int(w.Clients), C.bool(w.RetryBusy)
	l.w.first, l.w.length, l.w.units, l.w.least = C.int64_t(w.First), C.int64_t(w.Length), C.int64_t(w.Units), C.int64_t(w.Least)
	l.w.batch, l.w.nanos, l.w.mix = C.int64_t(w.Batch), C.int64_t(w.Nanos), l.file(w.Mix)
	if w.Phases != nil {
		l.w.phases = allocate[C.phases](l, 1)
	}
	l.w.parts = allocate[C.operation](l, len(parts))
	operations := unsafe.Slice(l.w.parts, len(parts))
	for i, part := range parts {
		operations[i] = l.operation(part)
	}
	l.w.shares = allocate[C.share](l, w.Clients)
	l.shares = unsafe.Slice(l.w.shares, w.Clients)
	if w.Latency {
		l.record()
	}
	return l, nil
}

// record gives each client a histogram.
func (l *loop) record() {
	for i := range l.shares {
		h := new(wire.Histogram)
		l.histograms = append(l.histograms, h)
		counts := unsafe.SliceData(h.Counts())
		l.pinned.Pin(counts)
		l.shares[i].histogram = (*C.uint32_t)(counts)
	}
}

// allocate returns n values of C's memory, all zero.
func allocate[T any](l *loop, n int) *T {
	var value T
	p := C.calloc(C.size_t(max(n, 1)), C.size_t(unsafe.Sizeof(value)))
	l.memory = append(l.memory, p)
	return (*T)(p)
}

func (l *loop) text(s string) *C.char {
	p := C.CString(s)
	l.memory = append(l.memory, unsafe.Pointer(p))
	return p
}

// file is a column file where it is, mapped mostly.
func (l *loop) file(f *column.File) *C.uchar {
	if f == nil {
		return nil
	}
	data := unsafe.SliceData(f.Data())
	l.pinned.Pin(data)
	return (*C.uchar)(data)
}

func (l *loop) operation(p stepdb.Part) C.operation {
	o := C.operation{trace: l.file(p.Trace), transaction: C.int64_t(p.Transaction), rows: C.int64_t(p.Rows),
		changes: C.bool(p.Changes), deferred: C.bool(p.Deferred), step_count: C.int(len(p.Steps))}
	o.steps = allocate[C.step](l, len(p.Steps)+2)
	steps := unsafe.Slice(o.steps, len(p.Steps)+2)
	first := 0
	for i, s := range p.Steps {
		steps[i] = l.step(s, first)
		first += s.Args
	}
	steps[len(p.Steps)].sql, steps[len(p.Steps)+1].sql = l.text(p.Begin), l.text("COMMIT")
	o.connections = allocate[*C.sqlite3](l, len(p.Connections))
	connections := unsafe.Slice(o.connections, len(p.Connections))
	for i, c := range p.Connections {
		connections[i] = c.(conn).db
	}
	if p.Statements != nil {
		o.statements = l.statements(p)
	}
	switch {
	case p.Changes:
		o.turns = l.turns(&l.writers, len(p.Connections))
	case !p.Own:
		o.turns = l.turns(&l.readers, len(p.Connections))
	}
	return o
}

// statements are those of each connection, in rows of as many as there are steps and two.
func (l *loop) statements(p stepdb.Part) **C.sqlite3_stmt {
	width := len(p.Steps) + 2
	first := allocate[*C.sqlite3_stmt](l, width*len(p.Connections))
	all := unsafe.Slice(first, width*len(p.Connections))
	for i, c := range p.Connections {
		for k, s := range p.Statements[c] {
			if s != nil {
				all[i*width+k] = s.(stmt).s
			}
		}
	}
	return first
}

// turns are made once for all parts of a kind.
func (l *loop) turns(of **C.turns, connections int) *C.turns {
	if *of == nil {
		*of = allocate[C.turns](l, 1)
		C.turns_start(*of, C.int(connections))
		l.memory = append(l.memory, unsafe.Pointer((*of).places))
	}
	return *of
}

var types = map[string]C.int{"int": C.VALUE_INT, "real": C.VALUE_REAL, "text": C.VALUE_TEXT, "blob": C.VALUE_BLOB, "bool": C.VALUE_BOOL}

func (l *loop) step(s wire.Step, first int) C.step {
	made := C.step{sql: l.text(s.SQL), script: C.bool(s.Script), query: C.bool(s.Query), args: C.int(s.Args), first: C.int(first),
		columns: C.int(len(s.Returns)), returns: allocate[C.returned](l, len(s.Returns))}
	returns := unsafe.Slice(made.returns, len(s.Returns))
	for i, declared := range s.Returns {
		name, nullable := strings.CutSuffix(declared, "?")
		returns[i]._type, returns[i].nullable = types[name], C.bool(nullable)
	}
	return made
}

// Run runs a client. C and Go share no other memory meanwhile.
func (l *loop) Run(client int) { C.window_client(l.w, C.int(client)) }

func (l *loop) Looped() kit.Looped {
	did := kit.Looped{Began: int64(l.w.began), Unix: int64(l.w.unix_time)}
	for i := range l.shares {
		s := &l.shares[i]
		share := kit.Share{Done: int64(s.done), Before: int64(s.before), Last: int64(s.last), LastRight: int64(s.last_right), Exit: int64(s.left),
			Executed: int64(s.executed), Busy: int64(s.busy), Stale: int64(s.stale), Misses: int64(s.misses), Failed: int64(s.failed),
			Miss: C.GoString(&s.miss[0]), Err: C.GoString(&s.error[0])}
		if l.histograms != nil {
			share.Histogram = l.histograms[i]
		}
		did.Shares = append(did.Shares, share)
	}
	if l.phases != nil {
		did.Clock = float64(C.clock_cost())
		l.timed()
	}
	return did
}

// phaseOf is the kit's name of each phase.
var phaseOf = [C.PHASE_COUNT]kit.Phase{kit.PhasePrepare, kit.PhaseBind, kit.PhaseNext, kit.PhaseScan, kit.PhaseCloseRows, kit.PhaseCloseStmt}

func (l *loop) timed() {
	for i, phase := range phaseOf {
		l.phases.Add(phase, int64(l.w.phases.nanos[i]), int64(l.w.phases.count[i]))
	}
}

func (l *loop) Close() error {
	l.pinned.Unpin()
	for i := range l.shares {
		C.free(unsafe.Pointer(l.shares[i].buffer))
	}
	for _, p := range l.memory {
		C.free(p)
	}
	l.memory, l.shares = nil, nil
	return nil
}
