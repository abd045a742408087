package render

import (
	"github.com/switchyard-dev/switchyard/internal/api"
	"github.com/switchyard-dev/switchyard/internal/project"
	"github.com/switchyard-dev/switchyard/internal/textutil"
)

// LockView is the JSON output of plugin lock.
type LockView struct {
	Path    string        `json:"path"`
	Plugins []project.Pin `json:"plugins"`
	Changes []LockChange  `json:"changes"`

	lock api.PluginLockResult
}

// LockChange is a pin that differs between the old and the new lock.
type LockChange struct {
	Path   string `json:"path"`
	Change string `json:"change"`
	// Before and After are digests, null if there is no pin.
	Before *string `json:"before"`
	After  *string `json:"after"`
}

// The values of LockChange.Change.
const (
	pinAdded   = "added"
	pinChanged = "changed"
	pinRemoved = "removed"
)

// NewLockView converts a new lock to its JSON form.
func NewLockView(l api.PluginLockResult) LockView {
	return LockView{project.LockFile, l.Pins, lockChanges(l), l}
}

// lockChanges compares a lock with the previous one.
func lockChanges(l api.PluginLockResult) []LockChange {
	before, now := project.Lock{Plugins: l.Before}, project.Lock{Plugins: l.Pins}
	var changes []LockChange
	for _, pin := range now.Plugins {
		switch old, known := before.Find(pin.Path); {
		case !known:
			changes = append(changes, LockChange{pin.Path, pinAdded, nil, &pin.Digest})
		case old.Digest != pin.Digest:
			changes = append(changes, LockChange{pin.Path, pinChanged, &old.Digest, &pin.Digest})
		}
	}
	for _, old := range before.Plugins {
		if _, known := now.Find(old.Path); !known {
			changes = append(changes, LockChange{old.Path, pinRemoved, &old.Digest, nil})
		}
	}
	return changes
}

// PluginLock prints the pins of a new lock, and the removed ones.
func (p *Printer) PluginLock(v LockView) {
	l := v.lock
	by := make(map[string]LockChange)
	for _, c := range v.Changes {
		by[c.Path] = c
	}
	row := func(pin project.Pin) []cell {
		words := cell{"unchanged", Dim}
		switch c := by[pin.Path]; c.Change {
		case pinAdded:
			words = cell{"added", Green}
		case pinRemoved:
			words = cell{"removed", Yellow}
		case pinChanged:
			words = cell{"changed, was " + shortDigest(*c.Before), Yellow}
		}
		return []cell{{pin.Path, Plain}, {pin.Name, Plain}, {pin.Version, Plain}, {shortDigest(pin.Digest), Plain}, words}
	}
	var rows [][]cell
	for _, pin := range l.Pins {
		rows = append(rows, row(pin))
	}
	for _, pin := range l.Before {
		if by[pin.Path].Change == pinRemoved {
			rows = append(rows, row(pin))
		}
	}
	p.table([]string{"FILE", "NAME", "VERSION", "DIGEST", "PIN"}, rows)
	p.Line("")
	if l.Unreadable != nil {
		p.Line("note: the old lock could not be read and was replaced: %s", l.Unreadable)
	}
	p.Line("%s has %s", project.LockFile, textutil.Count(len(l.Pins), "plugin"))
}
