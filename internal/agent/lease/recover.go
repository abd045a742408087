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

// sweepGrace is the time between SIGTERM and SIGKILL for processes of a dead holder.
const sweepGrace = 2 * time.Second

// privatePrefix and a number are the name of a private directory. Other directories, such as a
// user's clones, may begin with it too.
const privatePrefix = "switchyard-"

// PrivateName returns the name that a spawn's private directory must have for Recover to
// remove it. number must be random.
func PrivateName(number uint64) string { return privatePrefix + strconv.FormatUint(number, 10) }

// Recover cleans up after every dead holder and returns their records. It skips leases that
// are held.
//
// # Errors
//
// spawn-slot-unusable and errors from the sweeper, joined; the other leases are recovered
// anyway. A private directory that does not look like ours is not removed, and is an error;
// its record is in the result.
func (p *Pool) Recover(ctx context.Context) ([]Record, error) {
	root, err := p.open()
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
		record, err := p.recoverSlot(ctx, root, match[1])
		failed = append(failed, err)
		if record != nil {
			found = append(found, *record)
		}
	}
	return found, errors.Join(append(failed, context.Cause(ctx))...)
}

// recoverSlot cleans up one slot unless it is held.
func (p *Pool) recoverSlot(ctx context.Context, root *os.Root, name string) (*Record, error) {
	lock, err := lockSlot(root, name)
	if err != nil || lock == nil {
		return nil, err
	}
	record, err := p.cleanUp(ctx, root, name)
	return record, errors.Join(err, lock.Release())
}

// cleanUp ends the processes and removes the files of the last holder of a slot, which we have
// locked. It returns the holder's record, or nil.
func (p *Pool) cleanUp(ctx context.Context, root *os.Root, name string) (*Record, error) {
	record, err := read(root, name)
	if err != nil {
		return nil, err
	}
	if record == nil {
		return nil, remove(root, name)
	}
	left := record.Process
	path, foreign := p.privatePath(left.Folder)
	left.Folder = path
	// The record stays until all processes have ended, so that the next caller tries again.
	if _, err := p.sweeper.Sweep(ctx, left, sweepGrace); err != nil {
		return nil, fmt.Errorf("end what run %s left: %w", record.Run, err)
	}
	stored := errors.Join(foreign, removePrivate(path))
	// A directory that cannot be removed is reported once, and does not block the slot.
	if err := remove(root, name); err != nil {
		return nil, errors.Join(err, stored)
	}
	if stored != nil {
		return record, unusable("", fmt.Errorf("the directory of run %s was left where it is: %w", record.Run, stored))
	}
	return record, nil
}

// privatePath returns the path, without symbolic links, of a record's private directory, or
// "". A record may come with a repository. So the directory must be a direct child of temp
// with a name like ours, since processes that work there are ended.
func (p *Pool) privatePath(path string) (string, error) {
	if path == "" {
		return "", nil
	}
	// The temporary directory may be behind a link, and a record may have either path.
	temp, err := filepath.EvalSymlinks(p.temp)
	if err != nil {
		return "", err
	}
	parent, name := filepath.Split(filepath.Clean(path))
	if parent = filepath.Clean(parent); parent != temp && parent != filepath.Clean(p.temp) {
		return "", errors.New("it is not in the directory for temporary files")
	}
	if !regexp.MustCompile(`^` + privatePrefix + `[0-9]+$`).MatchString(name) {
		return "", errors.New("its name is not one of ours")
	}
	return filepath.Join(temp, name), nil
}

// removePrivate removes a private directory if it belongs to our user.
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
		return errors.New("it is not a directory")
	case !safefile.OwnedByUser(info):
		return errors.New("it belongs to another user")
	}
	return safefile.RemoveAll(root, name)
}
