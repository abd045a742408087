package lease

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/go-json-experiment/json"

	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/filelock"
	"github.com/switchyard-dev/switchyard/internal/safefile"
)

// maxRecord is the largest record, in bytes.
const maxRecord = 64 << 10

var errReleased = errors.New("the slot was released")

// slotName is the name of an agent's n-th slot. An agent's name has no dots, and
// the word in front keeps it from being one that Windows gives a meaning to.
func slotName(agent string, n int) string { return fmt.Sprintf("slot.%s.%d", agent, n) }

// recordName and draftName are the files of a slot's record: the one that counts,
// and the one that is being written.
func recordName(slot string) string { return slot + ".json" }
func draftName(slot string) string  { return slot + ".new" }

// open opens the rack's folder, and makes it where there is none. The folder is
// opened anew for every use: a rack may wait for long, and its project be moved
// meanwhile.
func (r *Pool) open() (*os.Root, error) {
	root, err := safefile.MakeDir(r.dir)
	if err != nil {
		return nil, unusable("", err)
	}
	return root, nil
}

// lockFile locks a slot, and returns nil where somebody else has it. Who gets it
// lets it go with abandon.
func lockFile(root *os.Root, slot string) (*os.File, error) {
	for {
		lock, gone, err := tryLock(root, slot)
		if err != nil {
			return nil, unusable(slot, err)
		}
		if !gone {
			return lock, nil
		}
	}
}

// tryLock locks a slot's file, unless somebody else has. A file that lost its name
// meanwhile is no lock: its holder has let the slot go, and the next one makes
// another.
func tryLock(root *os.Root, slot string) (lock *os.File, gone bool, err error) {
	f, err := root.OpenFile(slot, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, fs.ErrExist) {
		f, err = safefile.OpenFile(root, slot, os.O_RDWR)
	}
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, safefile.ErrReplaced) {
		return nil, true, nil
	}
	if err != nil {
		return nil, false, err
	}
	got, err := filelock.Try(f)
	if err != nil || !got {
		return nil, false, errors.Join(err, f.Close())
	}
	named, err := root.Lstat(slot)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, true, f.Close()
	}
	held, wrong := f.Stat()
	if err := errors.Join(err, wrong); err != nil {
		return nil, false, errors.Join(err, f.Close())
	}
	if !os.SameFile(named, held) {
		return nil, true, f.Close()
	}
	return f, false, nil
}

// unlock lets a slot go. Its file goes with it, so that a project does not collect
// one for each task; on systems that keep files which are open, it stays.
func unlock(root *os.Root, slot string, lock *os.File) error {
	_ = root.Remove(slot)
	return lock.Close()
}

// read returns a slot's record, nil where it has none. What a loss of power makes of
// one that had not reached the disk, nothing or zeros, is none either: it would name
// processes that ended then.
func read(root *os.Root, slot string) (*Record, error) {
	name := recordName(slot)
	f, err := safefile.OpenFile(root, name, os.O_RDONLY)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, unusable(name, err)
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxRecord+1))
	if err != nil {
		return nil, unusable(name, err)
	}
	if len(data) <= maxRecord && len(bytes.Trim(data, "\x00")) == 0 {
		return nil, nil
	}
	record, err := decode(data)
	if err != nil {
		return nil, unusable(name, err)
	}
	return &record, nil
}

// decode reads a record. What we did not write is refused: it would name
// processes to end.
func decode(data []byte) (Record, error) {
	if len(data) > maxRecord {
		return Record{}, errors.New("larger than any record")
	}
	var record Record
	if err := json.Unmarshal(data, &record, json.RejectUnknownMembers(true)); err != nil {
		return Record{}, fmt.Errorf("not a record: %w", err)
	}
	if record.Process.PID < 0 || record.Process.PID == 1 || record.Run == "" {
		return Record{}, errors.New("not a record: it names no process that could be ours, or no run")
	}
	return record, nil
}

// write replaces a slot's record; noSync is as in safefile.Options.
func write(root *os.Root, slot string, record Record, noSync bool) error {
	data, err := json.Marshal(record)
	if err == nil {
		_, err = decode(data) // What cannot be read again would be no record.
	}
	if err == nil {
		// Nobody else writes it: the slot is held.
		err = safefile.ReplaceWith(root, recordName(slot), bytes.NewReader(data), safefile.Options{Mode: 0o600, NoSync: noSync, Temp: draftName(slot)})
	}
	if err != nil {
		return unusable(recordName(slot), err)
	}
	return nil
}

// remove removes a slot's record and what is left of one. It need not be durable:
// a record that comes back names processes that a loss of power has ended.
func remove(root *os.Root, slot string) error {
	for _, name := range []string{draftName(slot), recordName(slot)} {
		if err := root.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return unusable(name, err)
		}
	}
	return nil
}

// unusable gives an error its code and names the file, "" for the folder itself.
func unusable(name string, err error) error {
	if name == "" {
		return errs.New(errs.SpawnSlotUnusable, "the folder of the slots cannot be used: %w", safefile.Reason(err))
	}
	return errs.New(errs.SpawnSlotUnusable, "%s in the folder of the slots cannot be used: %w", name, safefile.Reason(err)).With("path", name)
}
