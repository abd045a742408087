package sandbox

import "strings"

// below reports whether a clean path is one of the folders or lies below one.
func below(path string, folders []string) bool {
	for _, f := range folders {
		if rest, ok := strings.CutPrefix(path, f); ok && (rest == "" || rest[0] == '/' || f == "/") {
			return true
		}
	}
	return false
}
