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

// Options say how ReplaceWith writes a file.
type Options struct {
	// Mode is the file's mode. The umask applies to it unless Exact is set.
	Mode  fs.FileMode
	Exact bool
	// NoSync leaves it to the system when the file reaches the disk: after a power loss it
	// may have its old content, be empty, or not exist.
	NoSync bool
	// Temp is the name of the temporary file, in the directory of the file, for a file with
	// one writer at a time: an existing file of this name was left by a killed process, and
	// is removed. Otherwise the name is random.
	Temp string
}

// Replace gives a file new content and a new mode, atomically and durably: a reader
// sees the old file or the new one, also after a power loss. A link is replaced, not
// followed. The umask applies to mode.
func Replace(root *os.Root, name string, data []byte, mode fs.FileMode) error {
	return ReplaceWith(root, name, bytes.NewReader(data), Options{Mode: mode})
}

// ReplaceWith is Replace for content from a reader. If the reader fails, the file does not
// change.
func ReplaceWith(root *os.Root, name string, data io.Reader, o Options) error {
	if o.Temp == "" {
		o.Temp = tempName(path.Dir(name), name)
	} else if err := root.Remove(o.Temp); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return replace(root, o, func(w io.Writer) (string, error) {
		_, err := io.Copy(w, data)
		return name, err
	})
}

// ReplaceNamed is ReplaceWith for a file in root with a name that depends on its content:
// fill writes the content and returns the name. o.Temp is not used.
func ReplaceNamed(root *os.Root, o Options, fill func(io.Writer) (name string, err error)) error {
	o.Temp = tempName(".", "new")
	return replace(root, o, fill)
}

func replace(root *os.Root, o Options, fill func(io.Writer) (name string, err error)) error {
	var name string
	err := write(root, o.Temp, o, func(w io.Writer) (err error) {
		name, err = fill(w)
		return err
	})
	if err != nil {
		return err
	}
	if err := rename(root, o.Temp, name); err != nil {
		return errors.Join(err, root.Remove(o.Temp))
	}
	if o.NoSync {
		return nil
	}
	return SyncDir(root, path.Dir(name))
}

// Create creates a file with its content atomically and durably. It fails with fs.ErrExist
// if the file exists. The temporary file is in the directory tempDir.
func Create(root *os.Root, tempDir, name string, data []byte, mode fs.FileMode) error {
	temp := tempName(tempDir, name)
	err := write(root, temp, Options{Mode: mode}, func(w io.Writer) error {
		_, err := w.Write(data)
		return err
	})
	if err != nil {
		return err
	}
	err = root.Link(temp, name) // Unlike a rename, this does not replace a file.
	if err := errors.Join(err, root.Remove(temp)); err != nil {
		return err
	}
	return SyncDir(root, path.Dir(name))
}

// tempName returns a unique name that begins like the file's name, which may be as long as
// the file system allows.
func tempName(dir, name string) string {
	return path.Join(dir, fmt.Sprintf(".%.32s.%016x", path.Base(name), rand.Uint64()))
}

// write creates a file with its content. If that fails, it removes the file.
func write(root *os.Root, name string, o Options, fill func(io.Writer) error) error {
	f, err := root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, o.Mode)
	if err != nil {
		return err
	}
	if o.Exact {
		err = f.Chmod(o.Mode)
	}
	if err == nil {
		err = fill(f)
	}
	if err == nil && !o.NoSync {
		err = f.Sync()
	}
	if err := errors.Join(err, f.Close()); err != nil {
		return errors.Join(err, root.Remove(name))
	}
	return nil
}
