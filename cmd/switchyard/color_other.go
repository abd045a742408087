//go:build !windows

package main

import "os"

// showsColor reports that a terminal understands escape sequences.
func showsColor(*os.File) bool { return true }
