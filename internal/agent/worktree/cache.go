package worktree

import (
	"sync"
	"time"
)

// Cache remembers the contents of files between the snapshots of a process, so that files
// that did not change are not read again. A file did not change if its size, times, mode
// and inode are the same, and if it was not so new when it was read that the clock of its
// file system could hide a change, as in git's index. It does not see a content that is
// replaced without a change of these (see Tree.Reread). The zero value is ready. It is
// safe for concurrent use.
type Cache struct {
	mu    sync.Mutex
	trees map[string]*Snapshot // the latest ones, by root
}

// maxCached bounds the number of trees that a cache remembers.
const maxCached = 32

// latest returns the latest snapshot of a tree, an empty one if there is none.
func (c *Cache) latest(root string) *Snapshot {
	if c != nil {
		c.mu.Lock()
		defer c.mu.Unlock()
		if s := c.trees[root]; s != nil {
			return s
		}
	}
	return &Snapshot{}
}

// keep remembers a snapshot of a tree, and forgets some other one if there are too many.
func (c *Cache) keep(root string, s *Snapshot) {
	if c == nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.trees == nil {
		c.trees = make(map[string]*Snapshot)
	}
	c.trees[root] = s
	for other := range c.trees {
		if len(c.trees) > maxCached && other != root {
			delete(c.trees, other)
		}
	}
}

// A file system's clock advances in steps of some milliseconds, or of up to two seconds
// if it stores whole seconds.
const fineStep, coarseStep = 50 * time.Millisecond, 2 * time.Second

// settled reports whether a change after now would change the file's times.
func (s stat) settled(now time.Time) bool {
	latest, step := max(s.modified, s.changed), fineStep
	if latest%int64(time.Second) == 0 {
		step = coarseStep
	}
	return now.UnixNano()-latest > int64(step)
}

// isUnchanged reports whether a file has the content that was read before.
func (was *file) isUnchanged(is *file) bool {
	return was != nil && is != nil && was.settled && was.stat == is.stat && was.mode == is.mode && is.hashed
}
