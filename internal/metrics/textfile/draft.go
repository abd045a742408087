package textfile

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"runtime"
	"syscall"
	"time"

	"github.com/switchyard-dev/switchyard/internal/filelock"
)

// patience is how long a writer waits for another one, and pause how long between two
// looks.
const (
	patience = 5 * time.Second
	pause    = 2 * time.Millisecond
)

// draft is a new file before it takes its place: locked by us, under the one name that
// drafts of that file have. So it is also what writers take turns by, without another
// file that stays. Whoever finds one that nobody has locked removes it: its writer was
// killed.
type draft struct {
	root *os.Root
	name string
	file *os.File
}

// errTaken says that another process writes the file for longer than we wait.
var errTaken = errors.New("another process is writing it")

// take makes a draft, once nobody else has one.
func take(ctx context.Context, root *os.Root, path, name string) (*draft, error) {
	waiting, cancel := context.WithTimeoutCause(ctx, patience, errTaken)
	defer cancel()
	for {
		d, err := try(root, name)
		if err != nil {
			return nil, unwritable(path, err)
		}
		if d != nil {
			return d, nil
		}
		select {
		case <-waiting.Done():
			return nil, unwritable(path, context.Cause(waiting))
		case <-time.After(pause):
		}
	}
}

// try makes a draft, or returns nil where another process was in the way.
func try(root *os.Root, name string) (*draft, error) {
	f, err := root.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return nil, clear(root, name)
	}
	if err != nil {
		return nil, err
	}
	if ok, err := lock(root, name, f); !ok || err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return &draft{root, name, f}, nil
}

// clear removes a draft that nobody works on.
func clear(root *os.Root, name string) error {
	seen, err := root.Lstat(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if !seen.Mode().IsRegular() {
		return errors.New("a draft of it is no regular file")
	}
	f, err := root.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer f.Close()
	ok, err := lock(root, name, f)
	if !ok || err != nil {
		return err
	}
	return root.Remove(name)
}

// lock locks a file, and reports false where another process has done so, or where the
// name leads to another file by now. What is locked and has the name keeps it: nobody
// takes the name from a file without having it locked.
func lock(root *os.Root, name string, f *os.File) (bool, error) {
	if ok, err := filelock.Try(f); !ok || err != nil {
		return false, err
	}
	opened, err := f.Stat()
	if err != nil {
		return false, err
	}
	now, err := root.Lstat(name)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return err == nil && os.SameFile(opened, now), err
}

// drop gives the draft up.
func (d *draft) drop() error {
	return errors.Join(d.root.Remove(d.name), d.file.Close())
}

// become gives the draft its content and its place, for good, or drops it.
func (d *draft) become(name string, text []byte) error {
	_, err := d.file.Write(text)
	if err == nil {
		err = d.file.Chmod(mode) // Whatever the umask is.
	}
	if err == nil {
		err = d.file.Sync()
	}
	if err == nil {
		err = d.root.Rename(d.name, name)
	}
	if err != nil {
		return errors.Join(err, d.drop())
	}
	return errors.Join(flush(d.root), d.file.Close())
}

// flush makes the entries of a folder survive a loss of power. Windows has no such
// flush: NTFS keeps a journal of its folders.
func flush(root *os.Root) error {
	if runtime.GOOS == "windows" {
		return nil
	}
	f, err := root.Open(".")
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}
