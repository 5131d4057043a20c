package answer

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"

	"assay/kit/wire"
)

// Steps digest the answers of an operation's steps, each apart. The hash of a step that
// returns no rows is nil.
type Steps []*Hash

// NewSteps returns the hashes of steps by the types that they declare.
func NewSteps(steps []wire.Step) Steps {
	s := make(Steps, len(steps))
	for i, step := range steps {
		if step.Query {
			s[i] = New(step.Returns)
		}
	}
	return s
}

// Row adds a row of a step.
func (s Steps) Row(step int, row []any) error { return s[step].Row(row) }

// Rows returns the number of rows of all steps.
func (s Steps) Rows() (rows int64) {
	for _, hash := range s {
		if hash != nil {
			rows += hash.Rows()
		}
	}
	return rows
}

// Sum returns the digest of the answers: where several steps return rows, the SHA-256 of
// their digests in hex, one behind the other. It is empty where none does.
func (s Steps) Sum() string {
	var sums []string
	all := sha256.New()
	for _, hash := range s {
		if hash != nil {
			sums = append(sums, hash.Sum())
			fmt.Fprint(all, hash.Sum())
		}
	}
	switch len(sums) {
	case 0:
		return ""
	case 1:
		return sums[0]
	}
	return hex.EncodeToString(all.Sum(nil))
}
