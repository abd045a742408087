package abi

import (
	"slices"
	"strings"

	"github.com/switchyard-dev/switchyard/internal/errs"
)

// IsName reports whether s can name a plugin: lower-case letters, digits and
// dashes, at most 64, starting with a letter or digit.
func IsName(s string) bool {
	return IsCode(s) && len(s) <= 64
}

// IsCode reports whether s is words of lower-case letters and digits joined by
// dashes, of at most 128 bytes.
func IsCode(s string) bool {
	if s == "" || len(s) > 128 {
		return false
	}
	for word := range strings.SplitSeq(s, "-") {
		if word == "" || strings.Trim(word, "abcdefghijklmnopqrstuvwxyz0123456789") != "" {
			return false
		}
	}
	return true
}

// IsReserved reports whether a code is the host's. A guest must not pass its
// refusal off as an error of the command line, the state or the policy.
func IsReserved(code string) bool {
	if errs.Code(code) == errs.PluginConfigInvalid {
		return false
	}
	first, _, _ := strings.Cut(code, "-")
	return slices.Contains([]string{
		"usage", "internal", "interrupted", "output", "no", "file", "path", "config", "report", "plugin",
		"policy", "task", "round", "decision", "state", "ledger",
	}, first)
}
