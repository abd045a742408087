//go:build unix

package lease_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/switchyard-dev/switchyard/internal/agent/lease"
	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/supervise"
)

// wantTaken fails unless there is no slot, because the processes have them.
func (s scene) wantTaken(agent string, limit int, pids ...int) {
	s.Helper()
	held, err := s.pool.Take(s.Context(), agent, limit, 0)
	var f *errs.Error
	if !errors.As(err, &f) || f.Code != errs.SpawnLocked || held != nil {
		s.Fatalf("got %v, %v", held, err)
	}
	got, _ := f.Details["pids"].([]int)
	if f.Details["agent"] != agent || f.Details["limit"] != limit || !slices.Equal(slices.Sorted(slices.Values(got)), slices.Sorted(slices.Values(pids))) {
		s.Errorf("details: %v", f.Details)
	}
}

func TestExclusive(t *testing.T) {
	s := newScene(t)
	first := s.take("critic", 1)
	s.wantTaken("critic", 1) // who has written down nothing
	s.must(first.Record(record(0, "r1")))
	s.wantTaken("critic", 1) // whose process nobody knows yet
	s.must(first.Record(record(4711, "r1")))
	s.wantTaken("critic", 1, 4711)
	s.take("researcher", 1)
	s.take("critic", 2)
	s.must(first.Release())
	s.must(first.Release())
	for _, err := range []error{first.Record(record(0, "r1")), first.Record(record(4711, "r1"))} {
		if errs.CodeOf(err) != errs.SpawnSlotUnusable {
			t.Error("a slot that was released can be written to")
		}
	}
	s.take("critic", 1)
	if left := s.records(); left != nil {
		t.Errorf("left: %q", left)
	}
}

func TestLimitOverProcesses(t *testing.T) {
	s := newScene(t)
	var holders []holder
	var pids []int
	for range 3 {
		h := s.holder("critic", 3, "r")
		holders, pids = append(holders, h), append(pids, h.Process.Pid)
	}
	s.wantTaken("critic", 3, pids...)
	s.wantTaken("critic", 2, pids[:2]...)
	s.take("researcher", 3)
	s.must(holders[1].input.Close())
	s.must(holders[1].Wait())
	s.take("critic", 3)
	s.wantTaken("critic", 3, pids[0], pids[2])
	if len(s.sweeper.swept) != 0 {
		t.Errorf("swept: %v", s.sweeper.swept)
	}
}

func TestKilledHolder(t *testing.T) {
	for name, next := range map[string]func(s scene){
		"taken": func(s scene) { s.take("critic", 1) },
		"recovered": func(s scene) {
			found, err := s.pool.Recover(s.Context())
			s.must(err)
			if len(found) != 1 || found[0].Run != "r9" || found[0].Task != "T1" {
				s.Errorf("got %+v", found)
			}
			if again, err := s.pool.Recover(s.Context()); err != nil || again != nil {
				s.Errorf("got %v, %v", again, err)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := newScene(t)
			h := s.holder("critic", 1, "r9")
			if found, err := s.pool.Recover(t.Context()); err != nil || found != nil {
				t.Errorf("a living holder was recovered: %v, %v", found, err)
			}
			h.kill(s)
			next(s)
			if len(s.sweeper.swept) != 1 || s.sweeper.swept[0] != record(h.Process.Pid, "").Process {
				t.Errorf("swept: %v", s.sweeper.swept)
			}
			if left := s.records(); left != nil {
				t.Errorf("left: %q", left)
			}
		})
	}
}

// What could not be ended is tried again, and meanwhile nobody gets the slot.
func TestSweepThatFails(t *testing.T) {
	s := newScene(t)
	s.holder("critic", 1, "r9").kill(s)
	why := errors.New("it does not end")
	s.sweeper.err = why
	if _, err := s.pool.Take(t.Context(), "critic", 1, lease.Forever); !errors.Is(err, why) {
		t.Errorf("got %v", err)
	}
	if found, err := s.pool.Recover(t.Context()); !errors.Is(err, why) || found != nil {
		t.Errorf("got %v, %v", found, err)
	}
	s.sweeper.err = nil
	s.take("critic", 1)
}

