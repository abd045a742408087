package supervise_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/switchyard-dev/switchyard/internal/supervise"
)

// foreign returns a process that was not announced, in its own session.
func (s scene) foreign(change func(*exec.Cmd)) *exec.Cmd {
	s.Helper()
	cmd := exec.Command("sleep", "60")
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	change(cmd)
	if err := cmd.Start(); err != nil {
		s.Fatal(err)
	}
	s.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait() // A sweep may have reaped it.
	})
	return cmd
}

// open opens a file in the scene's directory, and creates the file's directory.
func (s scene) open(name string, flag int) *os.File {
	s.Helper()
	path := filepath.Join(s.dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		s.Fatal(err)
	}
	f, err := os.OpenFile(path, flag|os.O_CREATE, 0o600)
	if err != nil {
		s.Fatal(err)
	}
	s.Cleanup(func() { f.Close() })
	return f
}

// terminal opens a new terminal.
func (s scene) terminal() *os.File {
	s.Helper()
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	if err != nil {
		s.Skip("there are no terminals here: ", err)
	}
	s.Cleanup(func() { master.Close() })
	if err := unix.IoctlSetPointerInt(int(master.Fd()), unix.TIOCSPTLCK, 0); err != nil {
		s.Fatal(err)
	}
	slave, err := unix.IoctlRetInt(int(master.Fd()), unix.TIOCGPTPEER)
	if err != nil {
		s.Fatal(err)
	}
	f := os.NewFile(uintptr(slave), "terminal")
	s.Cleanup(func() { f.Close() })
	return f
}

// TestSweepOfAFolder tests that a process without any other link to a child is ended
// only if it works in the child's directory.
func TestSweepOfAFolder(t *testing.T) {
	for name, c := range map[string]struct {
		change func(s scene, cmd *exec.Cmd)
		ended  bool
	}{
		"writes": {func(s scene, cmd *exec.Cmd) { cmd.Stdout = s.open("private/output", os.O_WRONLY) }, true},
		"writes and reads, below": {func(s scene, cmd *exec.Cmd) {
			cmd.ExtraFiles = []*os.File{s.open("private/state/db", os.O_RDWR)}
		}, true},
		"writes to what is deleted": {func(s scene, cmd *exec.Cmd) {
			cmd.Stdout = s.open("private/output", os.O_WRONLY)
			if err := os.RemoveAll(filepath.Join(s.dir, "private")); err != nil {
				s.Fatal(err)
			}
		}, true},
		"is there": {func(s scene, cmd *exec.Cmd) { cmd.Dir = filepath.Join(s.dir, "private") }, true},
		"came from there": {func(s scene, cmd *exec.Cmd) {
			text, err := os.ReadFile(cmd.Path)
			if err != nil {
				s.Fatal(err)
			}
			cmd.Path = filepath.Join(s.dir, "private", "sleep")
			if err := os.WriteFile(cmd.Path, text, 0o700); err != nil {
				s.Fatal(err)
			}
		}, true},
		"reads": {func(s scene, cmd *exec.Cmd) { cmd.Stdin = s.open("private/output", os.O_RDONLY) }, false},
		"has a terminal": {func(s scene, cmd *exec.Cmd) {
			cmd.Stdin, cmd.Stdout = s.terminal(), s.open("private/output", os.O_WRONLY)
			cmd.Dir, cmd.SysProcAttr.Setctty = filepath.Join(s.dir, "private"), true
		}, false},
		"is of another user": {func(s scene, cmd *exec.Cmd) {
			if os.Getuid() != 0 {
				s.Skip("only root can start a process as another user")
			}
			cmd.Stdout = s.open("private/output", os.O_WRONLY)
			cmd.SysProcAttr.Credential = &syscall.Credential{Uid: 65534, Gid: 65534}
		}, false},
		"writes beside":  {func(s scene, cmd *exec.Cmd) { cmd.Stdout = s.open("private2/output", os.O_WRONLY) }, false},
		"is above":       {func(s scene, cmd *exec.Cmd) { cmd.Dir = s.dir }, false},
		"writes nothing": {func(scene, *exec.Cmd) {}, false},
	} {
		t.Run(name, func(t *testing.T) {
			s := newScene(t)
			if err := os.Mkdir(filepath.Join(s.dir, "private"), 0o700); err != nil {
				t.Fatal(err)
			}
			id := s.keeper.Reserve(filepath.Join(s.dir, "private"))
			cmd := s.foreign(func(cmd *exec.Cmd) { c.change(s, cmd) })
			want := 0
			if c.ended {
				want = 1
			}
			if swept, err := s.keeper.Sweep(t.Context(), id, time.Second); swept != want || err != nil {
				t.Errorf("got %d, %v", swept, err)
			}
			if lives(cmd.Process.Pid) == c.ended {
				t.Errorf("ended: %v", !c.ended)
			}
		})
	}
}

