package dataset

import (
	"fmt"
	"regexp"
	"strconv"

	"assay"
)

// keyText makes the keys of a store from whole numbers.
type keyText struct {
	parts  []keyPart
	random uint64 // key of the stream from which random numbers are taken
}

type keyPart struct {
	literal string
	digits  int    // of the number, at least
	of      string // i, random or clock; empty for a literal
}

// keyTemplate is what a key's number is written by.
var keyTemplate = regexp.MustCompile(`\{\{(hex|hex16) (i|random|clock)\}\}`)

func newKeyText(seed uint64, format string) *keyText {
	k := &keyText{random: streamKey(seed, "key", 0)}
	end := 0
	for _, at := range keyTemplate.FindAllStringSubmatchIndex(format, -1) {
		k.parts = append(k.parts, keyPart{literal: format[end:at[0]]})
		digits := 1
		if format[at[2]:at[3]] == "hex16" {
			digits = 16
		}
		k.parts = append(k.parts, keyPart{digits: digits, of: format[at[4]:at[5]]})
		end = at[1]
	}
	k.parts = append(k.parts, keyPart{literal: format[end:]})
	return k
}

// of returns the key of a number.
func (k *keyText) of(i int64) []byte {
	var key []byte
	for _, p := range k.parts {
		if p.of == "" {
			key = append(key, p.literal...)
			continue
		}
		digits := strconv.FormatUint(k.number(p.of, i), 16)
		for range p.digits - len(digits) {
			key = append(key, '0')
		}
		key = append(key, digits...)
	}
	return key
}

const (
	// firstTick and tick are a clock that goes on by about as much as a fast
	// put takes.
	firstTick, tick = 1e18, 2000
	// jitter is the range in which a published benchmark's clock goes back.
	jitter = 1000
)

func (k *keyText) number(of string, i int64) uint64 {
	switch of {
	case "random":
		return wordsOf(k.random, int(i)).at(1)
	case "clock":
		return uint64(firstTick + tick*i + i%jitter)
	}
	return uint64(i)
}

// index draws the number of a key.
func (d *drawn) index(w words, row int) int64 {
	items := uint64(d.To-d.From) + 1
	switch d.Draw {
	case assay.Uniform:
		return d.From + int64(below(w.at(1), items))
	case assay.Zipf:
		return d.From + int64(scatter(d.zipf.rank(fraction(w.at(1))), items))
	case assay.Scrambled:
		return d.From + int64(fold(d.zipf.rank(fraction(w.at(1))), items))
	case assay.Latest:
		last := d.To
		if d.grown != nil {
			last += d.grown[row]
		}
		return last - int64(d.zipf.rank(fraction(w.at(1))))
	}
	if items == 0 {
		return d.From + int64(row)
	}
	return d.From + int64(uint64(row)%items)
}

// checkKey says what is wrong with the way to draw a key.
func checkKey(v assay.Values) error {
	if !keyTemplate.MatchString(v.Format) {
		return fmt.Errorf("the key %q has no {{hex i}}, {{hex16 i}}, {{hex random}}, {{hex16 random}} or {{hex16 clock}}", v.Format)
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
