// Package label checks the labels that users add to metrics.
package label

import (
	"strings"
	"unicode/utf8"

	"github.com/switchyard-dev/switchyard/internal/lazy"
)

// The limits of the labels that users add: their number, and the length of a value in
// bytes, which is the same as for the ledger's values.
const (
	Max      = 16
	maxValue = 200
)

var legal = lazy.Regexp(`^[a-zA-Z_][a-zA-Z0-9_]{0,63}$`)

// Problem says why a label cannot be used, or returns "".
func Problem(name, value string) string {
	switch {
	case !legal().MatchString(name):
		return "a name has 1 to 64 letters of ASCII, digits and _, and begins with no digit"
	case strings.HasPrefix(name, "__"), name == "le", name == "quantile":
		return "the name is reserved by Prometheus"
	case value == "":
		return "its value is empty, which Prometheus treats as missing"
	case len(value) > maxValue:
		return "its value is too long"
	case !utf8.ValidString(value):
		return "its value is not UTF-8"
	}
	return ""
}
