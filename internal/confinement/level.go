// Package confinement names the levels at which a process can be confined, and what a
// project asks for (docs/confinement.md). Package sandbox confines processes.
package confinement

import "slices"

// Level says what confines a process. The zero value is no level.
type Level string

// The levels, lowest first. Each includes what those before it do.
const (
	// None is a process that runs with the rights of its user.
	None Level = "none"
	// Files is a process that reaches only the files that it is given.
	Files Level = "files"
	// Ports is a process that, besides, connects to a port of our proxy only. Other hosts
	// that listen on a port of that number can be reached too.
	Ports Level = "files+ports"
	// Network is a process in a network of its own, whose only way out is our proxy.
	Network Level = "files+network"
)

// Levels returns all levels, lowest first.
func Levels() []Level { return []Level{None, Files, Ports, Network} }

// Known reports whether l is a level.
func (l Level) Known() bool { return l.rank() >= 0 }

// AtLeast reports whether l is as high as other or higher. A text that is no level is
// lower than all.
func (l Level) AtLeast(other Level) bool { return l.rank() >= other.rank() }

// Lowest returns the lowest of the levels, or None without any.
func Lowest(levels ...Level) Level {
	if len(levels) == 0 {
		return None
	}
	return slices.MinFunc(levels, func(a, b Level) int { return a.rank() - b.rank() })
}

func (l Level) rank() int { return slices.Index(Levels(), l) }

// Want is the confinement that a project asks for. The zero value is no confinement.
type Want struct {
	// Level is the highest level to try.
	Level Level
	// Required says that a process must not run below Level.
	Required bool
}

// Best is the highest level that the system offers, and no error if it offers none.
func Best() Want { return Want{Level: Network} }
