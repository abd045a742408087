package safefile

import (
	"errors"
	"fmt"
	"io"
	"os"
	"syscall"
)

// OpenFile opens a regular file. It does not follow links and does not wait for a pipe.
// flag is as for os.OpenFile, without os.O_CREATE.
func OpenFile(root *os.Root, name string, flag int) (*os.File, error) {
	seen, err := root.Lstat(name)
	if err != nil {
		return nil, Confined(root, err)
	}
	if !seen.Mode().IsRegular() {
		return nil, ErrNotRegular
	}
	f, err := root.OpenFile(name, flag|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, Confined(root, err)
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

// Open opens a regular file for reading. It follows links that stay within root. Other
// links fail with ErrOutside.
func Open(root *os.Root, name string) (*os.File, error) {
	f, err := root.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, Confined(root, err)
	}
	return regular(f)
}

// OpenPath is Open for a path that is not confined to a directory.
func OpenPath(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	return regular(f)
}

func regular(f *os.File) (*os.File, error) {
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = ErrNotRegular
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// TooLargeError says that a file has more than Limit bytes.
type TooLargeError struct{ Limit int64 }

func (e TooLargeError) Error() string { return fmt.Sprintf("larger than %d bytes", e.Limit) }

// ReadAll reads r to its end. It fails with a TooLargeError after limit bytes, so that a
// file can grow while it is read.
func ReadAll(r io.Reader, limit int64) ([]byte, error) {
	data, err := io.ReadAll(io.LimitReader(r, limit+1))
	if err == nil && int64(len(data)) > limit {
		err = TooLargeError{limit}
	}
	if err != nil {
		return nil, err
	}
	return data, nil
}

// Read opens a file with Open and reads it with ReadAll.
func Read(root *os.Root, name string, limit int64) ([]byte, error) {
	f, err := Open(root, name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return ReadAll(f, limit)
}

// ReadFile opens a file with OpenFile and reads it with ReadAll.
func ReadFile(root *os.Root, name string, limit int64) ([]byte, error) {
	f, err := OpenFile(root, name, os.O_RDONLY)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return ReadAll(f, limit)
}
