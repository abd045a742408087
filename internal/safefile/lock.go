package safefile

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"time"

	"github.com/switchyard-dev/switchyard/internal/retry"
)

// Lock is a locked file. Only one process has the lock of a name at a time.
type Lock struct {
	// File is the locked file, open for reading and writing.
	File *os.File
	root *os.Root
	name string
}

// TryLock creates and locks a file. It returns nil if the file is locked, by another
// process or by this one. root must stay open until the lock is released.
func TryLock(root *os.Root, name string) (*Lock, error) {
	for {
		f, err := root.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
		if errors.Is(err, fs.ErrExist) {
			f, err = OpenFile(root, name, os.O_RDWR)
			if errors.Is(err, fs.ErrNotExist) || errors.Is(err, ErrReplaced) {
				continue // The other holder has released it meanwhile.
			}
		}
		if err != nil {
			return nil, err
		}
		if ok, err := tryLock(f); !ok || err != nil {
			return nil, errors.Join(err, f.Close())
		}
		// A holder removes the file when it releases the lock, and another process may
		// have made and locked a new one since this one was opened.
		current, err := isAt(root, name, f)
		if current {
			return &Lock{f, root, name}, nil
		}
		if err = errors.Join(err, f.Close()); err != nil {
			return nil, err
		}
	}
}

// WaitLock is TryLock, but waits until the lock is free. When ctx is done, the error is its
// cause.
func WaitLock(ctx context.Context, root *os.Root, name string) (*Lock, error) {
	for range (retry.Backoff{First: 2 * time.Millisecond, Max: 40 * time.Millisecond}).Attempts(ctx) {
		if l, err := TryLock(root, name); l != nil || err != nil {
			return l, err
		}
	}
	<-ctx.Done() // It is at most one pause away.
	return nil, context.Cause(ctx)
}

// isAt reports whether name still leads to f.
func isAt(root *os.Root, name string, f *os.File) (bool, error) {
	named, err := root.Lstat(name)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	opened, statErr := f.Stat()
	if err := errors.Join(err, statErr); err != nil {
		return false, err
	}
	return os.SameFile(named, opened), nil
}

// Release removes the file and releases the lock. Windows does not remove open files;
// there the file stays, unlocked.
func (l *Lock) Release() error {
	_ = l.root.Remove(l.name)
	return l.File.Close()
}
