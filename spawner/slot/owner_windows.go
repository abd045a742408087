package slot

import "io/fs"

// ours believes it: the folder for temporary files is each user's own here.
func ours(fs.FileInfo) bool { return true }
