package worktree

import (
	"slices"
	"strings"
	"sync"
	"time"
)

// Cache remembers the contents of files between the snapshots of a process, so that unchanged
// files are not read again. A file is unchanged if its size, times, mode and inode are the
// same, and if it was old enough when it was read that the clock of its file system would show
// a change, as in git's index. Cache does not detect a content that is replaced without a
// change of these (see Tree.Reread). The zero value is ready. It is safe for concurrent use.
type Cache struct {
	mu    sync.Mutex
	trees map[string]treeInfo // by root
}

// treeInfo has the information about a tree: its latest snapshot, and Diff's comparison.
type treeInfo struct {
	latest   *Snapshot
	compared *comparison
}

// maxCached bounds the number of trees that a cache remembers.
const maxCached = 32

func (c *Cache) get(root string) treeInfo {
	if c == nil {
		return treeInfo{}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.trees[root]
}

// update changes the information about a tree, and forgets other trees if there are too many.
func (c *Cache) update(root string, change func(*treeInfo)) {
	if c == nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	tree := c.trees[root]
	if c.trees == nil || len(c.trees) >= maxCached && tree == (treeInfo{}) {
		c.trees = make(map[string]treeInfo)
	}
	change(&tree)
	c.trees[root] = tree
}

// CheckedOut records that the tree was just checked out from the commit with the id base, so
// the next snapshot has the files of that commit.
func (c *Cache) CheckedOut(root, base string) { c.compared(root, &comparison{base: base}) }

// snapshotTaken records the first snapshot after CheckedOut.
func (c *Cache) snapshotTaken(root string, s *Snapshot) {
	c.update(root, func(tree *treeInfo) {
		if is := tree.compared; is != nil && is.shot == nil {
			tree.compared = &comparison{base: is.base, shot: s}
		}
	})
}

func (c *Cache) compared(root string, is *comparison) {
	c.update(root, func(tree *treeInfo) { tree.compared = is })
}

// comparison is a result of Diff: when the snapshot was taken, all files except paths were the
// same as in the commit base. The snapshot is nil after CheckedOut.
type comparison struct {
	base  string
	shot  *Snapshot
	paths []string
}

// since returns the paths that may differ now. They are not known if git's own files changed,
// which can affect what differs.
func (c *comparison) since(base string, now *Snapshot) (paths []string, known bool) {
	if c == nil || c.base != base || c.shot == nil {
		return nil, false
	}
	paths = slices.Clone(c.paths)
	for _, change := range Compare(c.shot, now) {
		switch {
		case change.Area == Records || strings.Contains(change.entry, inStage):
			return nil, false
		case change.Kind != Git:
			paths = append(paths, change.Path)
		case change.entry != "": // An entry alone can change a commit, such as that of a submodule.
			paths = append(paths, change.entry)
		}
	}
	slices.Sort(paths)
	return slices.Compact(paths), true
}

// rereads returns a function that reports whether a file is read again.
func (t Tree) rereads() func(path string) bool {
	if t.Reread == RereadDraft {
		if was := t.Cache.get(t.Root).compared; was != nil {
			return func(path string) bool { return slices.Contains(was.paths, path) }
		}
	}
	return func(string) bool { return t.Reread != RereadNone }
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

// isUnchanged reports whether a file still has the content that was read before.
func (was *file) isUnchanged(is *file) bool {
	return was != nil && is != nil && was.settled && was.stat == is.stat && was.mode == is.mode && is.hashed
}
