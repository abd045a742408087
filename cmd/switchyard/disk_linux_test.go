package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/switchyard-dev/switchyard/internal/exhaustive"
	"github.com/switchyard-dev/switchyard/internal/smalldisk"
)

const (
	pageSize = 4096 // bytes, the page size of SQLite and tmpfs
	maxPages = 256  // more than any command of the table writes
)

// fillDisk runs the command with limited disk space: none, one page, and so on until it
// is enough, by default four times as much each time.
func (s *crashSite) fillDisk(t *testing.T) {
	disk := smalldisk.New(t, "2m")
	s.grow(t, func(pages int) bool {
		p := s.freshOn(t, disk)
		smalldisk.Fill(t, filler(disk), pages)
		cmd := p.command(t.Context(), strings.Fields(s.command)...)
		when := fmt.Sprintf("with %d pages of room", pages)
		return s.denied(t, cmd, "ledger-io", when, func() *program {
			if err := os.Remove(filler(disk)); err != nil {
				t.Fatal(err)
			}
			return s.saved(t, p)
		})
	})
}

// limitFileSize does the same with a limit on the size of a file.
func (s *crashSite) limitFileSize(t *testing.T) {
	s.grow(t, func(pages int) bool {
		p := s.fresh(t)
		cmd := p.command(t.Context(), strings.Fields(s.command)...)
		// ulimit counts in units of 512 bytes.
		limited := exec.CommandContext(t.Context(), "sh", append([]string{
			"-c", `ulimit -f "$0" && exec "$@"`, strconv.Itoa(pages * pageSize / 512), cmd.Path,
		}, cmd.Args[1:]...)...)
		limited.Env = cmd.Env
		when := fmt.Sprintf("with files of %d pages", pages)
		return s.denied(t, limited, "ledger-io", when, func() *program { return p })
	})
}

// denyWriting runs the command in a read-only directory.
func (s *crashSite) denyWriting(t *testing.T) {
	p, unseal := s.sealed(t)
	cmd := p.command(t.Context(), strings.Fields(s.command)...)
	if s.denied(t, cmd, "state-unwritable", "in a read-only directory", func() *program {
		unseal()
		return s.saved(t, p)
	}) {
		s.wantReading(t)
	}
}

// wantReading fails if a command that changes something has succeeded without writing.
// A command that only reads may: a crash leaves the files that it needs.
func (s *crashSite) wantReading(t *testing.T) {
	t.Helper()
	if !slices.Equal(s.before, s.after) {
		t.Error("the command succeeds without writing")
	}
}

// grow calls attempt with more and more pages until it reports success.
func (s *crashSite) grow(t *testing.T, attempt func(pages int) bool) {
	t.Helper()
	for pages := 0; pages <= maxPages; pages = exhaustive.Count(max(1, 4*pages), pages+1) {
		if attempt(pages) {
			t.Logf("%d pages are enough", pages)
			if pages == 0 {
				s.wantReading(t)
			}
			return
		}
	}
	t.Errorf("%d pages are not enough", maxPages)
}

// denied runs cmd, the command under a restriction, and reports whether it succeeds. If
// it fails, its error must be code, one of the ledger's, or one of its unwritable
// codes. The project that relieve returns is without the restriction and is checked as
// after a crash.
func (s *crashSite) denied(t *testing.T, cmd *exec.Cmd, code, when string, relieve func() *program) bool {
	t.Helper()
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err := cmd.Run()
	if err == nil && !isWhole(stdout.Bytes()) {
		t.Errorf("%s, the command succeeds and prints %q", when, stdout.Bytes())
	}
	// The state's directory and the handoff are created before the ledger.
	codes := append([]string{code, "state-unwritable", "state-file-unwritable"}, s.unwritable...)
	if err != nil && (!slices.Contains(codes, codeOf(stderr.Bytes())) || stdout.Len() > 0) {
		t.Errorf("%s: %v, want one of %v: %s %s", when, err, codes, stdout.Bytes(), stderr.Bytes())
	}
	s.judge(t, relieve(), when, err == nil)
	return err == nil
}

func filler(disk string) string { return filepath.Join(disk, "filler") }

// freshOn is fresh, on a disk that has no other project.
func (s *crashSite) freshOn(t *testing.T, disk string) *program {
	t.Helper()
	p := &program{dir: filepath.Join(disk, "project")}
	if err := errors.Join(os.RemoveAll(p.dir), copyTree(p.dir, s.template.dir)); err != nil {
		t.Fatal(err)
	}
	return p
}

// saved copies a project from a disk to a directory that the whole test can see, and
// then fails unless the command works in the original place.
func (s *crashSite) saved(t *testing.T, p *program) *program {
	t.Helper()
	dir, err := os.MkdirTemp(s.dir, "")
	if err == nil {
		err = copyTree(dir, p.dir)
	}
	if err != nil {
		t.Fatal(err)
	}
	if code := s.run(t, p, s.command); code != "" && code != s.again {
		t.Errorf("once it is possible again, the command fails with %s", code)
	}
	return &program{dir: dir}
}

// sealed returns a fresh project in which nothing can be written, and a function that
// makes it writable again.
func (s *crashSite) sealed(t *testing.T) (p *program, unseal func()) {
	t.Helper()
	if os.Geteuid() != 0 { // Root ignores permissions.
		p = s.fresh(t)
		folders := []string{p.dir, filepath.Dir(ledgerOf(p))}
		change := func(mode os.FileMode) {
			for _, dir := range folders {
				if err := os.Chmod(dir, mode); err != nil && !errors.Is(err, os.ErrNotExist) {
					t.Fatal(err)
				}
			}
		}
		change(0o500)
		return p, func() { change(0o700) }
	}
	disk := smalldisk.New(t, "2m")
	p = s.freshOn(t, disk)
	// A bind mount can become read-only even while a process that another test starts
	// has inherited one of our files.
	err := unix.Mount(disk, disk, "", unix.MS_BIND, "")
	if err == nil {
		err = unix.Mount("", disk, "", unix.MS_REMOUNT|unix.MS_BIND|unix.MS_RDONLY, "")
	}
	if err != nil {
		t.Fatal(err)
	}
	return p, func() {
		if err := unix.Unmount(disk, unix.MNT_DETACH); err != nil {
			t.Fatal(err)
		}
	}
}
