package main

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/switchyard-dev/switchyard/host"
	"github.com/switchyard-dev/switchyard/internal/project"
)

func newPluginLockCmd(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "lock",
		Short: "Pin the project's plugins in switchyard.lock",
		Long: `Lock loads every plugin that plugin_paths in switchyard.yaml names, and writes
the digests of their files to switchyard.lock beside it. From then on only these
very files are used: one that was changed, or added to a folder, is refused until
the plugins are locked again.

It prints the pins and what changed against the lock that there was. Commit the
lock, and review its changes like those of code: a plugin decides what counts as
a finding.`,
		Example: `  switchyard plugin lock
  switchyard plugin lock --output json | jq .changes`,
		Args: noArgs,
	}
	cmd.RunE = a.runE(func(ctx context.Context, _ []string) error {
		return a.with(ctx, func(e *host.Engine) error {
			l, err := e.LockPlugins(ctx)
			if err != nil {
				return err
			}
			shown := locked{project.LockFile, l.Pins, lockChanges(l)}
			return a.print(shown, func(p *page) { p.locked(l, shown.Changes) })
		})
	})
	return cmd
}

// locked is what lock prints as JSON.
type locked struct {
	Path    string        `json:"path"`
	Plugins []project.Pin `json:"plugins"`
	Changes []lockChange  `json:"changes"`
}

// lockChange is a pin that the new lock has and the old one had not, or the other
// way round.
type lockChange struct {
	Path   string `json:"path"`
	Change string `json:"change"`
	// Before and After are digests, null where there is no pin.
	Before *string `json:"before"`
	After  *string `json:"after"`
}

// What a change can be.
const (
	pinAdded   = "added"
	pinChanged = "changed"
	pinRemoved = "removed"
)

// lockChanges compares a lock with the one before it.
func lockChanges(l host.Locked) []lockChange {
	before, now := project.Lock{Plugins: l.Before}, project.Lock{Plugins: l.Pins}
	var changes []lockChange
	for _, pin := range now.Plugins {
		switch old, known := before.Find(pin.Path); {
		case !known:
			changes = append(changes, lockChange{pin.Path, pinAdded, nil, &pin.Digest})
		case old.Digest != pin.Digest:
			changes = append(changes, lockChange{pin.Path, pinChanged, &old.Digest, &pin.Digest})
		}
	}
	for _, old := range before.Plugins {
		if _, known := now.Find(old.Path); !known {
			changes = append(changes, lockChange{old.Path, pinRemoved, &old.Digest, nil})
		}
	}
	return changes
}

// locked shows the pins of a new lock, and those that are gone.
func (p *page) locked(l host.Locked, changes []lockChange) {
	by := make(map[string]lockChange)
	for _, c := range changes {
		by[c.Path] = c
	}
	row := func(pin project.Pin) []cell {
		words := cell{"unchanged", dim}
		switch c := by[pin.Path]; c.Change {
		case pinAdded:
			words = cell{"added", green}
		case pinRemoved:
			words = cell{"removed", yellow}
		case pinChanged:
			words = cell{"changed, was " + shortDigest(*c.Before), yellow}
		}
		return []cell{{pin.Path, plain}, {pin.Name, plain}, {pin.Version, plain}, {shortDigest(pin.Digest), plain}, words}
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
	p.line("")
	if l.Unreadable != nil {
		p.line("note: the old lock could not be read and was replaced: %s", l.Unreadable)
	}
	p.line("%s has %s", project.LockFile, plural(len(l.Pins), "plugin"))
}
