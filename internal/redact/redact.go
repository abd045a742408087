// Package redact removes secrets from the output of an agent's CLI before it is stored or
// shown. It recognizes secrets by their form, so it does not find a plain password. In doubt
// it removes too much.
package redact

import "strings"

// Text replaces each secret in s by [REDACTED:kind]. It keeps a word before a secret that
// announces it. It takes linear time.
//
// The kinds are anthropic-key, openai-key, github-token, gitlab-pat, google-api-key,
// slack-token, aws-key-id, aws-secret-key, jwt, bearer, basic-auth, url-userinfo and
// private-key.
func Text(s string) string { return behind(s, 0) }

// behind is Text for s[at:]. A secret across that position is included.
func behind(s string, at int) string {
	var out strings.Builder
	stored := at // The text before it has been written, or is not wanted.
	f := finder{text: s}
	for i := 0; i < len(s); {
		found, ok := f.find(i)
		if !ok {
			i++
			continue
		}
		i, f.ended = found.end, found.end
		if found.end <= at {
			continue
		}
		out.WriteString(s[stored:max(stored, found.start)])
		out.WriteString(mark(found.kind))
		stored = found.end
	}
	if out.Len() == 0 {
		return s[at:]
	}
	out.WriteString(s[stored:])
	return out.String()
}

func mark(kind string) string { return "[REDACTED:" + kind + "]" }

// secret is the position of a secret: [start, end).
type secret struct {
	kind       string
	start, end int
}

// finder finds secrets from the beginning to the end of a text. A check at one position may
// read to the end of a run of characters. The search takes linear time because such a check
// either finds a secret, or is the only one that reads this run.
type finder struct {
	text string
	// ended is the end of the last secret.
	ended int
	// tokenless is a position before which no JSON Web Token begins.
	tokenless int
}

// find finds a secret at i, or one that is announced by the words at i.
func (f *finder) find(i int) (secret, bool) {
	switch s := f.text; s[i] {
	case ':':
		return userinfo(s, i)
	case '-':
		return privateKey(s, i)
	case 's', 'S':
		if found, ok := awsSecret(s, i); ok {
			return found, true
		}
	case 'A', 'B', 'b', 'e', 'g', 'x':
	default: // No kind begins with it. This skips most of a text quickly.
		return secret{}, false
	}
	if i != f.ended && !startsWord(f.text, i) {
		return secret{}, false
	}
	switch f.text[i] {
	case 'e':
		return f.token(i)
	case 'b', 'B':
		return authorization(f.text, i)
	}
	return prefixed(f.text, i)
}

// startsWord reports whether a word may start at i. The end of an escape is not part of a
// word: programs print keys after \n and \u0026 in JSON, after %3D in URLs, and after colours.
func startsWord(s string, i int) bool {
	switch {
	case i == 0 || !isWord(s[i-1]):
		return true
	case i >= 2 && s[i-2] == '\\':
		return strings.IndexByte("nrtbfv", s[i-1]) >= 0
	case i >= 3 && s[i-3] == '%':
		return isHex(s[i-2]) && isHex(s[i-1])
	case i >= 6 && s[i-6] == '\\' && s[i-5] == 'u':
		return run(s, i-4, isHex) >= i
	}
	return endsColour(s[:i])
}

// endsColour reports whether s ends with an escape sequence such as ESC [ 1 ; 31 m, even if
// ESC itself is escaped.
func endsColour(s string) bool {
	const longest = 24
	i := len(s) - 1
	if s[i] != 'm' {
		return false
	}
	for i > 0 && len(s)-i < longest && (isDigit(s[i-1]) || s[i-1] == ';') {
		i--
	}
	return i > 0 && s[i-1] == '['
}

// run returns the end of the run of characters of a class that begins at i.
func run(s string, i int, class func(byte) bool) int {
	for i < len(s) && class(s[i]) {
		i++
	}
	return i
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }
func isUpper(c byte) bool { return 'A' <= c && c <= 'Z' }
func isLower(c byte) bool { return 'a' <= c && c <= 'z' }
func isBlank(c byte) bool { return c == ' ' || c == '\t' }

func isHex(c byte) bool { return isDigit(c) || 'a' <= c|0x20 && c|0x20 <= 'f' }

// isWord is for words, isKey for most keys and base64url, isBase64 for base64, and
// isToken for bearer tokens (RFC 6750).
func isWord(c byte) bool { return isDigit(c) || isUpper(c) || isLower(c) || c == '_' }
func isKey(c byte) bool  { return isWord(c) || c == '-' }
func isBase64(c byte) bool {
	return isDigit(c) || isUpper(c) || isLower(c) || c == '+' || c == '/' || c == '='
}
func isToken(c byte) bool { return isKey(c) || isBase64(c) || c == '.' || c == '~' }
