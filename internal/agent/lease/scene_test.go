//go:build unix

package lease_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/switchyard-dev/switchyard/internal/agent/lease"
	"github.com/switchyard-dev/switchyard/internal/supervise"
)

// holderVar makes a copy of this program a holder of slots: it names the directory,
// the agent, the limit, and what to do with the slot.
const holderVar = "SLOT_TEST_HOLDER"

func TestMain(m *testing.M) {
	if job := os.Getenv(holderVar); job != "" {
		if err := hold(strings.Split(job, "|")); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	goleak.VerifyTestMain(m)
}

func hold(job []string) error {
	dir, agent, what := job[0], job[1], job[3]
	limit, err := strconv.Atoi(job[2])
	if err != nil {
		return err
	}
	if what, ok := strings.CutPrefix(what, "child:"); ok {
		return runChild(dir, agent, what)
	}
	pool, err := lease.Open(dir, os.TempDir(), &sweeper{})
	if err != nil {
		return err
	}
	switch what {
	case "hammer":
		for range 5 {
			if err := hammer(pool, dir, agent, limit); err != nil {
				return err
			}
		}
		return nil
	default: // hold one until standard input ends
		s, err := pool.Take(context.Background(), agent, limit, 0)
		if err != nil {
			return err
		}
		if err := s.Record(record(os.Getpid(), what)); err != nil {
			return err
		}
		fmt.Println("held")
		if _, err := io.Copy(io.Discard, os.Stdin); err != nil {
			return err
		}
		return s.Release()
	}
}

// hammer holds a slot for a moment, and fails where more hold one than may: each
// is a file of its own meanwhile.
func hammer(pool *lease.Pool, dir, agent string, limit int) error {
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	s, err := pool.Take(ctx, agent, limit, lease.Forever)
	if err != nil {
		return err
	}
	inside := filepath.Join(filepath.Dir(dir), "inside")
	mine := filepath.Join(inside, strconv.Itoa(os.Getpid()))
	if err := os.WriteFile(mine, nil, 0o600); err != nil {
		return err
	}
	all, err := os.ReadDir(inside)
	if err != nil {
		return err
	}
	if len(all) > limit {
		return fmt.Errorf("%d hold a slot, of %d", len(all), limit)
	}
	if err := s.Record(record(os.Getpid(), "x")); err != nil {
		return err
	}
	time.Sleep(time.Millisecond)
	return errors.Join(os.Remove(mine), s.Release())
}

// sweeper notes what it is told to sweep.
type sweeper struct {
	mu    sync.Mutex
	swept []supervise.Identity
	err   error
}

func (s *sweeper) Sweep(_ context.Context, id supervise.Identity, _ time.Duration) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.swept = append(s.swept, id)
	return 1, s.err
}

func record(pid int, run string) lease.Record {
	return lease.Record{Process: supervise.Identity{PID: pid, Start: 7, Boot: "boot"}, Run: run, Task: "T1", Began: "2026-11-21T10:00:00Z"}
}

// scene is a project's pool and a directory for temporary files.
type scene struct {
	testing.TB
	dir, temp string
	sweeper   *sweeper
	pool      *lease.Pool
}

func newScene(t testing.TB) scene {
	t.Helper()
	base, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	s := scene{TB: t, dir: filepath.Join(base, "run"), temp: filepath.Join(base, "tmp"), sweeper: &sweeper{}}
	for _, name := range []string{s.temp, filepath.Join(base, "inside")} {
		if err := os.Mkdir(name, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	s.pool = s.open()
	return s
}

func (s scene) open() *lease.Pool {
	s.Helper()
	pool, err := lease.Open(s.dir, s.temp, s.sweeper)
	if err != nil {
		s.Fatal(err)
	}
	return pool
}

// take takes a slot, or fails.
func (s scene) take(agent string, limit int) *lease.Lease {
	s.Helper()
	held, err := s.pool.Take(s.Context(), agent, limit, 0)
	if err != nil {
		s.Fatal(err)
	}
	s.Cleanup(func() { s.must(held.Release()) })
	return held
}

func (s scene) must(err error) {
	s.Helper()
	if err != nil {
		s.Error(err)
	}
}

// records are the names of the files of records, and of what is left of them.
func (s scene) records() []string {
	s.Helper()
	entries, err := os.ReadDir(s.dir)
	s.must(err)
	var names []string
	for _, e := range entries {
		if strings.Count(e.Name(), ".") != 2 {
			names = append(names, e.Name())
		}
		if info, err := e.Info(); err != nil || info.Mode() != fs.FileMode(0o600) {
			s.Errorf("%s: %v, %v", e.Name(), info.Mode(), err)
		}
	}
	return names
}

// holder is a process that holds a slot.
type holder struct {
	*exec.Cmd
	input io.Closer
}

// holder starts a process that holds a slot, and waits until it does.
func (s scene) holder(agent string, limit int, run string) holder {
	s.Helper()
	cmd := s.command(agent, limit, run)
	in, err := cmd.StdinPipe()
	if err != nil {
		s.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		s.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		s.Fatal(err)
	}
	s.Cleanup(func() { _ = cmd.Process.Kill() })
	if line, err := bufio.NewReader(out).ReadString('\n'); line != "held\n" {
		s.Fatalf("the holder said %q: %v, %v", line, err, cmd.Wait())
	}
	return holder{cmd, in}
}

func (s scene) command(agent string, limit int, what string) *exec.Cmd {
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), holderVar+"="+strings.Join([]string{s.dir, agent, strconv.Itoa(limit), what}, "|"))
	cmd.Stderr = os.Stderr
	return cmd
}

// kill kills a holder as nobody can catch it.
func (h holder) kill(s scene) {
	s.Helper()
	s.must(h.Process.Kill())
	_ = h.Wait() // It says that it was killed.
}
