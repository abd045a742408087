package redact

import "strings"

// minKey is how many characters a key has behind its prefix at least. Shorter ones
// are prose about keys.
const minKey = 16

// prefixed finds the keys that begin in a way of their own.
func prefixed(s string, i int) (secret, bool) {
	isID := func(c byte) bool { return isUpper(c) || isDigit(c) }
	for _, p := range [...]struct {
		kind, prefix string
		least        int
		class        func(byte) bool
	}{
		{"anthropic-key", "sk-ant-", minKey, isKey}, // Before the prefix that it shares with the next.
		{"openai-key", "sk-", minKey, isKey},
		{"github-token", "ghp_", minKey, isKey},
		{"github-token", "gho_", minKey, isKey},
		{"github-token", "ghu_", minKey, isKey},
		{"github-token", "ghs_", minKey, isKey},
		{"github-token", "ghr_", minKey, isKey},
		{"github-token", "github_pat_", minKey, isKey},
		{"gitlab-pat", "glpat-", minKey, isKey},
		{"google-api-key", "AIza", 30, isKey},
		{"slack-token", "xoxa-", minKey, isKey},
		{"slack-token", "xoxb-", minKey, isKey},
		{"slack-token", "xoxp-", minKey, isKey},
		{"slack-token", "xoxr-", minKey, isKey},
		{"slack-token", "xoxs-", minKey, isKey},
		{"slack-token", "xapp-", minKey, isKey},
		{"aws-key-id", "AKIA", 12, isID},
		{"aws-key-id", "ASIA", 16, isID}, // A continent needs the whole length.
	} {
		if !strings.HasPrefix(s[i:], p.prefix) {
			continue
		}
		body := i + len(p.prefix)
		if end := run(s, body, p.class); end-body >= p.least {
			return secret{p.kind, i, end}, true
		}
	}
	return secret{}, false
}

// token finds a JSON Web Token: three parts in base64url, of which the first is an
// object and so begins with the encoding of {".
func (f *finder) token(i int) (secret, bool) {
	s := f.text
	if i < f.tokenless || !strings.HasPrefix(s[i:], "eyJ") {
		return secret{}, false
	}
	at := i
	for part, least := range [...]int{8, 8, 4} {
		if part > 0 && at < len(s) && s[at] == '.' {
			at++
		}
		end := run(s, at, isKey)
		if part == 0 {
			// Another one that begins in this part would fail by the same parts.
			f.tokenless = end
		}
		if end-at < least {
			return secret{}, false
		}
		at = end
	}
	return secret{"jwt", i, at}, true
}

// authorization finds the credentials of the schemes Bearer and Basic (RFC 9110,
// section 11.4), and keeps the scheme.
func authorization(s string, i int) (secret, bool) {
	for _, scheme := range [...]struct {
		kind, word string
		class      func(byte) bool
	}{{"bearer", "bearer", isToken}, {"basic-auth", "basic", isBase64}} {
		start := i + len(scheme.word)
		if start > len(s) || !strings.EqualFold(s[i:start], scheme.word) {
			continue
		}
		from := run(s, start, isBlank)
		if from == start {
			continue
		}
		end := run(s, from, scheme.class)
		if end-from >= minKey && (scheme.kind == "bearer" || isHeader(s[:i]) || !isPlain(s[from:end])) {
			return secret{scheme.kind, from, end}, true
		}
	}
	return secret{}, false
}

// isHeader says that s ends as a header does before its value.
func isHeader(s string) bool {
	s = strings.TrimRight(s, "\"'` \t\\")
	return strings.HasSuffix(s, ":") || strings.HasSuffix(s, "=")
}

// isPlain says that a text is a word of prose: "basic internationalization".
func isPlain(s string) bool { return run(s, 0, isLower) == len(s) }

// awsSecret finds a secret access key of Amazon's, which has no form of its own, by
// the name that stands before it.
func awsSecret(s string, i int) (secret, bool) {
	at := i
	for _, word := range [...]string{"secret", "access", "key"} {
		if at < len(s) && at > i && (s[at] == '_' || s[at] == '-') {
			at++
		}
		end := at + len(word)
		if end > len(s) || !strings.EqualFold(s[at:end], word) {
			return secret{}, false
		}
		at = end
	}
	from := run(s, at, func(c byte) bool { return isBlank(c) || strings.IndexByte(`"'\:=`, c) >= 0 })
	if from == at {
		return secret{}, false
	}
	end := run(s, from, isBase64)
	return secret{"aws-secret-key", from, end}, end-from >= minKey
}

// userinfo finds a password, or a token alone, in a URL (RFC 3986, section 3.2.1).
// A short name alone, as in ssh://git@host, is no secret.
func userinfo(s string, i int) (secret, bool) {
	const before = "://"
	if !strings.HasPrefix(s[i:], before) {
		return secret{}, false
	}
	start := i + len(before)
	end := run(s, start, func(c byte) bool { return c > ' ' && c != 0x7f && strings.IndexByte("/?#\"'`<>\\", c) < 0 })
	// The last sign: a password may hold one that should have been encoded.
	length := strings.LastIndexByte(s[start:end], '@')
	if length < minKey && (length < 0 || !strings.Contains(s[start:start+length], ":")) {
		return secret{}, false
	}
	return secret{"url-userinfo", start, start + length}, true
}

// privateKey finds a key in the textual encoding of RFC 7468 and its relatives. One
// that does not end is taken to the end of the text.
func privateKey(s string, i int) (secret, bool) {
	const begin, end, fence = "-----BEGIN ", "-----END ", "-----"
	label, ok := strings.CutPrefix(s[i:], begin)
	if !ok {
		return secret{}, false
	}
	length := run(label, 0, func(c byte) bool { return isUpper(c) || isDigit(c) || c == ' ' })
	if !strings.Contains(label[:length], "PRIVATE KEY") || !strings.HasPrefix(label[length:], fence) {
		return secret{}, false
	}
	found := secret{"private-key", i, len(s)}
	if at := strings.Index(s[i:], end); at >= 0 {
		found.end = run(s, i+at+len(end), func(c byte) bool { return c != '-' && c != '\n' })
		found.end = run(s, found.end, func(c byte) bool { return c == '-' })
	}
	return found, true
}
