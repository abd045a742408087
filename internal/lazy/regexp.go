// Package lazy compiles regular expressions at their first use.
package lazy

import (
	"regexp"
	"sync"
)

// Regexp returns a function that compiles a regular expression at its first call. Most commands
// need few of the expressions, and compiling those of the adapters alone took a twelfth of the
// start-up time.
func Regexp(text string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(text) })
}
