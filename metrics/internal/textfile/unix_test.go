//go:build unix

package textfile_test

import (
	"errors"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/switchyard-dev/switchyard/internal/errs"
)

// hold locks a lock as another process would.
func hold(t *testing.T, draft string) (release func()) {
	t.Helper()
	f, err := os.Create(draft)
	if err != nil {
		t.Fatal(err)
	}
	if err := unix.Flock(int(f.Fd()), unix.LOCK_EX); err != nil {
		t.Fatal(err)
	}
	return func() { f.Close() }
}

// TestOthersMayRead checks the mode of the file under a strict umask: node_exporter runs
// as another user.
func TestOthersMayRead(t *testing.T) {
	old := syscall.Umask(0o077)
	t.Cleanup(func() { syscall.Umask(old) })
	path := filepath.Join(t.TempDir(), "switchyard.prom")
	write(t, path, 5, 3, true)
	if info, err := os.Lstat(path); err != nil || info.Mode() != 0o644 {
		t.Errorf("the file is %v, %v", info.Mode(), err)
	}
}

// TestPipesAreNotWaitedFor checks pipes in place of the file, its lock and its directory.
func TestPipesAreNotWaitedFor(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "switchyard.prom")
	if err := unix.Mkfifo(path, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := writeMetrics(t.Context(), path, metricsOf(5, 3)); errs.CodeOf(err) != errs.TextfileRefused {
		t.Errorf("a pipe: %v", err)
	}
	if err := errors.Join(os.Remove(path), unix.Mkfifo(lockOf(path), 0o600)); err != nil {
		t.Fatal(err)
	}
	if _, err := writeMetrics(t.Context(), path, metricsOf(5, 3)); errs.CodeOf(err) != errs.TextfileUnwritable {
		t.Errorf("a pipe for a lock: %v", err)
	}
	if _, err := writeMetrics(t.Context(), filepath.Join(lockOf(path), "switchyard.prom"), metricsOf(5, 3)); errs.CodeOf(err) != errs.TextfileUnwritable {
		t.Errorf("a pipe for a directory: %v", err)
	}
}

// TestKilledWriters kills writing processes at random moments: the file is whole, its
// events do not fall, and the next writer cleans up.
func TestKilledWriters(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("starts processes and kills them")
	}
	path := filepath.Join(t.TempDir(), "switchyard.prom")
	last := int64(0)
	for range 8 {
		cmd := exec.CommandContext(t.Context(), os.Args[0])
		cmd.Env = append(os.Environ(), writerVariable+"="+path)
		cmd.Stderr = os.Stderr
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		// It writes from event 1 on, so it first has to reach the last one.
		enough := last + 1 + rand.Int64N(30)
		for seen := int64(0); seen < enough; {
			if _, err := os.Lstat(path); err == nil {
				seen = eventsIn(t, path)
			}
		}
		if err := cmd.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		_ = cmd.Wait() // It was killed.
		now := eventsIn(t, path)
		if now < enough {
			t.Fatalf("after %d events there are %d", last, now)
		}
		last = now
	}
	write(t, path, 5, last+1, true)
	alone(t, path)
}

// TestNoRoom checks that a full disk leaves the file unchanged, and no draft.
func TestNoRoom(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "switchyard.prom")
	write(t, path, 5, 1, true)
	cmd := exec.CommandContext(t.Context(), "sh", "-c", `ulimit -f 1 && exec "$0"`, os.Args[0])
	cmd.Env = append(os.Environ(), writerVariable+"="+path)
	if out, err := cmd.CombinedOutput(); err == nil || len(out) == 0 {
		t.Fatalf("with a limit on the size of files it printed %q, %v", out, err)
	}
	if n := eventsIn(t, path); n != 1 {
		t.Errorf("there are %d events", n)
	}
	alone(t, path)
}
