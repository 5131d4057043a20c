package oracle

import (
	"bytes"
	"slices"

	"assay/kit/column"
)

// history is what was done to the keys of a shard that were written, in phases.
type history struct {
	records *column.File
	rows    map[string]int // of the shard's records, by key
	fields  int            // of a value; 1 where it has none
	shard   shard
	keys    map[string]*keyHistory
	phase   phase
}

// shard is the keys from low on, and below high where that is not nil. What is
// known of a key takes memory, and of a million keys too much.
type shard struct{ low, high []byte }

func (s shard) has(key []byte) bool {
	return bytes.Compare(s.low, key) <= 0 && (s.high == nil || bytes.Compare(key, s.high) < 0)
}

// phase is when operations are done: none begins before all of the phase before
// it have ended.
type phase int

const (
	warmingUp phase = iota
	measuring
	alone // one client, one after the other
	phases
)

func newHistory(records *column.File, fields int, part shard) *history {
	h := &history{records: records, rows: map[string]int{}, fields: fields, shard: part, keys: map[string]*keyHistory{}}
	for row := range records.Rows() {
		if key := records.Bytes(0, row); part.has(key) {
			h.rows[string(key)] = row
		}
	}
	return h
}

// keyHistory is what became of a key in the newest phase.
type keyHistory struct {
	phase  phase
	writes int
	// before and may have for each field the values that it may have had before
	// the phase, and may have after what was done in it so far. nil stands for a
	// key that is not there.
	before, may [][][]byte
	// updated tells that a field was written alone: a store without fields read
	// the others before, and two that do so at the same time may write what was
	// there before.
	updated bool
}

// of returns a key's history, in the phase that is now.
func (h *history) of(key []byte) *keyHistory {
	f := h.keys[string(key)]
	switch {
	case f == nil:
		f = &keyHistory{phase: h.phase, before: make([][][]byte, h.fields)}
		row, ok := h.rows[string(key)]
		for field := range f.before {
			f.before[field] = [][]byte{nil}
			if ok {
				f.before[field][0] = fieldOf(h.records.Bytes(1, row), field, h.fields)
			}
		}
		f.may = make([][][]byte, h.fields)
		h.keys[string(key)] = f
	case f.phase != h.phase:
		f.close()
		*f = keyHistory{phase: h.phase, before: f.may, may: make([][][]byte, h.fields)}
	}
	return f
}

// put is a value that was written whole: its fields.
func (h *history) put(key []byte, fields [][]byte) {
	if !h.shard.has(key) {
		return
	}
	f := h.of(key)
	f.writes++
	for i, value := range fields {
		f.add(i, value)
	}
}

// add is a value that a field may have: of one client, the newest alone.
func (f *keyHistory) add(field int, value []byte) {
	if f.phase == alone {
		f.may[field] = nil
	}
	f.may[field] = append(f.may[field], value)
}

func (h *history) delete(key []byte) { h.put(key, make([][]byte, h.fields)) }

// update is one field that was written.
func (h *history) update(key []byte, field int, value []byte) {
	if !h.shard.has(key) {
		return
	}
	f := h.of(key)
	f.writes++
	f.updated = true
	f.add(field, value)
}

// close ends a phase: a field that nothing was written to is as before, and
// what was written by one of several that read the value before can be lost.
func (f *keyHistory) close() {
	for field := range f.may {
		if len(f.may[field]) == 0 || f.updated && f.writes > 1 && f.phase != alone {
			f.may[field] = append(f.may[field], f.before[field]...)
		}
		slices.SortFunc(f.may[field], compare)
		f.may[field] = slices.CompactFunc(f.may[field], func(a, b []byte) bool { return compare(a, b) == 0 })
	}
}

// compare puts what is not there before an empty value.
func compare(a, b []byte) int {
	if (a == nil) != (b == nil) {
		if a == nil {
			return -1
		}
		return 1
	}
	return bytes.Compare(a, b)
}

func (f *keyHistory) mayBeThere() bool {
	return slices.ContainsFunc(f.may[0], func(v []byte) bool { return v != nil })
}

func (f *keyHistory) mayBeGone() bool {
	return slices.ContainsFunc(f.may[0], func(v []byte) bool { return v == nil })
}

// fieldOf is a field of a value that has so many.
func fieldOf(value []byte, field, fields int) []byte {
	size := len(value) / fields
	return value[field*size : (field+1)*size]
}
