package seeded

import (
	"encoding/binary"
	"hash/fnv"
	"math/bits"
)

const golden = 0x9e3779b97f4a7c15

// Mix is the finalizer of splitmix64.
func Mix(z uint64) uint64 {
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

// Key is the key of a column of a stream.
func Key(seed uint64, stream string, column int) uint64 {
	hash := fnv.New64a()
	hash.Write([]byte(stream))
	return Mix(Mix(Mix(seed+golden)^hash.Sum64()) + golden*uint64(column+1))
}

// Words are the random words of one value.
type Words uint64

// WordsOf returns the words of a row.
func WordsOf(key uint64, row int) Words { return Words(Mix(key + golden*uint64(row+1))) }

// At returns word i.
func (w Words) At(i int) uint64 { return Mix(uint64(w) + golden*uint64(i+1)) }

// Below returns a number of [0, n); n = 0 stands for 2^64.
func Below(x, n uint64) uint64 {
	if n == 0 {
		return x
	}
	high, _ := bits.Mul64(x, n)
	return high
}

// Fraction returns a number of [0, 1).
func Fraction(x uint64) float64 { return float64(x>>11) / (1 << 53) }

// Text is this many letters a-z.
func Text(w Words, length int) string {
	text := make([]byte, length)
	var word uint64
	for j := range text {
		if j%4 == 0 {
			word = w.At(1 + j/4)
		}
		text[j] = 'a' + byte((word&0xffff)*26>>16)
		word >>= 16
	}
	return string(text)
}

// Blob is this many bytes.
func Blob(w Words, length int) []byte {
	blob := make([]byte, 0, length+7)
	for i := 1; len(blob) < length; i++ {
		blob = binary.LittleEndian.AppendUint64(blob, w.At(i))
	}
	return blob[:length]
}
