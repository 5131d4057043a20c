package wire

import (
	"errors"
	"slices"
	"strings"

	"assay/kit/column"
)

// Types are those of columns, which have a ? behind them where NULL may occur.
var Types = []string{"int", "real", "text", "blob", "bool"}

// CheckTypes refuses types that there are not.
func CheckTypes(types []string) error {
	for _, t := range types {
		if !slices.Contains(Types, strings.TrimSuffix(t, "?")) {
			return Errorf(Invalid, "type %q: want int, real, text, blob or bool", t)
		}
	}
	return nil
}

// Check says why a worker refuses to open a database, of one that has an open one or not.
func (o Open) Check(isOpen bool) error {
	switch {
	case isOpen:
		return Errorf(Invalid, "a database is open already")
	case o.Readers < 1 && o.Writers < 1:
		return Errorf(Invalid, "no connections asked for")
	}
	return nil
}

// Units returns how many units the trace of an operation has, which is nil where there is
// none, or why they cannot be run. Those of a mix's parts come with it.
func (op Operation) Units(trace *column.File, parts ...int64) (int64, error) {
	units, columns, wanted := int64(1), 0, 0
	if trace != nil {
		units, columns = int64(trace.Rows()/max(1, op.Transaction)), trace.Columns()
	}
	for i, step := range op.Steps {
		if step.Args < 0 {
			return 0, Errorf(Invalid, "operation %q: step %d takes %d arguments", op.Name, i+1, step.Args)
		}
		if err := CheckTypes(step.Returns); err != nil {
			return 0, Errorf(Invalid, "operation %q: step %d returns: %v", op.Name, i+1, err)
		}
		wanted += step.Args
	}
	switch {
	case len(op.Steps)+len(op.Parts) == 0:
		return 0, Errorf(Invalid, "operation %q has no steps", op.Name)
	case !slices.Contains([]Policy{"", Once, Each, Never}, op.Statement):
		return 0, Errorf(Invalid, "operation %q: statement %q: want once, each or never", op.Name, op.Statement)
	case op.Transaction < 0:
		return 0, Errorf(Invalid, "operation %q: transactions of %d operations", op.Name, op.Transaction)
	case op.Transaction > 0 && len(op.Parts) > 0:
		return 0, Errorf(Invalid, "mix %q: a mix is no transaction", op.Name)
	case wanted > columns:
		return 0, Errorf(Invalid, "operation %q takes %d arguments, its trace has %d columns", op.Name, wanted, columns)
	case units < 1:
		return 0, Errorf(Invalid, "the trace of %q is shorter than one transaction", op.Name)
	case len(op.Parts) > 0:
		return units, op.checkMix(trace, parts)
	}
	return units, nil
}

// checkMix looks at all draws of a mix once, so that clients need not.
func (op Operation) checkMix(trace *column.File, lengths []int64) error {
	for _, part := range op.Parts {
		if len(part.Parts) > 0 || part.Transaction > 1 {
			return Errorf(Invalid, "part %q of a mix is a mix or a batch", part.Name)
		}
	}
	columns := 0
	if trace != nil {
		columns = trace.Columns()
	}
	ints := columns == 2 || columns == 3
	for i := 0; ints && i < columns; i++ {
		ints = trace.Type(i) == column.Int
	}
	if !ints {
		return Errorf(Invalid, "the trace of a mix wants two int columns, or three")
	}
	for row := range trace.Rows() {
		part, position := trace.Int(0, row), trace.Int(1, row)
		if part < 0 || part >= int64(len(lengths)) || position < 0 || position >= lengths[part] {
			return Errorf(Invalid, "row %d of the mix's trace: part %d, position %d do not exist", row, part, position)
		}
		if columns == 3 && (trace.Int(2, row) < 0 || trace.Int(2, row) > int64(row)) {
			return Errorf(Invalid, "row %d of the mix's trace comes after itself", row)
		}
	}
	return nil
}

// CheckSQL refuses an operation that is not of SQL, or for which no connection was opened,
// and transactions of one that changes nothing.
func (op Operation) CheckSQL(readers, writers int) error {
	for i, s := range op.Steps {
		if s.SQL == "" || s.Call != "" {
			return Errorf(Unsupported, "step %d: this worker runs SQL, and not %q", i+1, s.KV+s.Call)
		}
	}
	if op.Changes && writers == 0 || !op.Changes && readers == 0 {
		return Errorf(Invalid, "operation %q has no connection: open asked for none of its kind", op.Name)
	}
	if !op.Changes && op.Transaction > 0 {
		return Errorf(Unsupported, "operation %q changes nothing: transactions of it are not supported", op.Name)
	}
	return nil
}

// takes is how many arguments a step of a store takes.
func (s Step) takes() (n int, known bool) {
	switch s.KV {
	case Get, GetField, Delete:
		return 1, true
	case Scan, Update:
		return 2, true
	case Put:
		return 1 + max(1, s.Fields), true
	}
	return 0, false
}

// CheckStore refuses an operation that no store runs, or that its trace does not fit.
func (op Operation) CheckStore(trace *column.File) error {
	from := 0
	for i, s := range op.Steps {
		want, known := s.takes()
		ofField := s.KV == Update || s.KV == GetField
		switch {
		case !known:
			return Errorf(Unsupported, "step %d: a key-value store has get, put, delete, scan, update and get-field, and not %q", i+1, s.KV+s.SQL)
		case s.KV == Scan && (op.Changes || op.Transaction > 0):
			return Errorf(Unsupported, "step %d: a scan in a transaction, or in an operation that changes data", i+1)
		case s.Args != want:
			return Errorf(Invalid, "step %d: %s takes %d arguments, not %d", i+1, s.KV, want, s.Args)
		case s.Fields < 0 || ofField && (s.Field < 0 || s.Field >= s.Fields):
			return Errorf(Invalid, "step %d: there is no field %d of %d", i+1, s.Field, s.Fields)
		case !op.Changes && (s.KV == Put || s.KV == Delete || s.KV == Update):
			return Errorf(Invalid, "step %d: %s changes data", i+1, s.KV)
		}
		for c := from; c < from+want; c++ {
			kind := column.Blob
			if s.KV == Scan && c > from {
				kind = column.Int
			}
			if trace == nil || c >= trace.Columns() || trace.Type(c) != kind {
				return Errorf(Invalid, "column %d of the trace is not of the type that %s takes", c, s.KV)
			}
		}
		from += want
	}
	return nil
}

// Open opens the records to load.
func (l Load) Open() (*column.File, error) {
	records, err := column.Open(l.Records)
	if err != nil {
		return nil, Errorf(Invalid, "records: %v", err)
	}
	if records.Columns() == 2 && records.Type(0) == column.Blob && records.Type(1) == column.Blob {
		return records, nil
	}
	return nil, errors.Join(Errorf(Invalid, "records want two blob columns, keys and values"), records.Close())
}

// Check returns why units of so many operations cannot be measured so, nil where they can.
func (m Measure) Check(unit int64) error {
	switch {
	case (m.Nanos > 0) == (m.Operations > 0):
		return Errorf(Invalid, "measure wants nanos or operations, one of them")
	case m.Start < 0 || m.Start%unit != 0 || m.Operations%unit != 0:
		return Errorf(Invalid, "start %d, operations %d: want whole transactions of %d", m.Start, m.Operations, unit)
	case m.Answers && m.Operations <= 0:
		return Errorf(Invalid, "answers are told of a number of operations")
	}
	return nil
}
