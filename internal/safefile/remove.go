package safefile

import (
	"io/fs"
	"os"
)

// RemoveAll removes a folder with all that is in it, also what lies below folders
// that are locked, as some tools do with what they have fetched. That there is none
// is no error.
func RemoveAll(root *os.Root, name string) error {
	if root.RemoveAll(name) == nil {
		return nil
	}
	_ = fs.WalkDir(root.FS(), name, func(at string, entry fs.DirEntry, err error) error {
		if entry != nil && entry.IsDir() {
			_ = root.Chmod(at, 0o700) // If it does not help, removing says why.
		}
		return nil
	})
	return root.RemoveAll(name)
}
