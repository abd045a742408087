package sandbox

import (
	"fmt"
	"strings"

	"github.com/switchyard-dev/switchyard/internal/confinement"
)

// seatbelt returns the profile of macOS's sandbox-exec for a process at a level. Later rules
// win. proxy is the port of its proxy above the level files.
func seatbelt(level confinement.Level, spec Spec, proxy uint16) string {
	var b strings.Builder
	rule := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	rule(`(version 1)`)
	rule(`(deny default)`)
	rule(`(import "system.sb")`)
	rule(`(allow process-fork process-exec sysctl-read mach-lookup ipc-posix-sem)`)
	rule(`(allow signal (target same-sandbox))`)
	rule(`(allow file-read-metadata)`)
	for _, path := range macFolders() {
		rule(`(allow file-read* (subpath %s))`, quote(path))
	}
	for _, path := range spec.List {
		rule(`(allow file-read-data (literal %s))`, quote(path))
	}
	for _, path := range append(spec.Read, spec.Write...) {
		rule(`(allow file-read* (subpath %s))`, quote(path))
	}
	for _, path := range spec.Write {
		rule(`(allow file-write* (subpath %s))`, quote(path))
	}
	for _, path := range spec.Protected {
		rule(`(deny file-write* (subpath %s))`, quote(path))
	}
	if spec.FixedMetadata {
		rule(`(deny file-write-mode file-write-owner file-write-flags file-write-times file-write-xattr)`)
	}
	rule(`(allow file-write-data (literal "/dev/null") (literal "/dev/zero") (literal "/dev/tty"))`)
	if level == confinement.Files {
		rule(`(allow network*)`)
		rule(`(deny network-outbound (remote unix-socket))`)
		return b.String()
	}
	rule(`(allow network-bind network-inbound (local ip "localhost:*"))`)
	for _, port := range append([]uint16{proxy}, spec.Forward...) {
		rule(`(allow network-outbound (remote ip "localhost:%d"))`, port)
	}
	return b.String()
}

func macFolders() []string {
	return []string{
		"/usr", "/bin", "/sbin", "/System", "/Library", "/opt", "/dev", "/private/etc", "/private/var/db/timezone", "/Applications/Xcode.app",
	}
}

// quote returns a path as a string of the profile's language. Quotes and backslashes are
// escaped, so that a path cannot end the string.
func quote(path string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`).Replace(path) + `"`
}
