package lease

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"time"

	"github.com/switchyard-dev/switchyard/internal/safefile"
)

// sweepGrace is how long what a dead holder left may take to end after a soft
// signal.
const sweepGrace = 2 * time.Second

// privatePrefix begins the names of private folders, and a number ends them. Other
// names may begin like that, as those of somebody's own copies of a repository.
const privatePrefix = "switchyard-"

// PrivateName is the name that a spawn's private folder must have, for Recover to
// remove it; number is one that nobody can guess.
func PrivateName(number uint64) string { return privatePrefix + strconv.FormatUint(number, 10) }

// Recover cleans up after every dead holder and returns the records of those. A
// slot that somebody holds is left alone.
//
// # Errors
//
// spawn-slot-unusable and those of the sweeper, joined. Where one slot fails the others
// are recovered all the same. A private folder that does not look like one of ours
// is left where it is and named in the error; its record is in the result.
func (r *Pool) Recover(ctx context.Context) ([]Record, error) {
	root, err := r.open()
	if err != nil {
		return nil, err
	}
	defer root.Close()
	files, err := fs.ReadDir(root.FS(), ".")
	if err != nil {
		return nil, unusable("", err)
	}
	slots := regexp.MustCompile(`^(slot\.[A-Za-z0-9_-]{1,128}\.[0-9]{1,2})\.(?:json|new)$`)
	var found []Record
	var failed []error
	for _, file := range files {
		match := slots.FindStringSubmatch(file.Name())
		if match == nil || ctx.Err() != nil {
			continue
		}
		record, err := r.recoverSlot(ctx, root, match[1])
		failed = append(failed, err)
		if record != nil {
			found = append(found, *record)
		}
	}
	return found, errors.Join(append(failed, context.Cause(ctx))...)
}

// recoverSlot cleans up one slot, unless somebody holds it.
func (r *Pool) recoverSlot(ctx context.Context, root *os.Root, name string) (*Record, error) {
	lock, err := lockFile(root, name)
	if err != nil || lock == nil {
		return nil, err
	}
	record, err := r.cleanUp(ctx, root, name)
	return record, errors.Join(err, unlock(root, name, lock))
}

// cleanUp ends what the last holder of a slot that we have locked left, and returns
// its record, nil where it left none.
func (r *Pool) cleanUp(ctx context.Context, root *os.Root, name string) (*Record, error) {
	record, err := read(root, name)
	if err != nil {
		return nil, err
	}
	if record == nil {
		return nil, remove(root, name) // A draft may be left.
	}
	left := record.Process
	path, foreign := r.privatePath(left.Folder)
	left.Folder = path
	// The record stays until nobody is left, so that who comes next tries again.
	if _, err := r.sweeper.Sweep(ctx, left, sweepGrace); err != nil {
		return nil, fmt.Errorf("end what run %s left: %w", record.Run, err)
	}
	kept := errors.Join(foreign, removePrivate(path))
	// What cannot be removed is told of once, and does not keep the slot from others.
	if err := remove(root, name); err != nil {
		return nil, errors.Join(err, kept)
	}
	if kept != nil {
		return record, unusable("", fmt.Errorf("the folder of run %s was left where it is: %w", record.Run, kept))
	}
	return record, nil
}

// privatePath is the path, without symbolic links, of a private folder that a record
// names, "" for none. A record may have come with a repository, so that only what
// can be one of ours counts: right below temp, under a name as ours have.
// Nobody is ended for working anywhere else.
func (r *Pool) privatePath(path string) (string, error) {
	if path == "" {
		return "", nil
	}
	// The folder for temporary files may itself be behind a link, and a record may
	// have either of its names.
	temp, err := filepath.EvalSymlinks(r.temp)
	if err != nil {
		return "", err
	}
	parent, name := filepath.Split(filepath.Clean(path))
	if parent = filepath.Clean(parent); parent != temp && parent != filepath.Clean(r.temp) {
		return "", errors.New("it is not in the folder for temporary files")
	}
	if !regexp.MustCompile(`^` + privatePrefix + `[0-9]+$`).MatchString(name) {
		return "", errors.New("its name is none of ours")
	}
	return filepath.Join(temp, name), nil
}

// removePrivate removes a private folder, if it is one and belongs to our user.
func removePrivate(path string) error {
	if path == "" {
		return nil
	}
	temp, name := filepath.Split(path)
	root, err := os.OpenRoot(temp)
	if err != nil {
		return err
	}
	defer root.Close()
	info, err := root.Lstat(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return err
	case !info.IsDir():
		return errors.New("it is no folder")
	case !safefile.OwnedByUser(info):
		return errors.New("it belongs to somebody else")
	}
	return safefile.RemoveAll(root, name)
}
