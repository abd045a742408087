package routing

// maxNameLen is the longest name of a destination and the longest reason, in
// bytes.
const maxNameLen = 64

// IsName says that s is fit to be the name of a destination or a reason: it
// becomes a label of a metric and a word in a shell script. As a pattern:
//
//	^[a-z0-9][a-z0-9-]{0,63}$
func IsName(s string) bool {
	if s == "" || len(s) > maxNameLen || s[0] == '-' {
		return false
	}
	for i := range len(s) {
		if c := s[i]; c != '-' && !isDigit(c) && (c < 'a' || c > 'z') {
			return false
		}
	}
	return true
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }
