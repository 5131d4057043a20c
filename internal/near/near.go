// Package near tells how near to each other two words are.
package near

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
