package safefile

import "io/fs"

func OwnedByUser(fs.FileInfo) bool { return true }

// openToOthers is false because a mode does not carry Windows permissions.
func openToOthers(fs.FileInfo) bool { return false }
