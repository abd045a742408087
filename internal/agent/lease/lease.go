// Package lease limits the number of an agent's spawns in a project, over all processes
// of this program, and cleans up after processes that were killed.
//
// A lease is a locked file in a directory below the project's state directory. The
// operating system releases the lock when its process ends, so no ages or process numbers
// are compared. Children do not inherit the lock.
//
//	slot.critic.0       the lock, empty; removed when released
//	slot.critic.0.json  the record of the spawn that runs; removed when it has ended
//	slot.critic.0.new   a record that is being written
//
// The record is written first: the holder records the private directory that it will make and
// the marker that its process will have, and later the process. So if a holder is killed,
// there is a record of everything that remains. If a lock is free and its record exists, the
// holder is dead: its processes are ended, and its private directory and then the record are
// removed.
package lease

import (
	"cmp"
	"context"
	"errors"
	"os"
	"regexp"
	"sync"
	"time"

	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/retry"
	"github.com/switchyard-dev/switchyard/internal/safefile"
	"github.com/switchyard-dev/switchyard/internal/supervise"
)

// Folder is the directory of a project's pool below its state directory.
const Folder = "run"

// MaxLimit is the largest number of leases of an agent.
const MaxLimit = 100

// Sweeper ends the remaining processes after their supervisor was killed; see
// supervise.Supervisor.
type Sweeper interface {
	Sweep(ctx context.Context, id supervise.Identity, grace time.Duration) (swept int, err error)
}

// Pool has the leases of a project. It is safe for concurrent use.
type Pool struct {
	dir, temp string
	sweeper   Sweeper
}

// Open returns the pool in the directory dir, and creates dir, for its owner only, if it does
// not exist; its parent must exist. temp is the directory of the private directories. Nothing
// outside of it is removed.
//
// # Errors
//
// spawn-slot-unusable, also if dir is a symbolic link.
func Open(dir, temp string, s Sweeper) (*Pool, error) {
	p := &Pool{dir: dir, temp: temp, sweeper: s}
	root, err := p.open()
	if err != nil {
		return nil, err
	}
	return p, root.Close()
}

// Record describes the spawn that holds a lease.
type Record struct {
	// Process is the agent's process, without a PID before it is started. Its Folder is the
	// private directory, directly below the pool's temp.
	Process supervise.Identity `json:"process"`
	// Run identifies the spawn. Task is "" for a spawn without a task.
	Run  string `json:"run"`
	Task string `json:"task,omitempty"`
	// Began is in RFC 3339.
	Began string `json:"began"`
}

// Lease is held until it is released. It is safe for concurrent use.
type Lease struct {
	mu   sync.Mutex
	root *os.Root // nil after Release
	lock *safefile.Lock
	name string
}

// Forever is the wait of a Take that ends only with its context.
const Forever time.Duration = -1

// Take takes one of limit leases of an agent, and first cleans up after a dead holder of it.
// If all are held, it retries until wait, which may be Forever, has passed. The caller must
// release the lease. If callers use different limits, the largest one applies.
//
// # Errors
//
// spawn-locked, and spawn-slot-unusable, also for an invalid name or limit. If ctx is done,
// the error wraps its cause, and is spawn-locked if Take had to wait.
func (p *Pool) Take(ctx context.Context, agent string, limit int, wait time.Duration) (*Lease, error) {
	switch {
	case !regexp.MustCompile(`^[A-Za-z0-9_-]{1,128}$`).MatchString(agent):
		return nil, errs.New(errs.SpawnSlotUnusable, "%.200q is not a name of an agent: 1 to 128 letters, digits, _ and -", agent)
	case limit < 1 || limit > MaxLimit:
		return nil, errs.New(errs.SpawnSlotUnusable, "%d is not a number of slots: 1 to %d", limit, MaxLimit)
	case ctx.Err() != nil:
		return nil, context.Cause(ctx)
	}
	waiting := ctx // On a busy machine, even a try may take longer than the wait.
	if wait != Forever {
		limited, cancel := context.WithTimeout(ctx, wait)
		defer cancel()
		waiting = limited
	}
	var err error
	for range (retry.Backoff{First: 20 * time.Millisecond, Max: 250 * time.Millisecond}).Attempts(waiting) {
		var l *Lease
		if l, err = p.tryAll(ctx, agent, limit); wait == 0 || errs.CodeOf(err) != errs.SpawnLocked {
			return l, err
		}
	}
	locked, _ := errors.AsType[*errs.Error](err)
	return nil, locked.Because(cmp.Or(context.Cause(ctx), context.DeadlineExceeded))
}

func (p *Pool) tryAll(ctx context.Context, agent string, limit int) (*Lease, error) {
	root, err := p.open()
	if err != nil {
		return nil, err
	}
	var pids []int
	for n := range limit {
		name := slotName(agent, n)
		lock, err := lockSlot(root, name)
		switch {
		case err != nil:
		case lock == nil:
			if record, err := read(root, name); err == nil && record != nil && record.Process.PID != 0 {
				pids = append(pids, record.Process.PID)
			}
			continue
		default:
			if _, err = p.cleanUp(ctx, root, name); err == nil {
				return &Lease{root: root, lock: lock, name: name}, nil
			}
			err = errors.Join(err, lock.Release())
		}
		return nil, errors.Join(err, root.Close())
	}
	locked := errs.New(errs.SpawnLocked, "%d of at most %d spawns of the agent %s run in this project", limit, limit, agent)
	return nil, errors.Join(locked.With("agent", agent).With("limit", limit).With("pids", pids), root.Close())
}

// Record replaces the record. The record survives our death. It survives a power loss only if
// the process is running; otherwise a power loss leaves at most a temporary directory. After
// an error, the old or the new record is there, complete.
//
// # Errors
//
// spawn-slot-unusable, also for a released lease.
func (l *Lease) Record(rec Record) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.root == nil {
		return unusable(l.name, errors.New("the slot was released"))
	}
	return write(l.root, l.name, rec)
}

// Release removes the record and releases the lease, even if the former fails. Calling it
// again has no effect.
//
// # Errors
//
// spawn-slot-unusable if the record could not be removed. The next holder removes it.
func (l *Lease) Release() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.root == nil {
		return nil
	}
	err := errors.Join(remove(l.root, l.name), l.lock.Release(), l.root.Close())
	l.root = nil
	return err
}
