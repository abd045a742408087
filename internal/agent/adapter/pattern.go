package adapter

import (
	"regexp"
	"sync"
)

// pattern compiles a regular expression at its first use: most commands start no agent,
// and compiling all of them took a twelfth of the start-up time.
func pattern(text string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(text) })
}
