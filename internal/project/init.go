package project

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"io/fs"
	"maps"
	"os"
	"path"
	"slices"

	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/safefile"
)

const ignoreFile = StateDir + "/" + safefile.IgnoreFile

// Init makes the directory dir a project's root, even if a directory above it is a root: it
// creates switchyard.yaml, in which every key that s does not set is a comment,
// .switchyard/.gitignore, and files. Their keys are paths relative to dir, with slashes
// and in one directory below .switchyard. It returns the paths of the files that it created.
//
// It does not replace files and can be repeated: it creates the files that are missing
// after an interruption or in a clone. Each file is created atomically.
//
// # Errors
//
// init-exists if switchyard.yaml exists with other content and s sets something;
// config-invalid if s is not a valid configuration; and file-unwritable. Files created
// before an error are returned with it.
func Init(ctx context.Context, dir string, s Settings, files map[string][]byte) (created []string, err error) {
	template, err := s.template()
	if err != nil {
		return nil, err
	}
	text := []byte(template)
	_, r, err := parseConfig(text, max(s.MaxRounds, 1))
	if err = cmp.Or(err, r.err()); err != nil {
		return nil, err
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, unwritable(dir, err)
	}
	defer root.Close()
	exists, same, err := compare(ctx, root, dir, text)
	if err != nil {
		return nil, err
	}
	if exists && !same && s.String() != "" {
		return nil, initExists()
	}
	made, err := makeState(root)
	if err != nil {
		return nil, unwritable(StateDir, err)
	}
	if made {
		created = append(created, ignoreFile)
	}
	for _, name := range slices.Sorted(maps.Keys(files)) {
		// This rejects links: the ledger does not accept a link as its directory, and the files
		// of another directory must not become part of this project.
		folder, err := safefile.MakeDirIn(root, path.Dir(name))
		if err == nil {
			err = folder.Close()
		}
		if err != nil {
			return created, unwritable(path.Dir(name), err)
		}
		switch made, err := makeFile(root, name, files[name]); {
		case err != nil:
			return created, err
		case made:
			created = append(created, name)
		}
	}
	if exists {
		return created, nil
	}
	// The configuration comes last: if it exists, all other files were created.
	made, err = makeFile(root, ConfigFile, text)
	if err == nil && !made {
		// Another process was faster; its file decides.
		if _, same, err = compare(ctx, root, dir, text); err == nil && !same {
			err = initExists()
		}
	}
	if made {
		created = append(created, ConfigFile)
	}
	return created, err
}

// compare reports whether switchyard.yaml exists, and whether it is a readable file with
// the given text.
func compare(ctx context.Context, root *os.Root, dir string, text []byte) (exists, same bool, err error) {
	if _, err := root.Lstat(ConfigFile); errors.Is(err, fs.ErrNotExist) {
		return false, false, nil
	} else if err != nil {
		return false, false, unwritable(ConfigFile, err)
	}
	data, err := Project{Root: dir, Dir: dir}.Read(ctx, ConfigFile, maxConfig)
	if ctx.Err() != nil {
		return false, false, context.Cause(ctx)
	}
	return true, err == nil && bytes.Equal(data, text), nil
}

// makeState creates the state directory, and reports whether it created the .gitignore.
func makeState(root *os.Root) (bool, error) {
	state, err := safefile.MakeDirIn(root, StateDir)
	if err != nil {
		return false, err
	}
	defer state.Close()
	if err := safefile.MakePrivate(state); err != nil {
		return false, err
	}
	return safefile.WriteIgnoreFile(state)
}

// makeFile creates a file if it does not exist, and reports whether it did.
func makeFile(root *os.Root, name string, data []byte) (bool, error) {
	if _, err := root.Lstat(name); err == nil {
		return false, nil
	}
	// The temporary file is in a directory in which git ignores the files of a killed process.
	err := safefile.Create(root, StateDir, name, data, newFile)
	if errors.Is(err, fs.ErrExist) {
		return false, nil
	}
	if err != nil {
		return false, unwritable(name, err)
	}
	return true, nil
}

func initExists() error {
	return errs.New(errs.InitExists, "%s exists already", ConfigFile).With("path", ConfigFile)
}

// newFile is the mode of a file that people edit and share, before the umask.
const newFile = 0o644

// unwritable returns a coded error for a file system error, without the names of
// temporary files.
func unwritable(name string, err error) *errs.Error {
	return errs.New(errs.FileUnwritable, "%s: %w", name, safefile.Reason(err)).With("path", name)
}
