package redact

import "strings"

// minKey is the minimum length of a key after its prefix. Shorter ones are prose about
// keys.
const minKey = 16

func prefixed(s string, i int) (secret, bool) {
	isID := func(c byte) bool { return isUpper(c) || isDigit(c) }
	for _, p := range [...]struct {
		kind, prefix string
		least        int
		class        func(byte) bool
	}{
		{"anthropic-key", "sk-ant-", minKey, isKey}, // before its shorter prefix
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
		{"aws-key-id", "ASIA", 16, isID}, // exact length, because of the continent
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

// token finds a JSON Web Token: three parts in base64url, the first of which begins with
// the encoding of {".
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
			// A token that begins later in this part would fail in the same way.
			f.tokenless = end
		}
		if end-at < least {
			return secret{}, false
		}
		at = end
	}
	return secret{"jwt", i, at}, true
}

// authorization finds credentials of the schemes Bearer and Basic (RFC 9110, section 11.4).
// The scheme is not part of the secret.
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

// isHeader reports whether s ends like a header before its value.
func isHeader(s string) bool {
	s = strings.TrimRight(s, "\"'` \t\\")
	return strings.HasSuffix(s, ":") || strings.HasSuffix(s, "=")
}

// isPlain reports whether a text is a word of prose, as in "basic internationalization".
func isPlain(s string) bool { return run(s, 0, isLower) == len(s) }

// awsSecret finds an AWS secret access key by the name before it, since it has no distinctive
// form.
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
	for strings.HasPrefix(s[end:], `\/`) { // JSON may escape a slash.
		end = run(s, end+2, isBase64)
	}
	return secret{"aws-secret-key", from, end}, end-from >= minKey
}

// userinfo finds a password or token in a URL (RFC 3986, section 3.2.1). A short user
// name, as in ssh://git@host, is not a secret.
func userinfo(s string, i int) (secret, bool) {
	start := i
	for _, before := range [...]string{"://", `:\/\/`} { // The second one in JSON.
		if strings.HasPrefix(s[i:], before) {
			start = i + len(before)
		}
	}
	if start == i {
		return secret{}, false
	}
	isPart := func(c byte) bool { return c > ' ' && c != 0x7f && strings.IndexByte("/?#\"'`<>\\", c) < 0 }
	end := run(s, start, isPart)
	for strings.HasPrefix(s[end:], `\u0026`) { // JSON may escape an ampersand.
		end = run(s, end+len(`\u0026`), isPart)
	}
	// The last one: a password may contain an unencoded @.
	length := strings.LastIndexByte(s[start:end], '@')
	if length < minKey && (length < 0 || !strings.Contains(s[start:start+length], ":")) {
		return secret{}, false
	}
	return secret{"url-userinfo", start, start + length}, true
}

// privateKey finds a key in the textual encoding of RFC 7468 or a similar one. A key without
// an end extends to the end of the text.
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
