package tuning

import (
	"fmt"
	"strconv"
	"strings"
)

// Bytes is an amount of memory.
type Bytes int64

const units = "KMG"

// ParseBytes reads an amount of memory, such as 256M, 1GiB or 1000000.
func ParseBytes(text string) (Bytes, error) {
	digits := strings.TrimRight(strings.ToUpper(text), "IB")
	factor := int64(1)
	for i, unit := range units {
		if rest, ok := strings.CutSuffix(digits, string(unit)); ok {
			digits, factor = rest, 1<<(10*(i+1))
		}
	}
	n, err := strconv.ParseInt(digits, 10, 64)
	if err != nil || n <= 0 || n > 1<<40/factor {
		return 0, fmt.Errorf("%q: want an amount of memory such as 256M", text)
	}
	return Bytes(n * factor), nil
}

// String writes the amount as ParseBytes reads it, in the largest unit that loses nothing.
func (b Bytes) String() string {
	n, unit := int64(b), ""
	for _, u := range units {
		if n == 0 || n%1024 != 0 {
			break
		}
		n, unit = n/1024, string(u)
	}
	return fmt.Sprint(n, unit)
}
