package errs

import (
	"fmt"
	"strings"
)

// Clip is what a message shows of a text from outside: so many code points, with a
// mark where it has more.
func Clip(text string, points int) string {
	for i := range text {
		if points == 0 {
			return text[:i] + "…"
		}
		points--
	}
	return text
}

// Some is what a message shows of a list: its first words, and how many more there
// are.
func Some(words []string, most int) string {
	if len(words) <= most {
		return strings.Join(words, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(words[:most], ", "), len(words)-most)
}