func TestWait(t *testing.T) {
	s := newScene(t)
	held := s.take("critic", 1)
	time.AfterFunc(200*time.Millisecond, func() { s.must(held.Release()) })
	began := time.Now()
	next, err := s.pool.Take(t.Context(), "critic", 1, lease.Forever)
	if err != nil || time.Since(began) < 150*time.Millisecond {
		t.Fatalf("got %v after %v", err, time.Since(began))
	}
	defer func() { s.must(next.Release()) }()
	ctx, cancel := context.WithCancelCause(t.Context())
	why := errors.New("enough")
	time.AfterFunc(50*time.Millisecond, func() { cancel(why) })
	if _, err := s.pool.Take(ctx, "critic", 1, lease.Forever); !errors.Is(err, why) || errs.CodeOf(err) != errs.SpawnLocked {
		t.Errorf("got %v", err)
	}
	if _, err := s.pool.Take(ctx, "researcher", 1, lease.Forever); !errors.Is(err, why) {
		t.Errorf("got %v", err)
	}
}

// TestBriefWait tests that a wait which is over before the first try still takes a free
// lease, and does not wait for another.
func TestBriefWait(t *testing.T) {
	s := newScene(t)
	held, err := s.pool.Take(t.Context(), "critic", 1, time.Nanosecond)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.pool.Take(t.Context(), "critic", 1, time.Nanosecond); errs.CodeOf(err) != errs.SpawnLocked {
		t.Errorf("got %v", err)
	}
	s.must(held.Release())
}

func TestManyProcesses(t *testing.T) {
	s := newScene(t)
	var ended []func() error
	for range 20 {
		cmd := s.command("critic", 3, "hammer")
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		ended = append(ended, cmd.Wait)
	}
	for _, wait := range ended {
		s.must(wait())
	}
	if left := s.records(); left != nil {
		t.Errorf("left: %q", left)
	}
}

func TestRecordIsWhole(t *testing.T) {
	s := newScene(t)
	held := s.take("critic", 1)
	want := record(4711, "r1")
	want.Process.Folder = "/tmp/switchyard-1"
	s.must(held.Record(record(1234, "r0")))
	s.must(held.Record(want))
	for _, bad := range []lease.Record{{}, record(1, "r"), record(-9, "r"), record(9, ""), record(9, strings.Repeat("x", 1<<17))} {
		for _, err := range []error{held.Record(bad), held.Record(bad)} {
			if errs.CodeOf(err) != errs.SpawnSlotUnusable {
				t.Errorf("%+.80v: got %v", bad, err)
			}
		}
	}
	// No draft can be written any more; the record is as it was.
	s.must(os.Mkdir(filepath.Join(s.dir, "slot.critic.0.new"), 0o700))
	s.must(os.WriteFile(filepath.Join(s.dir, "slot.critic.0.new", "x"), nil, 0o600))
	for _, err := range []error{held.Record(record(0, "r2")), held.Record(record(9, "r2"))} {
		if errs.CodeOf(err) != errs.SpawnSlotUnusable {
			t.Errorf("got %v", err)
		}
	}
	s.must(os.RemoveAll(filepath.Join(s.dir, "slot.critic.0.new")))
	if got := s.records(); !slices.Equal(got, []string{"slot.critic.0.json"}) {
		t.Errorf("files: %q", got)
	}
	// As the next one finds it whose holder has died.
	text, err := os.ReadFile(filepath.Join(s.dir, "slot.critic.0.json"))
	s.must(err)
	s.must(held.Release())
	s.must(os.WriteFile(filepath.Join(s.dir, "slot.critic.0.json"), text, 0o600))
	found, err := s.pool.Recover(t.Context())
	if errs.CodeOf(err) != errs.SpawnSlotUnusable || !reflect.DeepEqual(found, []lease.Record{want}) { // The directory is not in temp.
		t.Errorf("got %+v, %v", found, err)
	}
}

func TestRecordThatIsNone(t *testing.T) {
	for name, text := range map[string]string{
		"half": `{"process":{"pid":4711,`, "other": `{"process":{"pid":4711,"start":1},"run":"r","began":"","x":1}`,
		"no run": `{"process":{"mark":"m","start":1},"began":""}`, "init": `{"process":{"pid":1,"start":1},"run":"r","began":""}`,
		"group": `{"process":{"pid":-5,"start":1},"run":"r","began":""}`, "two": `{"process":{"pid":9,"start":1},"run":"r","began":""} {}`,
		"twice": `{"process":{"pid":9,"start":1},"run":"r","run":"s","began":""}`, "large": strings.Repeat(" ", 1<<17),
	} {
		t.Run(name, func(t *testing.T) {
			s := newScene(t)
			s.must(os.WriteFile(filepath.Join(s.dir, "slot.critic.0.json"), []byte(text), 0o600))
			s.holder("researcher", 1, "r9").kill(s)
			if _, err := s.pool.Take(t.Context(), "critic", 1, lease.Forever); errs.CodeOf(err) != errs.SpawnSlotUnusable {
				t.Errorf("got %v", err)
			}
			// The other one is recovered all the same.
			found, err := s.pool.Recover(t.Context())
			if errs.CodeOf(err) != errs.SpawnSlotUnusable || len(found) != 1 || found[0].Run != "r9" {
				t.Errorf("got %v, %v", found, err)
			}
			if len(s.sweeper.swept) != 1 {
				t.Errorf("swept: %v", s.sweeper.swept)
			}
		})
	}
}

