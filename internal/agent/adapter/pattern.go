package adapter

import (
	"regexp"
	"sync"
)

// pattern is a regular expression that is compiled when it is first used: most
// commands start no agent, and these were a twelfth of what they do before main.
func pattern(text string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(text) })
}
