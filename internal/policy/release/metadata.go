package release

import (
	"regexp"
	"strings"
)

// cutMetadata takes a module apart before its package clause: what comes first has
// the package's METADATA. It fails for a module of another package.
func cutMetadata(text string) (head, rest string, ok bool) {
	at := 0
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, "package ") {
			return text[:at], text[at:], strings.TrimSpace(strings.TrimPrefix(line, "package ")) == "switchyard."+policyName
		}
		at += len(line)
	}
	return "", "", false
}

// setCustom gives a key of METADATA another value, in the quotes that it has.
func setCustom(head, key, old, value string) string {
	line := regexp.MustCompile(`(?m)^(#.*\b` + key + `:[ \t]*["']?)` + regexp.QuoteMeta(old) + `(["']?[ \t]*(?:[,}#].*)?\r?)$`)
	found := line.FindStringSubmatchIndex(head)
	if found == nil {
		return head
	}
	return head[:found[3]] + value + head[found[4]:]
}
