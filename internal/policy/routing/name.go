package routing

// maxNameLen bounds the name of a destination and a reason, in bytes.
const maxNameLen = 64

// IsName reports whether s can be the name of a destination or a reason, which become
// metric labels and words in shell scripts. It must match
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
