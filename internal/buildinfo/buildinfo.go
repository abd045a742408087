// Package buildinfo says which version of Switchyard a program is.
package buildinfo

import (
	"cmp"
	"runtime/debug"
)

// make release sets these with the linker's -X, since a module below the root of the
// repository does not have the release's tag as its version.
var version, commit, date string

// Info describes a build. Commit and its Date are "" if they are not known.
type Info struct{ Version, Commit, Date string }

// Read returns the values of the release, or those that the Go toolchain recorded.
func Read() Info {
	info := Info{version, commit, date}
	if build, ok := debug.ReadBuildInfo(); ok && info.Version == "" {
		info.Version = build.Main.Version
		for _, s := range build.Settings {
			switch s.Key {
			case "vcs.revision":
				info.Commit = s.Value
			case "vcs.time":
				info.Date = s.Value
			}
		}
	}
	info.Version = cmp.Or(info.Version, "(devel)")
	return info
}
