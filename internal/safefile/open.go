package safefile

import (
	"errors"
	"fmt"
	"io"
	"os"
	"syscall"
)

// OpenFile opens a regular file and nothing else: no link is followed, and no pipe
// waited for. flag is as for os.OpenFile, without os.O_CREATE.
func OpenFile(root *os.Root, name string, flag int) (*os.File, error) {
	seen, err := root.Lstat(name)
	if err != nil {
		return nil, err
	}
	if !seen.Mode().IsRegular() {
		return nil, ErrNoFile
	}
	f, err := root.OpenFile(name, flag|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err == nil && !os.SameFile(seen, info) {
		err = ErrReplaced
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// Follow opens a regular file for reading, also behind symbolic links as long as
// they lead nowhere out of root. No pipe is waited for.
func Follow(root *os.Root, name string) (*os.File, error) {
	f, err := root.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = ErrNoFile
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// Read returns the content of a file that Follow opens, if it has at most limit
// bytes.
func Read(root *os.Root, name string, limit int64) ([]byte, error) {
	f, err := Follow(root, name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, limit+1))
	if err != nil {
		return nil, err
	}
	if int64(len(data)) > limit {
		return nil, fmt.Errorf("larger than %d bytes", limit)
	}
	return data, nil
}