// A record that was on its way to the disk, or to its place, when the machine or its
// holder died is in nobody's way.
func TestRecordThatWasNotWritten(t *testing.T) {
	for name, c := range map[string]struct{ file, text string }{
		"nothing":   {"slot.critic.0.json", ""},
		"zeros":     {"slot.critic.0.json", strings.Repeat("\x00", 512)},
		"a draft":   {"slot.critic.0.new", `{"process":{"pid":4711`},
		"all of it": {"slot.critic.0.new", `{"process":{"pid":4711,"start":1},"run":"r","began":""}`},
	} {
		t.Run(name, func(t *testing.T) {
			s := newScene(t)
			write := func() { s.must(os.WriteFile(filepath.Join(s.dir, c.file), []byte(c.text), 0o600)) }
			write()
			if found, err := s.pool.Recover(t.Context()); err != nil || found != nil {
				t.Errorf("got %v, %v", found, err)
			}
			if left := s.records(); left != nil {
				t.Errorf("left: %q", left)
			}
			write()
			s.must(s.take("critic", 1).Record(record(0, "r1")))
			if len(s.sweeper.swept) != 0 {
				t.Errorf("swept: %v", s.sweeper.swept)
			}
		})
	}
}

func TestPrivateFolder(t *testing.T) {
	for name, c := range map[string]struct {
		path    func(s scene) string
		removed bool
	}{
		"ours":         {func(s scene) string { return filepath.Join(s.temp, "switchyard-1") }, true},
		"another name": {func(s scene) string { return filepath.Join(s.temp, "documents") }, false},
		"elsewhere":    {func(s scene) string { return filepath.Join(s.TempDir(), "switchyard-1") }, false},
		"below":        {func(s scene) string { return filepath.Join(s.temp, "x", "switchyard-1") }, false},
		"upwards":      {func(s scene) string { return s.temp + "/../switchyard-1" }, false},
	} {
		t.Run(name, func(t *testing.T) {
			s := newScene(t)
			folder := c.path(s)
			s.must(os.MkdirAll(filepath.Join(folder, "state"), 0o700))
			r := record(4711, "r1")
			r.Process.Folder = folder
			found, err := s.leave(r)
			if len(found) != 1 || (err == nil) != c.removed {
				t.Errorf("got %v, %v", found, err)
			}
			// A process in a directory that is not ours is not ended.
			if !c.removed {
				r.Process.Folder = ""
			}
			if !slices.Equal(s.sweeper.swept, []supervise.Identity{r.Process}) {
				t.Errorf("swept: %+v", s.sweeper.swept)
			}
			if _, err := os.Stat(folder); (err != nil) != c.removed {
				t.Errorf("the directory: %v", err)
			}
			if left := s.records(); left != nil {
				t.Errorf("left: %q", left)
			}
		})
	}
	t.Run("behind a link", func(t *testing.T) {
		s := newScene(t)
		precious := filepath.Join(t.TempDir(), "precious")
		s.must(os.WriteFile(precious, nil, 0o600))
		link := filepath.Join(s.temp, "switchyard-1")
		s.must(os.Symlink(filepath.Dir(precious), link))
		r := record(4711, "r1")
		r.Process.Folder = link
		if _, err := s.leave(r); errs.CodeOf(err) != errs.SpawnSlotUnusable {
			t.Errorf("got %v", err)
		}
		// A link inside of it is removed, and not what it leads to.
		s.must(os.Remove(link))
		s.must(os.Mkdir(link, 0o700))
		s.must(os.Symlink(filepath.Dir(precious), filepath.Join(link, "inside")))
		_, err := s.leave(r)
		s.must(err)
		if _, err := os.Stat(precious); err != nil {
			t.Error(err)
		}
	})
	t.Run("temp behind a link", func(t *testing.T) {
		s := newScene(t)
		real := filepath.Join(s.temp, "switchyard-1")
		s.must(os.Mkdir(real, 0o700))
		link := filepath.Join(t.TempDir(), "tmp")
		s.must(os.Symlink(s.temp, link))
		s.temp = link
		s.pool = s.open()
		r := record(4711, "r1")
		r.Process.Folder = filepath.Join(link, "switchyard-1")
		_, err := s.leave(r)
		s.must(err)
		// The system knows it under its real name.
		if r.Process.Folder = real; !slices.Equal(s.sweeper.swept, []supervise.Identity{r.Process}) {
			t.Errorf("swept: %+v", s.sweeper.swept)
		}
		if _, err := os.Stat(real); err == nil {
			t.Error("it is still there")
		}
	})
	t.Run("locked", func(t *testing.T) {
		if os.Getuid() == 0 {
			t.Skip("no directory is locked for root")
		}
		s := newScene(t)
		r := record(4711, "r1")
		r.Process.Folder = filepath.Join(s.temp, "switchyard-1")
		inner := filepath.Join(r.Process.Folder, "cache", "module")
		s.must(os.MkdirAll(inner, 0o700))
		s.must(os.WriteFile(filepath.Join(inner, "x"), nil, 0o400))
		s.must(os.Chmod(inner, 0o500))
		s.must(os.Chmod(filepath.Dir(inner), 0))
		_, err := s.leave(r)
		s.must(err)
	})
	t.Run("gone", func(t *testing.T) {
		s := newScene(t)
		r := record(4711, "r1")
		r.Process.Folder = filepath.Join(s.temp, "switchyard-1")
		_, err := s.leave(r)
		s.must(err)
	})
}

