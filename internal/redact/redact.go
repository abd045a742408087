// Package redact takes secrets out of what an agent's CLI prints, before it is
// stored or shown.
//
// It knows secrets by their form, so that it is no reason to log more than needed:
// a password in plain words looks like any other word. In doubt it takes too much.
package redact

import "strings"

// Text returns s with each secret in it replaced by [REDACTED:kind]. The word before
// a secret that says what it is stays. It takes linear time. A text without secrets
// comes back as it is.
//
// The kinds are anthropic-key, openai-key, github-token, gitlab-pat, google-api-key,
// slack-token, aws-key-id, aws-secret-key, jwt, bearer, basic-auth, url-userinfo and
// private-key.
func Text(s string) string { return behind(s, 0) }

// behind is Text for what s has from at on. A secret across that place is one of it.
func behind(s string, at int) string {
	var out strings.Builder
	kept := at // What stands before has been written, or is not asked for.
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
		out.WriteString(s[kept:max(kept, found.start)])
		out.WriteString(mark(found.kind))
		kept = found.end
	}
	if out.Len() == 0 {
		return s[at:]
	}
	out.WriteString(s[kept:])
	return out.String()
}

func mark(kind string) string { return "[REDACTED:" + kind + "]" }

// secret is where a secret stands: from start, before end.
type secret struct {
	kind       string
	start, end int
}

// finder looks for secrets from the begin of a text to its end. A look at a place
// may read on to the end of a run of characters. The whole is linear because a look
// that reads far finds something, or is the only one to read that run.
type finder struct {
	text string
	// ended is where the last secret did.
	ended int
	// tokenless is up to where no JSON Web Token begins.
	tokenless int
}

// find looks for a secret at i, perhaps behind words that say so.
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

// startsWord says that no word goes on at i. What ends an escape is no part of a
// word: programs print keys behind \n and \u0026 in JSON, behind %3D in URLs, and
// behind colours.
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

// endsColour says that s ends as ESC [ 1 ; 31 m does, however the first sign is
// written.
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

// run returns where the characters that are in a class end, from i on.
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

// isWord has the characters of a word, isKey those of most keys and of base64url,
// isBase64 those of base64, and isToken all that RFC 6750 lets a bearer token have.
func isWord(c byte) bool { return isDigit(c) || isUpper(c) || isLower(c) || c == '_' }
func isKey(c byte) bool  { return isWord(c) || c == '-' }
func isBase64(c byte) bool {
	return isDigit(c) || isUpper(c) || isLower(c) || c == '+' || c == '/' || c == '='
}
func isToken(c byte) bool { return isKey(c) || isBase64(c) || c == '.' || c == '~' }
