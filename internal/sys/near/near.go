// Package near tells how near to each other two words are, and which word was meant.
package near

import (
	"fmt"
	"strings"
)

// Word returns the known word that was probably meant: the nearest that is a slip of
// the pen away, otherwise the first that goes on after a dash; or "". A slip leaves
// something of a word, and most of a long one.
func Word(word string, known []string) string {
	best, shortest := "", min(len(word), 1+max(1, len(word)/3))
	for _, k := range known {
		if d := Distance(strings.ToLower(word), strings.ToLower(k)); d < shortest {
			best, shortest = k, d
		}
	}
	for _, k := range known {
		if best == "" && strings.HasPrefix(k, word+"-") {
			best = k
		}
	}
	return best
}

// Question asks behind a message whether a known word was meant, or is "".
func Question(word string, known []string) string {
	if meant := Word(word, known); meant != "" {
		return fmt.Sprintf(" (did you mean %q?)", meant)
	}
	return ""
}

// Distance is the number of insertions, deletions, changes and swaps of
// neighbours between two words (optimal string alignment).
func Distance(a, b string) int {
	const longest = 64 // names are short; anything longer is no slip of the pen
	if len(a) > longest || len(b) > longest {
		return len(a) + len(b)
	}
	before, above, row := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range above {
		above[j] = j
	}
	for i := 1; i <= len(a); i++ {
		row[0] = i
		for j := 1; j <= len(b); j++ {
			change := above[j-1]
			if a[i-1] != b[j-1] {
				change++
			}
			row[j] = min(change, above[j]+1, row[j-1]+1)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
		before, above, row = above, row, before
	}
	return above[len(b)]
}
