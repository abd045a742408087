package textutil

import "strings"

// maxWord is the length in bytes up to which Nearest compares words.
const maxWord = 40

// DidYouMean returns "; did you mean NAME?" for the end of an error message, with the
// candidate that word probably meant, or "".
func DidYouMean(word string, candidates []string) string {
	if near := Nearest(word, candidates); near != "" {
		return "; did you mean " + near + "?"
	}
	return ""
}

// Nearest returns the candidate that word probably meant, or "". Up to a third of the
// word may be wrong; its case does not matter. The first of several equally close
// candidates wins.
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

// distance is the number of bytes to insert, delete, replace or swap with their
// neighbour to turn a into b. Swaps are the reason not to use a library for it: most
// count one as two edits, so that "ruote" would not suggest "route".
func distance(a, b string) int {
	// A swap looks back two rows of the table.
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
