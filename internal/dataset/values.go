package dataset

import (
	"fmt"
	"math"

	"assay"
	"assay/kit/column"
)

// checkValues says what is wrong with a way to draw values; left are those of
// the columns to its left.
func checkValues(v assay.Values, left []assay.Values) error {
	if !(v.Null >= 0 && v.Null <= 1) {
		return fmt.Errorf("a share of %g NULLs is not in 0 to 1", v.Null)
	}
	switch v.Kind {
	case assay.Seq, assay.Bool:
		return nil
	case assay.Uniform:
		if v.From > v.To {
			return fmt.Errorf("the range %d to %d is empty", v.From, v.To)
		}
		return nil
	case assay.Zipf:
		return checkZipf(v)
	case assay.Real:
		if !(v.Low < v.High) || math.IsInf(v.High-v.Low, 0) {
			return fmt.Errorf("the range %g to %g is empty or not finite", v.Low, v.High)
		}
		return nil
	case assay.Text, assay.Blob:
		if v.Length < 0 {
			return fmt.Errorf("a length of %d", v.Length)
		}
		return nil
	case assay.Key:
		return checkKey(v)
	case assay.Same:
		if v.Of < 0 || v.Of >= len(left) || left[v.Of].Kind != assay.Key {
			return fmt.Errorf("the same as number %d, counted from 0, which is no key to its left", v.Of)
		}
		return nil
	case assay.Expression, assay.Row:
		if v.Query == "" || v.Of < 0 {
			return fmt.Errorf("column %d of %q is nothing to draw from", v.Of, v.Query)
		}
		return checkRowDraw(v, nil)
	case assay.Const:
		return checkConstant(v.Value)
	case assay.Derive:
		return checkDerive(v, left)
	case assay.From:
		if v.Table == "" || v.Column == "" || v.Of < 0 {
			return fmt.Errorf("row %d of %q.%q is nothing to draw from", v.Of, v.Table, v.Column)
		}
		return checkRowDraw(v, left)
	}
	return fmt.Errorf("unknown way to draw values %q; there are seq, uniform, zipf, real, text, blob, bool, const, derive and from", v.Kind)
}

// checkRowDraw says what is wrong with the way to draw a row; all arguments that
// are of one row draw it alike.
func checkRowDraw(v assay.Values, left []assay.Values) error {
	switch v.Draw {
	case "", assay.Uniform, assay.Once, assay.InOrder:
	case assay.Zipf, assay.Latest:
		if !(v.Theta > 0 && v.Theta < 1) {
			return fmt.Errorf("a theta of %g is not between 0 and 1", v.Theta)
		}
	default:
		return fmt.Errorf("unknown way to draw rows %q; there are uniform, zipf, latest and once", v.Draw)
	}
	for _, other := range left {
		if other.Kind == assay.From && other.Table == v.Table && other.Of == v.Of && (other.Draw != v.Draw || other.Theta != v.Theta) {
			return fmt.Errorf("%s.%s and %s.%s are of one row, and are not drawn alike: give both the same draw and theta, or one of them row: 2",
				other.Table, other.Column, v.Table, v.Column)
		}
	}
	return nil
}

func checkZipf(v assay.Values) error {
	if v.From > v.To || uint64(v.To-v.From)+1 == 0 {
		return fmt.Errorf("the range %d to %d is empty or too large", v.From, v.To)
	}
	if !(v.Theta > 0 && v.Theta < 1) {
		return fmt.Errorf("a theta of %g is not between 0 and 1", v.Theta)
	}
	return nil
}

func checkConstant(value any) error {
	switch value.(type) {
	case nil, int64, float64, string, bool:
		return nil
	}
	return fmt.Errorf("a constant of type %T; want int64, float64, string, bool or nil", value)
}

func checkDerive(v assay.Values, left []assay.Values) error {
	if v.Of < 0 || v.Of >= len(left) {
		return fmt.Errorf("derived of number %d, counted from 0, which is not to its left", v.Of)
	}
	base := left[v.Of]
	if columnType(base) != column.Int || base.Kind == assay.From || base.Kind == assay.Row || base.Kind == assay.Expression || base.Kind == assay.Const && base.Value == nil {
		return fmt.Errorf("derived of number %d, counted from 0, which is no integer", v.Of)
	}
	if v.Mod < 0 {
		return fmt.Errorf("a modulus of %d", v.Mod)
	}
	return nil
}
