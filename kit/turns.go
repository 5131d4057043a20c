package kit

import (
	"errors"

	"assay/kit/wire"
)

// Turns are connections for changes, which clients take in turn. While a client has
// one, nobody else has it.
type Turns[C any] chan C

// Lend lends one connection.
func (t Turns[C]) Lend(use func(C) error) error {
	conn := <-t
	defer func() { t <- conn }()
	return use(conn)
}

// Each visits all connections, by the names that settings are read back under.
func (t Turns[C]) Each(visit func(name string, conn C) error) error {
	for i := range cap(t) {
		if err := t.Lend(func(conn C) error { return visit(wire.WriterName(i), conn) }); err != nil {
			return err
		}
	}
	return nil
}

// Close closes those that were opened.
func (t Turns[C]) Close(end func(C) error) error {
	var errs []error
	for len(t) > 0 {
		errs = append(errs, end(<-t))
	}
	return errors.Join(errs...)
}

// CheckAnswer refuses to answer an operation that changes data.
func CheckAnswer(spec wire.Operation) error {
	if spec.Changes {
		return wire.Errorf(wire.Unsupported, "operation %q changes data: what it changed is verified with SQL", spec.Name)
	}
	return nil
}
