//go:build unix

package main

import "testing"

// An interval without an end is not narrow.
func TestNarrow(t *testing.T) {
	for n, want := range map[int]bool{1: false, 5: false, 6: true, 9: true} {
		var close, wide []float64
		for i := range n {
			close, wide = append(close, 100+float64(i)/10), append(wide, 100+float64(10*i))
		}
		if got := narrow(close); got != want {
			t.Errorf("%d values that are nearly alike: %v", n, got)
		}
		if narrow(wide) {
			t.Errorf("%d values that are not: narrow", n)
		}
	}
}
