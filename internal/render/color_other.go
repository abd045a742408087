//go:build !windows

package render

import "os"

// ShowsColor reports that a terminal supports escape sequences.
func ShowsColor(*os.File) bool { return true }
