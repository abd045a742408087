package confine

import (
	"context"
	"fmt"
	"path/filepath"

	"github.com/switchyard-dev/switchyard/internal/await"
	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/safefile"
)

// Read returns the content of a regular file in a base with at most limit bytes. Symbolic
// links must stay within a base.
//
// # Errors
//
// spawn-path-outside and spawn-prompt-unreadable. If ctx is done, its cause, since a file
// system may never answer.
func (b *Bases) Read(ctx context.Context, path string, limit int64) ([]byte, error) {
	data, err := await.Result(ctx, func() ([]byte, error) { return b.read(path, limit) })
	if err != nil && errs.CodeOf(err) == "" {
		err = fmt.Errorf("read %s: %w", filepath.Base(path), err)
	}
	return data, err
}

func (b *Bases) read(path string, limit int64) ([]byte, error) {
	full := b.abs(path)
	real, err := filepath.EvalSymlinks(full)
	if err != nil {
		return nil, b.missing(errs.SpawnPromptUnreadable, full, err)
	}
	root, below, inside := b.find(real)
	if !inside {
		return nil, outside(full)
	}
	// The path is resolved, so a link that is found now was put there since.
	data, err := safefile.ReadFile(root, below, limit)
	if err != nil {
		return nil, unusable(errs.SpawnPromptUnreadable, full, err)
	}
	return data, nil
}
