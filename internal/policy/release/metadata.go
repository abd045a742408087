package release

import (
	"regexp"
	"strings"
)

// cutMetadata splits a module before its package clause: the head has the package's
// METADATA. It fails for a module of another package.
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

// setCustom replaces a value in METADATA and keeps its quotes.
func setCustom(head, key, old, value string) string {
	line := regexp.MustCompile(`(?m)^(#.*\b` + key + `:[ \t]*["']?)` + regexp.QuoteMeta(old) + `(["']?[ \t]*(?:[,}#].*)?\r?)$`)
	found := line.FindStringSubmatchIndex(head)
	if found == nil {
		return head
	}
	return head[:found[3]] + value + head[found[4]:]
}
