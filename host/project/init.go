package project

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"os"

	"github.com/switchyard-dev/switchyard/host/fault"
)

// CodeInitExists: there is a switchyard.yaml already, and it is another one than
// would be written.
const CodeInitExists fault.Code = "init-exists"

// ignoreFile keeps the state out of version control, itself included.
const (
	ignoreFile = StateDir + "/.gitignore"
	ignoreText = "*\n"
)

// Init makes the folder dir a project's root, wherever the root of a folder above
// it may be: it creates switchyard.yaml, with every key that s leaves out as a
// comment, and .switchyard/.gitignore. It returns the paths of the files that it
// created, relative to dir.
//
// It replaces nothing, and it can be repeated: who was stopped half-way, or whose
// clone lacks the state, gets what is missing, and where nothing is, nothing
// happens. Each file is there as a whole or not at all.
//
// # Errors
//
// CodeInitExists where a switchyard.yaml of another content would have to say what s
// says. CodeConfig where s is no valid
// configuration, and CodeUnwritable. What was created before an error is returned
// with it.
func Init(ctx context.Context, dir string, s Settings) (created []string, err error) {
	text := []byte(s.template())
	if _, err := parseConfig(text, max(s.MaxRounds, 1)); err != nil {
		return nil, err
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, unwritable(dir, err)
	}
	defer root.Close()
	state, err := compare(ctx, root, dir, text)
	if err != nil {
		return nil, err
	}
	if state == another && !s.none() {
		return nil, initExists()
	}
	switch made, err := makeIgnored(root); {
	case err != nil:
		return nil, err
	case made:
		created = append(created, ignoreFile)
	}
	if state != missing {
		return created, nil
	}
	// The draft is best kept where a killed process's leftovers are ignored.
	switch err := create(root, StateDir, ConfigFile, text); {
	case errors.Is(err, fs.ErrExist):
		// Somebody was faster; what they wrote decides.
		state, err := compare(ctx, root, dir, text)
		if err == nil && state == another {
			err = initExists()
		}
		return created, err
	case err != nil:
		return created, unwritable(ConfigFile, err)
	}
	return append(created, ConfigFile), nil
}

// presence says what is there of a file.
type presence int

const (
	missing presence = iota
	same
	another
)

// compare looks whether switchyard.yaml is there and says text.
func compare(ctx context.Context, root *os.Root, dir string, text []byte) (presence, error) {
	if _, err := root.Lstat(ConfigFile); errors.Is(err, fs.ErrNotExist) {
		return missing, nil
	} else if err != nil {
		return 0, unwritable(ConfigFile, err)
	}
	data, err := Project{Root: dir, Dir: dir}.Read(ctx, ConfigFile, maxConfig)
	switch {
	case ctx.Err() != nil:
		return 0, context.Cause(ctx)
	case err == nil && bytes.Equal(data, text):
		return same, nil
	}
	return another, nil // A link, a folder, or what cannot be read is so, too.
}

// makeIgnored creates the folder of the state and its .gitignore, and reports
// whether it did.
func makeIgnored(root *os.Root) (bool, error) {
	err := root.Mkdir(StateDir, 0o700)
	if err == nil {
		err = flushFolder(root, ".")
	}
	if err != nil && !errors.Is(err, fs.ErrExist) {
		return false, unwritable(StateDir, err)
	}
	// The ledger refuses a link in its place, so it must not be filled here.
	if info, err := root.Lstat(StateDir); err != nil {
		return false, unwritable(StateDir, err)
	} else if !info.IsDir() {
		return false, unwritable(StateDir, errors.New("not a folder"))
	}
	if _, err := root.Lstat(ignoreFile); err == nil {
		return false, nil
	}
	err = create(root, StateDir, ignoreFile, []byte(ignoreText))
	if errors.Is(err, fs.ErrExist) {
		return false, nil
	}
	if err != nil {
		return false, unwritable(ignoreFile, err)
	}
	return true, nil
}

func initExists() error {
	return fault.New(CodeInitExists, "%s exists already", ConfigFile).With("path", ConfigFile)
}
