//go:build !windows

package render

import (
	"os"
)

// ShowsColor reports that a terminal understands escape sequences.
func ShowsColor(*os.File) bool { return true }
