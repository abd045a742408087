package gitrepo

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"time"

	"github.com/switchyard-dev/switchyard/internal/safefile"
)

// savedIndex is the index of a worktree after a WriteTree of this process. It has the times
// of files, so that the next WriteTree reads only those that have changed. It is in memory,
// where no agent can change it.
type savedIndex struct {
	data    []byte
	changed time.Time // Git reads files again that are as new as their index.
	own     string    // the digest of the entries that the worktree's own index had
	tree    string
}

// savedIndex returns the index of the latest WriteTree, or nil.
func (r *Repo) savedIndex(p place) *savedIndex {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.indexes[p.git]
}

func (r *Repo) saveIndex(p place, file, own, tree string) error {
	saved, err := readIndex(file)
	if err != nil {
		return err
	}
	saved.own, saved.tree = own, tree
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.indexes == nil {
		r.indexes = make(map[string]*savedIndex)
	}
	r.indexes[p.git] = saved
	return nil
}

// readIndex reads an index with its time.
func readIndex(file string) (*savedIndex, error) {
	f, err := safefile.OpenPath(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	data, err := io.ReadAll(f)
	return &savedIndex{data: data, changed: info.ModTime()}, err
}

func (s *savedIndex) write(file string) error {
	if err := os.WriteFile(file, s.data, 0o600); err != nil {
		return err
	}
	return os.Chtimes(file, s.changed, s.changed)
}

// copyIndex copies an index with its time, because git reads files that are as new as their
// index. It does not copy a missing index.
func copyIndex(from, to string) error {
	index, err := readIndex(from)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	return index.write(to)
}
