package stat

// Rank returns the rank of each of n members: 1 + the number of members that
// beat it, where beats(i, j) reports whether i is decidedly better than j. Ties
// share a rank, and so do members that beat each other in a circle. Two
// different ranks do not say that the one beats the other: only beats does.
func Rank(n int, beats func(i, j int) bool) []int {
	ranks := make([]int, max(n, 0))
	for j := range ranks {
		ranks[j] = 1
		for i := range ranks {
			if i != j && beats(i, j) {
				ranks[j]++
			}
		}
	}
	return ranks
}
