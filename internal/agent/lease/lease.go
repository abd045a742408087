// Package lease keeps the number of an agent's spawns in a project small, over all
// processes of this program, and knows who runs, so that the next start can clean
// up after one that was killed.
//
// A slot is a file below the project's state folder that its holder has locked.
// The lock is the operating system's: it goes when its process goes, however that
// ends. So nothing here compares ages or guesses whether a process number is still
// the one it was. A child does not inherit the lock, since the file is closed when
// another program is executed.
//
//	slot.critic.0       the lock, empty; gone when nobody holds it
//	slot.critic.0.json  the record of the spawn that runs; gone when it has ended
//	slot.critic.0.new   a record that is being written
//
// The record is there before anything that it speaks of: first the holder announces
// the private folder that it will make and the mark that its process will have, and
// then, once that runs, it records which one it is. So whenever a holder is killed,
// nothing is left that no record leads to. A record whose slot nobody has locked is
// that of a dead holder: its processes are ended, its private folder is removed, and
// then the record.
package lease

import (
	"context"
	"errors"
	"math/rand/v2"
	"os"
	"regexp"
	"sync"
	"time"

	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/supervise"
)

// MaxLimit is how many slots an agent may have.
const MaxLimit = 100

// While somebody waits for a slot, it is tried in steps that double between these
// two, and vary.
const (
	minPause = 10 * time.Millisecond
	maxPause = 250 * time.Millisecond
)

// Sweeper ends what is left of a process whose keeper was killed. It is a
// supervise.Supervisor.
type Sweeper interface {
	Sweep(ctx context.Context, id supervise.Identity, grace time.Duration) (swept int, err error)
}

// Pool is the slots of a project. It is safe for concurrent use.
type Pool struct {
	dir, temp string
	sweeper   Sweeper
}

// Open returns the rack in the folder dir, and makes the folder, for us alone,
// where there is none; the folder that it lies in must be there. temp is the
// folder that private folders lie in, the only one of which any is removed, and s
// ends what a dead holder left.
//
// # Errors
//
// spawn-slot-unusable, also where dir is a symbolic link.
func Open(dir, temp string, s Sweeper) (*Pool, error) {
	r := &Pool{dir: dir, temp: temp, sweeper: s}
	root, err := r.open()
	if err != nil {
		return nil, err
	}
	return r, root.Close()
}

// RecordProcess says who runs in a slot.
type Record struct {
	// Process is the agent's process, which has no number as long as it is only
	// announced. Its folder is the spawn's private one, right below the rack's temp.
	Process supervise.Identity `json:"process"`
	// Run identifies the spawn, and Task is the task that it runs for, "" for none.
	Run  string `json:"run"`
	Task string `json:"task,omitempty"`
	// Began is when, in RFC 3339.
	Began string `json:"began"`
}

// Lease is a slot that is held. It is safe for concurrent use.
type Lease struct {
	mu   sync.Mutex
	root *os.Root // nil once it was released
	lock *os.File
	name string
}

// Take takes one of the agent's slots, of which there are limit. What a dead
// holder left in it is cleaned up first. Where none is free and wait is set, Take
// tries again until ctx is done. The caller must release the slot.
//
// Who takes slots of one agent under different limits never makes more than the
// largest of them.
//
// # Errors
//
// spawn-locked, and spawn-slot-unusable also for what is no name of an agent or no limit.
// When ctx is done, the error wraps its cause, and spawn-locked where it had to wait.
func (r *Pool) Take(ctx context.Context, agent string, limit int, wait bool) (*Lease, error) {
	switch {
	case !regexp.MustCompile(`^[A-Za-z0-9_-]{1,128}$`).MatchString(agent):
		return nil, errs.New(errs.SpawnSlotUnusable, "%.200q is no name of an agent: 1 to 128 letters, digits, _ and -", agent)
	case limit < 1 || limit > MaxLimit:
		return nil, errs.New(errs.SpawnSlotUnusable, "%d is no number of slots: 1 to %d", limit, MaxLimit)
	case ctx.Err() != nil:
		return nil, context.Cause(ctx)
	}
	for pause := minPause; ; pause = min(2*pause, maxPause) {
		slot, err := r.tryAll(ctx, agent, limit)
		if !wait || errs.CodeOf(err) != errs.SpawnLocked {
			return slot, err
		}
		select {
		case <-ctx.Done():
			taken, _ := errors.AsType[*errs.Error](err)
			return nil, taken.Because(context.Cause(ctx))
		case <-time.After(pause/2 + rand.N(pause)):
		}
	}
}

// tryLock looks at each slot once.
func (r *Pool) tryAll(ctx context.Context, agent string, limit int) (*Lease, error) {
	root, err := r.open()
	if err != nil {
		return nil, err
	}
	var pids []int
	for n := range limit {
		name := slotName(agent, n)
		lock, err := lockFile(root, name)
		if err == nil && lock == nil {
			if record, err := read(root, name); err == nil && record != nil && record.Process.PID != 0 {
				pids = append(pids, record.Process.PID)
			}
			continue
		}
		if err == nil {
			if _, err = r.cleanUp(ctx, root, name); err == nil {
				return &Lease{root: root, lock: lock, name: name}, nil
			}
			err = errors.Join(err, unlock(root, name, lock))
		}
		return nil, errors.Join(err, root.Close())
	}
	taken := errs.New(errs.SpawnLocked, "%d of at most %d spawns of the agent %s run in this project", limit, limit, agent)
	return nil, errors.Join(taken.With("agent", agent).With("limit", limit).With("pids", pids), root.Close())
}

// RecordIntent writes down who is about to run in the slot, instead of what was written
// before. When it returns without an error, the record survives us, though no loss
// of power: that ends whom it names as well, and at worst leaves a folder among the
// temporary ones. So it costs little. On an error one of the two stands, whole.
//
// # Errors
//
// spawn-slot-unusable, also for a slot that was released.
func (s *Lease) RecordIntent(rec Record) error { return s.write(rec, true) }

// RecordProcess is Announce for who runs. When it returns without an error, the record
// survives a loss of power, too.
//
// # Errors
//
// Those of Announce.
func (s *Lease) RecordProcess(rec Record) error { return s.write(rec, false) }

func (s *Lease) write(rec Record, noSync bool) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.root == nil {
		return unusable(s.name, errReleased)
	}
	return write(s.root, s.name, rec, noSync)
}

// Release removes the record and lets the slot go, the latter also on an error.
// Only its first call does anything.
//
// # Errors
//
// spawn-slot-unusable where the record is still there. Whoever takes the slot next finds
// its processes ended and removes it.
func (s *Lease) Release() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.root == nil {
		return nil
	}
	err := remove(s.root, s.name)
	err = errors.Join(err, unlock(s.root, s.name, s.lock), s.root.Close())
	s.root = nil
	return err
}