func TestSweepSparesWhoWasThereBefore(t *testing.T) {
	s := newScene(t)
	cmd := s.foreign(func(cmd *exec.Cmd) { cmd.Stdout = s.open("private/output", os.O_WRONLY) })
	time.Sleep(tick)
	id := s.keeper.Reserve(filepath.Join(s.dir, "private"))
	if swept, err := s.keeper.Sweep(t.Context(), id, 0); swept != 0 || err != nil || !lives(cmd.Process.Pid) {
		t.Errorf("got %d, %v", swept, err)
	}
}

// TestSweepSparesUs tests that the sweeping process itself may work in the directory.
func TestSweepSparesUs(t *testing.T) {
	s := newScene(t)
	id := s.keeper.Reserve(filepath.Join(s.dir, "private"))
	s.open("private/output", os.O_WRONLY)
	if swept, err := s.keeper.Sweep(t.Context(), id, 0); swept != 0 || err != nil {
		t.Errorf("got %d, %v", swept, err)
	}
}

func TestAnnounced(t *testing.T) {
	s := newScene(t)
	announced := s.keeper.Reserve(s.dir)
	spec := s.spec("env")
	spec.Reserved = announced
	var started supervise.Identity
	spec.Started = func(id supervise.Identity) error {
		started = id
		return nil
	}
	s.run(spec)
	if announced.PID != 0 || started.PID == 0 || started.Start < announced.Start {
		t.Errorf("%+v became %+v", announced, started)
	}
	if started.PID, started.Start = 0, announced.Start; started != announced || announced.Boot == "" || announced.Folder != s.dir {
		t.Errorf("%+v became %+v", announced, started)
	}
	if !strings.Contains(s.text(), "SWITCHYARD_CHILD_"+announced.EnvMarker+"=1\n") {
		t.Errorf("it has another mark than %s:\n%s", announced.EnvMarker, s.text())
	}
	if again := s.keeper.Reserve(s.dir); again.EnvMarker == announced.EnvMarker {
		t.Error("two children have one mark")
	}
}

// TestOrphanInItsFolder tests that an orphan that holds its child's output is ended
// with that child, although it could be another child's.
func TestOrphanInItsFolder(t *testing.T) {
	older, younger := newScene(t), newScene(t)
	spec := older.spec("until [ -e late ]; do sleep 0.01; done; " + astray(t, "left", deaf) + untilGo)
	spec.Reserved = older.keeper.Reserve(older.dir)
	olderEnds := older.meanwhile(spec)
	time.Sleep(tick)
	spec = younger.spec(astray(t, "left", deaf) + untilGo)
	spec.Reserved = younger.keeper.Reserve(younger.dir)
	youngerEnds := younger.meanwhile(spec)
	younger.pid("left")
	older.file("late", "")
	older.pid("left")

	older.letEnd(olderEnds)
	older.wantReaped("left")
	if !lives(younger.pid("left")) {
		t.Error("the orphan of the child that runs was ended")
	}
	younger.letEnd(youngerEnds)
	younger.wantReaped("left")
}

// TestStartsWithFolders covers the moment between fork and exec, in which a process has
// all open files of its parent, also those for other children.
func TestStartsWithFolders(t *testing.T) {
	const with, each = 4, 50
	failed := make(chan error, with)
	for range with {
		s := newScene(t)
		go func() {
			for range each {
				spec := s.spec("exit 7")
				spec.Reserved = s.keeper.Reserve(s.dir)
				r, err := s.keeper.Run(t.Context(), spec)
				if err == nil && r.ExitCode != 7 {
					err = fmt.Errorf("it ended as %+v", r)
				}
				if err != nil {
					failed <- err
					return
				}
			}
			failed <- nil
		}()
	}
	for range with {
		if err := <-failed; err != nil {
			t.Error(err)
		}
	}
}

// BenchmarkSweep measures how long it takes to find that no process is left.
func BenchmarkSweep(b *testing.B) {
	s := newScene(b)
	for name, folder := range map[string]string{"mark alone": "", "and directory": s.dir} {
		b.Run(name, func(b *testing.B) {
			id := s.keeper.Reserve(folder)
			id.Start = 1 // so that all processes are examined
			for b.Loop() {
				if swept, err := s.keeper.Sweep(b.Context(), id, 0); swept != 0 || err != nil {
					b.Fatal(swept, err)
				}
			}
		})
	}
}
