package finding

import (
	"crypto/sha256"
	"encoding/hex"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// remediationPoints is how many code points of the normalised remediation
// take part in a finding's identity.
const remediationPoints = 80

// identity is the tuple that makes two findings the same finding. The merge
// compares this and not the shortened hash, so that two findings can never
// collapse because their hashes, or their parts joined by a bar, collide.
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

// Fingerprint returns the 16 hex digits by which a finding is shown: the start
// of SHA-256 over category, normalised file, line or nothing, and the first 80
// code points of the normalised remediation, joined by "|".
// Who reported it and how gravely take no part.
func Fingerprint(category string, file *string, line *int, remediation string) string {
	return identify(category, file, line, remediation).fingerprint()
}

// normalize lower-cases s, turns each run of white space into one space and
// trims it, stopping after limit code points; a negative limit means no limit.
// It stops reading as soon as the limit is reached, so a remediation of a
// megabyte costs no more than one of a line.
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
		b.WriteRune(lower(r))
		points++
	}
	return b.String()
}

// normalPrefix returns how many leading bytes of s are plain ASCII that
// normalising leaves as they are, so that the common case costs no copy. A
// space counts only once the byte behind it is seen to be no space.
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

func lower(r rune) rune {
	if r < utf8.RuneSelf {
		if 'A' <= r && r <= 'Z' {
			return r + ('a' - 'A')
		}
		return r
	}
	return unicode.ToLower(r)
}
