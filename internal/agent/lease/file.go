package lease

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/go-json-experiment/json"

	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/safefile"
)

// maxRecord is the size of the largest record in bytes.
const maxRecord = 64 << 10

// slotName is the name of an agent's n-th slot. The prefix avoids names that are reserved
// on Windows.
func slotName(agent string, n int) string { return fmt.Sprintf("slot.%s.%d", agent, n) }

func recordName(slot string) string { return slot + ".json" }
func draftName(slot string) string  { return slot + ".new" }

// open opens the pool's directory, and creates it if necessary. It is opened for every
// use, since the project may be moved while a caller waits.
func (p *Pool) open() (*os.Root, error) {
	root, err := safefile.MakeDir(p.dir)
	if err != nil {
		return nil, unusable("", err)
	}
	return root, nil
}

// lockSlot locks a slot. It returns nil if another holder has the lock.
func lockSlot(root *os.Root, slot string) (*safefile.Lock, error) {
	lock, err := safefile.TryLock(root, slot)
	if err != nil {
		return nil, unusable(slot, err)
	}
	return lock, nil
}

// read returns a slot's record, or nil. A power loss may leave an empty file or zeros, which
// are ignored, since the power loss ended the processes too.
func read(root *os.Root, slot string) (*Record, error) {
	name := recordName(slot)
	data, err := safefile.ReadFile(root, name, maxRecord)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case err != nil:
		return nil, unusable(name, err)
	case len(bytes.Trim(data, "\x00")) == 0:
		return nil, nil
	}
	record, err := decode(data)
	if err != nil {
		return nil, unusable(name, err)
	}
	return &record, nil
}

// decode parses a record strictly, because the processes that it names will be ended.
func decode(data []byte) (Record, error) {
	var record Record
	if err := json.Unmarshal(data, &record, json.RejectUnknownMembers(true)); err != nil {
		return Record{}, fmt.Errorf("not a record: %w", err)
	}
	if record.Process.PID < 0 || record.Process.PID == 1 || record.Run == "" {
		return Record{}, errors.New("not a record: it names no process that could be ours, or no run")
	}
	return record, nil
}

func write(root *os.Root, slot string, record Record) error {
	data, err := json.Marshal(record)
	if err == nil {
		_, err = decode(data)
	}
	if err == nil && len(data) > maxRecord {
		err = safefile.TooLargeError{Limit: maxRecord}
	}
	if err == nil {
		err = safefile.ReplaceWith(root, recordName(slot), bytes.NewReader(data), safefile.Options{Mode: 0o600, NoSync: record.Process.PID == 0, Temp: draftName(slot)})
	}
	if err != nil {
		return unusable(recordName(slot), err)
	}
	return nil
}

// remove removes a slot's record. This need not be durable: after a power loss, the processes
// of a record that reappears have ended.
func remove(root *os.Root, slot string) error {
	for _, name := range []string{draftName(slot), recordName(slot)} {
		if err := root.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return unusable(name, err)
		}
	}
	return nil
}

// unusable returns err with its code and the name of the file, "" for the directory.
func unusable(name string, err error) error {
	if name == "" {
		return errs.New(errs.SpawnSlotUnusable, "the directory of the slots cannot be used: %w", safefile.Reason(err))
	}
	return errs.New(errs.SpawnSlotUnusable, "%s in the directory of the slots cannot be used: %w", name, safefile.Reason(err)).With("path", name)
}
