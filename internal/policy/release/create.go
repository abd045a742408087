package release

import (
	"errors"
	"io/fs"
	"os"
	"path"
	"slices"

	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/safefile"
)

// create writes all of the files or none. It fails if one exists already, and creates
// missing folders.
func create(root *os.Root, files []file) (err error) {
	var made []string
	defer func() {
		if err == nil {
			return
		}
		for _, name := range slices.Backward(made) {
			_ = root.Remove(name) // If this fails, the error below still reports the first cause.
		}
	}()
	for _, f := range files {
		dirs, err := mkdirs(root, path.Dir(f.name))
		made = append(made, dirs...)
		if err == nil {
			err = safefile.Create(root, path.Dir(f.name), f.name, f.data, 0o644)
		}
		switch {
		case errors.Is(err, fs.ErrExist):
			return errs.New(errs.PolicyVersionExists, "%s is there already", f.name).With("path", f.name)
		case err != nil:
			return unwritable(f.name, err)
		}
		made = append(made, f.name)
	}
	return nil
}

// mkdirs creates a folder with its parents, and returns those that did not exist.
func mkdirs(root *os.Root, name string) ([]string, error) {
	if name == "." {
		return nil, nil
	}
	made, err := mkdirs(root, path.Dir(name))
	if err != nil {
		return made, err
	}
	switch err := root.Mkdir(name, 0o755); {
	case err == nil:
		return append(made, name), safefile.SyncDir(root, path.Dir(name))
	case errors.Is(err, fs.ErrExist):
		return made, nil
	default:
		return made, err
	}
}

func unwritable(name string, err error) error {
	return errs.New(errs.PolicyTreeUnwritable, "%s cannot be written: %w", name, safefile.Reason(err)).With("path", name)
}
