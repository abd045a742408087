//go:build !linux

package worktree

import (
	"os"
	"path/filepath"
)

// create creates a file in the private directory.
func (g *git) create(name string) (*os.File, error) {
	if err := g.private(); err != nil {
		return nil, err
	}
	f, err := os.OpenFile(filepath.Join(g.temp, name), os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return nil, unreadable(".", err)
	}
	return f, nil
}
