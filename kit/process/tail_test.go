//go:build unix

package process

import (
	"fmt"
	"io"
	"reflect"
	"strings"
	"testing"
)

func TestTail(t *testing.T) {
	numbers := func(from, to int) (lines []string) {
		for i := from; i <= to; i++ {
			lines = append(lines, fmt.Sprintf("%04d", i))
		}
		return lines
	}
	long := strings.Repeat("x", tailBytes)
	for name, c := range map[string]struct {
		written, want []string
	}{
		"nothing":           {nil, nil},
		"newlines only":     {[]string{"\n\n"}, nil},
		"one":               {[]string{"a\n"}, []string{"a"}},
		"no newline":        {[]string{"a\nb"}, []string{"a", "b"}},
		"in pieces":         {[]string{"a", "b\nc", "\n"}, []string{"ab", "c"}},
		"many":              {[]string{strings.Join(numbers(1, 100), "\n")}, numbers(69, 100)},
		"more than is kept": {[]string{long, "yy\n"}, []string{long[3:] + "yy"}},
		"a long stack":      {[]string{"log\npanic: no page\n", strings.Join(numbers(1, 100), "\n")}, append([]string{"panic: no page"}, numbers(70, 100)...)},
		"a short stack":     {[]string{"panic: a\n", strings.Join(numbers(1, 40), "\n"), "\nfatal error: b\nx"}, append(numbers(11, 40), "fatal error: b", "x")},
		"of the scheduler":  {[]string{"a\nSCHED 0ms: gomaxprocs=2 idleprocs=2\n  P0: status=0\n  G1: status=4(sleep)\nb"}, []string{"a", "b"}},
		"long ago":          {[]string{"a\n", long}, []string{long}},
	} {
		t.Run(name, func(t *testing.T) {
			var kept tail
			for _, text := range c.written {
				if n, err := io.WriteString(&kept, text); err != nil || n != len(text) {
					t.Fatalf("wrote %d bytes, %v", n, err)
				}
			}
			if got := kept.lines(); !reflect.DeepEqual(got, c.want) {
				t.Errorf("got %q\nwant %q", got, c.want)
			}
		})
	}
}
