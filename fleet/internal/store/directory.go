package store

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"time"

	"github.com/switchyard-dev/switchyard/internal/safefile"
)

// directory is the path of a directory that all machines share. It is opened for each call,
// since it may be mounted again in between.
type directory string

func openDirectory(location string) (files, error) {
	full, err := filepath.Abs(location)
	if err != nil {
		return nil, err
	}
	return directory(full), os.MkdirAll(full, 0o700)
}

func (d directory) open(ctx context.Context) (*os.Root, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	return os.OpenRoot(string(d))
}

func (d directory) write(ctx context.Context, name string, data []byte) error {
	root, err := d.open(ctx)
	if err != nil {
		return err
	}
	defer root.Close()
	now := time.Now()
	if err := root.Chtimes(name, now, now); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	inner, err := safefile.MakeDirIn(root, path.Dir(name))
	if err != nil {
		return err
	}
	defer inner.Close()
	// A file is never replaced: a process that reads the old one over NFS would fail.
	err = safefile.Create(inner, ".", path.Base(name), data, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	return err
}

func (d directory) read(ctx context.Context, name string, limit int64) ([]byte, error) {
	root, err := d.open(ctx)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	data, err := safefile.Read(root, name, limit)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, errMissing
	}
	return data, err
}
