//go:build unix

package worktree

import (
	"cmp"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"golang.org/x/sys/unix"
)

// dirHandle is an open directory. Each access is a single system call that does not follow
// links. os.Root and os.File need several calls, which would dominate a scan of many small
// files.
type dirHandle struct{ file *os.File }

func openTop(root *os.Root) (dirHandle, error) {
	f, err := root.Open(".")
	return dirHandle{f}, err
}

// folder opens a subdirectory. If the name is not one, the error is fs.ErrNotExist.
func (o dirHandle) folder(name string) (dirHandle, error) {
	fd, err := o.openat(name, unix.O_DIRECTORY)
	if slices.Contains([]error{unix.ENOTDIR, unix.ELOOP, unix.EMLINK}, err) { // Some systems return the latter two for a link.
		err = fs.ErrNotExist
	}
	if err != nil {
		return dirHandle{}, err
	}
	return dirHandle{os.NewFile(uintptr(fd), filepath.Join(o.file.Name(), name))}, nil
}

func (o dirHandle) entries() ([]fs.DirEntry, error) {
	if _, err := o.file.Seek(0, 0); err != nil {
		return nil, err
	}
	return o.file.ReadDir(-1)
}

func (o dirHandle) lstat(name string) (*file, error) {
	var s unix.Stat_t
	err := retryEINTR(func() error { return unix.Fstatat(o.fd(), name, &s, unix.AT_SYMLINK_NOFOLLOW) })
	if err != nil {
		return nil, err
	}
	return newFile(&s), nil
}

// open opens a file for reading without blocking.
func (o dirHandle) open(name string) (fileHandle, error) {
	fd, err := o.openat(name, unix.O_NONBLOCK)
	return fileHandle{fd}, err
}

func (o dirHandle) readlink(name string) (string, error) {
	buffer := make([]byte, unix.PathMax)
	n, err := unix.Readlinkat(o.fd(), name, buffer)
	if err == nil && n == len(buffer) {
		err = unix.ENAMETOOLONG
	}
	return string(buffer[:max(n, 0)]), err
}

func (o dirHandle) close() { _ = o.file.Close() }

func (o dirHandle) fd() int { return int(o.file.Fd()) }

func (o dirHandle) openat(name string, flags int) (fd int, err error) {
	err = retryEINTR(func() error {
		fd, err = unix.Openat(o.fd(), name, unix.O_RDONLY|unix.O_NOFOLLOW|unix.O_CLOEXEC|flags, 0)
		return err
	})
	return fd, err
}

type fileHandle struct{ fd int }

// read returns 0 at the end of the file.
func (c fileHandle) read(buffer []byte) (n int, err error) {
	err = retryEINTR(func() error {
		n, err = unix.Read(c.fd, buffer)
		return err
	})
	return max(n, 0), err
}

func (c fileHandle) stat() (*file, error) {
	var s unix.Stat_t
	if err := retryEINTR(func() error { return unix.Fstat(c.fd, &s) }); err != nil {
		return nil, err
	}
	return newFile(&s), nil
}

func (c fileHandle) close() { _ = unix.Close(c.fd) }

// retryEINTR repeats a system call that a signal interrupts.
func retryEINTR(call func() error) error {
	for {
		if err := call(); !errors.Is(err, unix.EINTR) {
			return err
		}
	}
}

func newFile(s *unix.Stat_t) *file {
	return &file{
		mode: modeOf(uint32(s.Mode)),
		stat: stat{size: s.Size, modified: s.Mtim.Nano(), changed: s.Ctim.Nano(), number: int64(s.Ino)},
	}
}

func modeOf(mode uint32) fs.FileMode {
	m := fs.FileMode(mode & 0o777)
	if kind := mode & unix.S_IFMT; kind != unix.S_IFREG {
		m |= cmp.Or(fileTypes[kind], fs.ModeIrregular)
	}
	for bit, is := range specialBits {
		if mode&bit != 0 {
			m |= is
		}
	}
	return m
}

var (
	fileTypes = map[uint32]fs.FileMode{
		unix.S_IFDIR: fs.ModeDir, unix.S_IFLNK: fs.ModeSymlink, unix.S_IFIFO: fs.ModeNamedPipe, unix.S_IFSOCK: fs.ModeSocket,
		unix.S_IFBLK: fs.ModeDevice, unix.S_IFCHR: fs.ModeDevice | fs.ModeCharDevice,
	}
	specialBits = map[uint32]fs.FileMode{unix.S_ISUID: fs.ModeSetuid, unix.S_ISGID: fs.ModeSetgid, unix.S_ISVTX: fs.ModeSticky}
)
