// Package confinement names the levels at which a process can be confined
// (docs/confinement.md). Package sandbox confines processes.
package confinement

import "slices"

// Level is a degree of confinement. The zero value is not a level.
type Level string

// The levels, lowest first. Each includes the restrictions of the levels before it.
const (
	// None is a process that runs with the rights of its user.
	None Level = "none"
	// Files is a process that reaches only the files that it is given.
	Files Level = "files"
	// Ports is a process that, in addition, connects only to the port of our proxy. Other
	// hosts that listen on the same port number can be reached too.
	Ports Level = "files+ports"
	// Network is a process in its own network, which it can leave only through our proxy.
	Network Level = "files+network"
)

// Levels returns all levels, lowest first.
func Levels() []Level { return []Level{None, Files, Ports, Network} }

// Known reports whether l is a level.
func (l Level) Known() bool { return l.rank() >= 0 }

// AtLeast reports whether l is as high as other or higher. A text that is not a level is lower
// than all.
func (l Level) AtLeast(other Level) bool { return l.rank() >= other.rank() }

// Lowest returns the lowest of the levels, or None without arguments.
func Lowest(levels ...Level) Level {
	if len(levels) == 0 {
		return None
	}
	return slices.MinFunc(levels, func(a, b Level) int { return a.rank() - b.rank() })
}

func (l Level) rank() int { return slices.Index(Levels(), l) }

// Want is the confinement that a project asks for. The zero value wants no confinement.
type Want struct {
	// Level is the highest level to try.
	Level Level
	// Required is set if a process must not run below Level.
	Required bool
}

// Best wants the highest level that the system offers, which may be None.
func Best() Want { return Want{Level: Network} }
