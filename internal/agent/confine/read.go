package confine

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/safefile"
)

// Read returns the content of a regular file that lies in a base and has at most
// limit bytes. A symbolic link may lead to it as long as it leads nowhere else.
//
// # Errors
//
// spawn-path-outside and spawn-prompt-unreadable. When ctx is done, its cause: a file system may
// never answer.
func (b *Bases) Read(ctx context.Context, path string, limit int64) ([]byte, error) {
	type outcome struct {
		data []byte
		err  error
	}
	done := make(chan outcome, 1)
	go func() {
		f, err := b.open(path)
		if err != nil {
			done <- outcome{nil, err}
			return
		}
		defer f.Close()
		data, err := io.ReadAll(io.LimitReader(f, limit+1))
		if err == nil && int64(len(data)) > limit {
			err = fmt.Errorf("it has more than %d bytes", limit)
		}
		if err != nil {
			done <- outcome{nil, unusable(errs.SpawnPromptUnreadable, path, err)}
			return
		}
		done <- outcome{data, nil}
	}()
	select {
	case o := <-done:
		return o.data, o.err
	case <-ctx.Done():
		return nil, fmt.Errorf("read %s: %w", filepath.Base(path), context.Cause(ctx))
	}
}

// open opens a regular file for reading.
func (b *Bases) open(path string) (*os.File, error) {
	full := b.abs(path)
	real, err := filepath.EvalSymlinks(full)
	if err != nil {
		return nil, b.missing(errs.SpawnPromptUnreadable, full, err)
	}
	root, below, inside := b.find(real)
	if !inside {
		return nil, outside(full)
	}
	// No link is left in the path, so one that it meets was put there since.
	f, err := safefile.OpenFile(root, below, os.O_RDONLY)
	if err != nil {
		return nil, unusable(errs.SpawnPromptUnreadable, full, err)
	}
	return f, nil
}
