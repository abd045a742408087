package render

import (
	"os"

	"golang.org/x/sys/windows"
)

// ShowsColor enables escape sequences in a console, and reports whether it succeeded.
func ShowsColor(f *os.File) bool {
	console := windows.Handle(f.Fd())
	var mode uint32
	if err := windows.GetConsoleMode(console, &mode); err != nil {
		return false
	}
	return windows.SetConsoleMode(console, mode|windows.ENABLE_VIRTUAL_TERMINAL_PROCESSING) == nil
}