// leave recovers a record that a dead holder left.
func (s scene) leave(r lease.Record) ([]lease.Record, error) {
	s.Helper()
	held, err := s.pool.Take(s.Context(), "critic", 1, 0)
	s.must(err)
	s.must(held.Record(r))
	name := filepath.Join(s.dir, "slot.critic.0.json")
	text, err := os.ReadFile(name)
	s.must(err)
	s.must(held.Release())
	s.must(os.WriteFile(name, text, 0o600))
	return s.pool.Recover(s.Context())
}

func TestForeignFilesAreNoSlots(t *testing.T) {
	s := newScene(t)
	for _, agent := range []string{"", ".", "../x", "a/b", "a.b", "a b", "é", strings.Repeat("a", 129), "a\n"} {
		if _, err := s.pool.Take(t.Context(), agent, 1, lease.Forever); errs.CodeOf(err) != errs.SpawnSlotUnusable {
			t.Errorf("%q: got %v", agent, err)
		}
	}
	for _, limit := range []int{-1, 0, lease.MaxLimit + 1} {
		if _, err := s.pool.Take(t.Context(), "critic", limit, lease.Forever); errs.CodeOf(err) != errs.SpawnSlotUnusable {
			t.Errorf("%d: got %v", limit, err)
		}
	}
	s.take(strings.Repeat("a", 128), lease.MaxLimit)
	s.take("nul", 1)
}

func TestLinks(t *testing.T) {
	s := newScene(t)
	outside := filepath.Join(t.TempDir(), "elsewhere")
	s.must(os.WriteFile(outside, []byte("x"), 0o600))
	for _, name := range []string{"slot.a.0", "slot.b.0.json"} {
		s.must(os.Symlink(outside, filepath.Join(s.dir, name)))
	}
	s.must(os.Symlink("slot.d.0", filepath.Join(s.dir, "slot.c.0")))
	for _, agent := range []string{"a", "b", "c"} {
		if _, err := s.pool.Take(t.Context(), agent, 1, lease.Forever); errs.CodeOf(err) != errs.SpawnSlotUnusable {
			t.Errorf("%s: got %v", agent, err)
		}
	}
	if text, err := os.ReadFile(outside); err != nil || string(text) != "x" {
		t.Errorf("got %q, %v", text, err)
	}
	link := filepath.Join(t.TempDir(), "run")
	s.must(os.Symlink(s.dir, link))
	if _, err := lease.Open(link, s.temp, s.sweeper); errs.CodeOf(err) != errs.SpawnSlotUnusable {
		t.Errorf("got %v", err)
	}
}

func TestFolder(t *testing.T) {
	s := newScene(t)
	if info, err := os.Stat(s.dir); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("got %v, %v", info.Mode(), err)
	}
	file := filepath.Join(t.TempDir(), "file")
	s.must(os.WriteFile(file, nil, 0o600))
	for _, dir := range []string{file, filepath.Join(file, "run"), filepath.Join(s.dir, "none", "run")} {
		if _, err := lease.Open(dir, s.temp, s.sweeper); errs.CodeOf(err) != errs.SpawnSlotUnusable {
			t.Errorf("%s: got %v", dir, err)
		}
	}
	s.open()
}

// A child that outlives us must not keep the slot.
func TestChildDoesNotInheritTheLock(t *testing.T) {
	s := newScene(t)
	held := s.take("critic", 1)
	other := newScene(t)
	h := other.holder("critic", 1, "r") // a child of ours, started while we hold the slot
	s.must(held.Release())
	s.take("critic", 1)
	h.kill(other)
}
