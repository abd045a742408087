package pushgateway

import (
	"crypto/sha256"
	"encoding/hex"
	"path/filepath"
	"strings"
)

// ProjectLabel is the label of a group that tells projects apart.
const ProjectLabel = "project"

// maxFolder is how much of a folder's name is part of a project's key.
const maxFolder = 40

// ProjectKey is the value of ProjectLabel for the project in the folder root of a
// machine: the folder's name, and a digest of both.
//
// Machines are part of it because the same path is common among containers: were
// they to share a group, each would overwrite the others' counters without a sign.
// The price is a group that stays behind where a machine gets a new name. Whoever
// does not want that names the project instead.
//
// A task or a round is never part of a group: each would stay at the gateway for
// ever.
func ProjectKey(machine, root string) string {
	digest := sha256.Sum256([]byte(machine + "\x00" + root))
	folder := []rune(strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', r == '-', r == '_', r == '.':
			return r
		}
		return '_'
	}, filepath.Base(root)))
	return string(folder[:min(len(folder), maxFolder)]) + "-" + hex.EncodeToString(digest[:4])
}
