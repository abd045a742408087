//go:build !unix

package codecache

import "io/fs"

// private trusts the access rules that a user's own cache folder inherits.
func private(fs.FileInfo) bool { return true }
