package project

import "strings"

// maxWord is the longest word that is compared with others, in bytes.
const maxWord = 40

// Nearest returns the candidate that word was probably meant to be, or "". A third
// of it may be wrong, and the case of its letters; of several equally near
// candidates the first is taken.
func Nearest(word string, candidates []string) string {
	if len(word) > maxWord {
		return ""
	}
	word = strings.ToLower(word)
	best, found := max(1, len(word)/3)+1, ""
	for _, c := range candidates {
		if d := distance(word, c); d < best && d < len(c) {
			best, found = d, c
		}
	}
	return found
}

// distance is how many bytes have to be inserted, deleted, replaced or swapped
// with their neighbour to make b of a.
func distance(a, b string) int {
	// Three rows of the table are enough: a swap looks back two.
	before, above, row := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range row {
		above[j] = j
	}
	for i := 1; i <= len(a); i++ {
		row[0] = i
		for j := 1; j <= len(b); j++ {
			replaced := above[j-1]
			if a[i-1] != b[j-1] {
				replaced++
			}
			row[j] = min(above[j]+1, row[j-1]+1, replaced)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
		before, above, row = above, row, before
	}
	return above[len(b)]
}
