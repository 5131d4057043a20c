package oracle

import (
	"bytes"
	"slices"

	"assay"
	"assay/internal/dataset"
	"assay/kit/wire"
)

// phase is the stage in which operations run: none begins before all of the phase before
// it have ended.
type phase int

const (
	warmingUp phase = iota
	measuring
	oneClient // one client, one after the other
	phases
)

func (d Done) phase(position int) phase {
	switch {
	case position < d.Warm:
		return warmingUp
	case position < d.Warm+d.Measured:
		return measuring
	}
	return oneClient
}

// write holds what one step writes to a key.
type write struct {
	key   []byte
	phase phase
	step  *assay.Step
	args  dataset.Args
}

// writesOf lists what operations write, in the order of the keys, and for each key in that of
// the positions.
func writesOf(arguments *dataset.Arguments, done Done) (all []write, err error) {
	for position := 0; position < done.Warm+done.Measured+done.OneClient && err == nil; position++ {
		err = arguments.At(position, func(step *assay.Step, args dataset.Args) error {
			if step.KV == wire.Put || step.KV == wire.Update || step.KV == wire.Delete {
				all = append(all, write{args.Bytes(0), done.phase(position), step, args})
			}
			return nil
		})
	}
	slices.SortStableFunc(all, func(a, b write) int { return bytes.Compare(a.key, b.key) })
	return all, err
}

// value returns what is written to a field: nil where the key is deleted. It is false where the
// field stays as it is.
func (w write) value(field int) ([]byte, bool) {
	switch {
	case w.step.KV == wire.Put:
		return w.args.Bytes(1 + field), true
	case w.step.KV == wire.Update && w.step.Field == field:
		return w.args.Bytes(1), true
	}
	return nil, w.step.KV == wire.Delete
}

// writtenKey is a key with what was written to it.
type writtenKey struct {
	key, before []byte // nil: it was not there
	writes      []write
}

// allowedValues lists the values that a field (of fields in all) may hold afterwards; nil stands
// for a missing key and comes first. A field that nothing was written to in a phase is as before.
// Where a field is written alone, a store without fields reads the others before: two that do
// so at the same time may write what was there before. With one client, the last write wins.
func (k writtenKey) allowedValues(field, fields int) [][]byte {
	may := [][]byte{nil}
	if k.before != nil {
		may[0] = fieldOf(k.before, field, fields)
	}
	for now := range phases {
		var written [][]byte
		writes, updated := 0, false
		for _, w := range k.writes {
			if w.phase != now {
				continue
			}
			writes, updated = writes+1, updated || w.step.KV == wire.Update
			if value, ok := w.value(field); ok {
				written = append(written, value)
			}
		}
		switch {
		case len(written) == 0:
		case now == oneClient:
			may = written[len(written)-1:]
		case updated && writes > 1:
			may = append(may, written...)
		default:
			may = written
		}
	}
	slices.SortFunc(may, compare)
	return slices.CompactFunc(may, func(a, b []byte) bool { return compare(a, b) == 0 })
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

// fieldOf is a field of a value that has so many.
func fieldOf(value []byte, field, fields int) []byte {
	size := len(value) / fields
	return value[field*size : (field+1)*size]
}
