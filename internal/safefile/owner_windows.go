package safefile

import "io/fs"

// Owner: see the other file.
func Owner(fs.FileInfo) (id int, ok bool) { return 0, true }

// openToOthers is false because a mode does not carry Windows permissions.
func openToOthers(fs.FileInfo) bool { return false }
