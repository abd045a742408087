package safefile

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path"
)

// Replace gives a file a new content and mode, all at once and for good: a reader
// sees the old one or the new one, and so does who comes after a loss of power.
// What has the name is replaced, and not followed or written into. The umask takes
// from the mode what it takes from that of every new file.
func Replace(root *os.Root, name string, data []byte, mode fs.FileMode) error {
	return ReplaceFrom(root, name, bytes.NewReader(data), mode)
}

// ReplaceSoon is Replace for what can be had again: it does not wait for the disk, so
// after a loss of power the file may have its old content, none, or not be there.
func ReplaceSoon(root *os.Root, name string, data []byte, mode fs.FileMode) error {
	return replace(root, draftOf(path.Dir(name), name), name, bytes.NewReader(data), permission{mode: mode, soon: true})
}

// ReplaceFrom is Replace with the content that data has up to its end. An error of
// data is returned, and leaves the file as it was.
func ReplaceFrom(root *os.Root, name string, data io.Reader, mode fs.FileMode) error {
	return replace(root, draftOf(path.Dir(name), name), name, data, permission{mode: mode})
}

// ReplaceLike is Replace for a file that keeps the permissions of like, whatever the
// umask would take from them.
func ReplaceLike(root *os.Root, name string, data []byte, like fs.FileInfo) error {
	return replace(root, draftOf(path.Dir(name), name), name, bytes.NewReader(data), permission{mode: like.Mode().Perm(), exact: true})
}

// ReplaceBy is Replace for a file that nobody else writes meanwhile. Its draft has
// the name that the caller gives it, in the same folder, so that one that a killed
// process left is found: the next call removes it.
func ReplaceBy(root *os.Root, draft, name string, data []byte, mode fs.FileMode) error {
	if err := root.Remove(draft); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return replace(root, draft, name, bytes.NewReader(data), permission{mode: mode})
}

// Create makes a file in the same way. It fails with fs.ErrExist where there is
// one, and leaves that alone. Its draft lies in the folder drafts until then.
func Create(root *os.Root, drafts, name string, data []byte, mode fs.FileMode) error {
	draft := draftOf(drafts, name)
	if err := write(root, draft, bytes.NewReader(data), permission{mode: mode}); err != nil {
		return err
	}
	// A link does not replace what is there, and a rename does.
	err := root.Link(draft, name)
	if err := errors.Join(err, root.Remove(draft)); err != nil {
		return err
	}
	return Flush(root, path.Dir(name))
}

// draftOf names a draft of a file as nothing else is named. It shows what it is of,
// but not at full length: the file's own name may be as long as one can be.
func draftOf(folder, name string) string {
	return path.Join(folder, fmt.Sprintf(".%.32s.%016x", path.Base(name), rand.Uint64()))
}

func replace(root *os.Root, draft, name string, data io.Reader, p permission) error {
	if err := write(root, draft, data, p); err != nil {
		return err
	}
	if err := root.Rename(draft, name); err != nil {
		return errors.Join(err, root.Remove(draft))
	}
	if p.soon {
		return nil
	}
	return Flush(root, path.Dir(name))
}

// permission is the mode of a new file, whether the umask has no say in it, and
// whether its content may reach the disk later.
type permission struct {
	mode  fs.FileMode
	exact bool
	soon  bool
}

// write creates a file whole, or none.
func write(root *os.Root, name string, data io.Reader, p permission) error {
	f, err := root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, p.mode)
	if err != nil {
		return err
	}
	if p.exact {
		err = f.Chmod(p.mode)
	}
	if err == nil {
		_, err = io.Copy(f, data)
	}
	if err == nil && !p.soon {
		err = f.Sync()
	}
	if err := errors.Join(err, f.Close()); err != nil {
		return errors.Join(err, root.Remove(name))
	}
	return nil
}
