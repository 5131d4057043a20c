package dataset

import (
	"errors"
	"fmt"

	"assay"
	"assay/internal/dataset/seeded"
)

// index draws the number of a key.
func (d *drawn) index(w seeded.Words, row int) int64 {
	items := uint64(d.To-d.From) + 1
	switch d.Draw {
	case assay.Uniform:
		return d.From + int64(seeded.Below(w.At(1), items))
	case assay.Zipf:
		return d.From + int64(scatter(d.zipf.rank(seeded.Fraction(w.At(1))), items))
	case assay.Scrambled:
		return d.From + int64(fold(d.zipf.rank(seeded.Fraction(w.At(1))), items))
	case assay.Latest:
		last := d.To
		if d.grown != nil {
			last += d.grown[row]
		}
		return last - int64(d.zipf.rank(seeded.Fraction(w.At(1))))
	}
	if items == 0 {
		return d.From + int64(row)
	}
	return d.From + int64(uint64(row)%items)
}

// checkKey says what is wrong with the way to draw a key.
func checkKey(v assay.Values) error {
	if v.Query == "" {
		return errors.New("the key has no SQL")
	}
	if v.From < 0 || v.From > v.To {
		return fmt.Errorf("the range %d to %d of keys is empty or begins below 0", v.From, v.To)
	}
	switch v.Draw {
	case assay.Seq, assay.Uniform:
		return nil
	case assay.Scrambled:
		if v.Theta != scrambledTheta {
			return fmt.Errorf("a theta of %g: scrambled keys have %g", v.Theta, scrambledTheta)
		}
		return checkZipf(v)
	case assay.Zipf, assay.Latest:
		return checkZipf(v)
	}
	return fmt.Errorf("unknown way to draw keys %q; there are seq, uniform, zipf, scrambled and latest", v.Draw)
}
