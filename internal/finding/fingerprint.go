package finding

import (
	"crypto/sha256"
	"encoding/hex"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// remediationPoints is the number of code points of the normalized remediation that
// identify a finding.
const remediationPoints = 80

// identity identifies a finding. Merge compares it instead of the shortened hash, so
// that a collision never merges two findings.
type identity struct {
	category, file, line, remediation string
}

func identify(category string, file *string, line *int, remediation string) identity {
	id := identity{category: category, remediation: normalize(remediation, remediationPoints)}
	if file != nil {
		id.file = normalize(*file, -1)
	}
	if line != nil {
		id.line = strconv.Itoa(*line)
	}
	return id
}

func (id identity) fingerprint() string {
	sum := sha256.Sum256([]byte(id.category + "|" + id.file + "|" + id.line + "|" + id.remediation))
	return hex.EncodeToString(sum[:8])
}

// Fingerprint returns the first 16 hex digits of SHA-256 over category, normalized file,
// line, and the first 80 code points of the normalized remediation, joined by "|". A
// missing file or line is empty.
func Fingerprint(category string, file *string, line *int, remediation string) string {
	return identify(category, file, line, remediation).fingerprint()
}

// IsFingerprint reports whether s has the form of a fingerprint.
func IsFingerprint(s string) bool {
	return len(s) == 16 && strings.Trim(s, "0123456789abcdef") == ""
}

// normalize lower-cases s, turns each run of white space into one space, trims it, and
// stops after limit code points, so that a long text costs no more than a short one. A
// negative limit means no limit.
func normalize(s string, limit int) string {
	if n := normalPrefix(s); n == len(s) || limit >= 0 && n >= limit {
		if limit >= 0 && n > limit {
			return s[:limit]
		}
		return s[:n]
	}
	var b strings.Builder
	points := 0
	gap := false
	for _, r := range s {
		if unicode.IsSpace(r) {
			gap = b.Len() > 0
			continue
		}
		if gap {
			if points == limit {
				break
			}
			b.WriteByte(' ')
			points++
			gap = false
		}
		if points == limit {
			break
		}
		b.WriteRune(unicode.ToLower(r))
		points++
	}
	return b.String()
}

// normalPrefix returns the number of leading bytes that normalize does not change, so that
// the common case needs no copy. A space counts if a visible character follows.
func normalPrefix(s string) int {
	for i := 0; i < len(s); i++ {
		c := s[i]
		switch {
		case c == ' ' && i > 0 && i+1 < len(s) && ' ' < s[i+1] && s[i+1] < utf8.RuneSelf:
		case c <= ' ' || c >= utf8.RuneSelf || 'A' <= c && c <= 'Z':
			return i
		}
	}
	return len(s)
}
