package ledger_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/ledger"
	"github.com/switchyard-dev/switchyard/internal/smalldisk"
)

// onDisk returns the state directory of a ledger of 16 events on a disk of its own, the last
// of them in its log.
func onDisk(t *testing.T) (disk, dir string) {
	t.Helper()
	disk = smalldisk.New(t, "2m")
	dir = filepath.Join(disk, ".switchyard")
	l := open(t, dir)
	for i := range int64(16) {
		add(t, l, "a", i)
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	return disk, dir
}

// TestReadOnlyMedium tests that a ledger with its log is read there, and not written.
func TestReadOnlyMedium(t *testing.T) {
	disk, dir := onDisk(t)
	if err := unix.Mount("", disk, "", unix.MS_REMOUNT|unix.MS_RDONLY, ""); err != nil {
		t.Fatal(err)
	}
	l, err := ledger.Open(t.Context(), dir, digest)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	if report := wantSound(t, l); report.Events != 16 {
		t.Errorf("%d events", report.Events)
	}
	_, err = l.Append(t.Context(), "a", 16, clock(16), "note", []byte(`{}`))
	wantCode(t, err, errs.StateUnwritable)
	_, err = l.Compact(t.Context())
	wantCode(t, err, errs.StateUnwritable)
	_, err = l.Archive(t.Context(), []ledger.Head{{Task: "a", N: 16}})
	wantCode(t, err, errs.StateUnwritable)
}

// TestFullDiskForTheLog tests that neither an append nor Compact nor Archive leaves half of
// itself.
func TestFullDiskForTheLog(t *testing.T) {
	disk, dir := onDisk(t)
	filler := filepath.Join(disk, "filler")
	for pages := range 12 {
		smalldisk.Fill(t, filler, pages)
		l := open(t, dir)
		head, err := l.Head(t.Context(), "a")
		if err != nil {
			t.Fatal(err)
		}
		_, err = l.Append(t.Context(), "a", head.N, clock(head.N), "note", fmt.Appendf(nil, `"%020000d"`, 0))
		if err != nil {
			wantCode(t, err, errs.LedgerIO)
		} else {
			head.N++
		}
		if _, err := l.Compact(t.Context()); err != nil {
			wantCode(t, err, errs.LedgerIO)
		}
		if _, err := l.Archive(t.Context(), []ledger.Head{{Task: "a", N: head.N}}); err != nil {
			wantCode(t, err, errs.LedgerIO)
		}
		if err := errors.Join(l.Close(), os.Remove(filler)); err != nil {
			t.Fatal(err)
		}
		// Verify has threads that do not see the disk.
		events := collect(t, open(t, dir).EventsSince(t.Context(), 0))
		if int64(len(events)) != head.N {
			t.Fatalf("with %d pages of room, %d events are left of %d", pages, len(events), head.N)
		}
		for _, e := range events {
			if e.Hash != e.Sum() {
				t.Errorf("with %d pages of room, event %d became %.200s", pages, e.N, e.Body)
			}
		}
	}
}

// TestFullDiskForTheArchive tests that an Archive that fails gives back the space it took.
func TestFullDiskForTheArchive(t *testing.T) {
	disk, dir := onDisk(t)
	filler, packed := filepath.Join(disk, "filler"), filepath.Join(dir, "ledger.archive")
	l := open(t, dir)
	defer l.Close()
	random := rand.New(rand.NewPCG(1, 2))
	for n := int64(16); n < 32; n++ {
		body := make([]byte, 12_000)
		for i := range body {
			body[i] = byte('a' + random.IntN(26))
		}
		if _, err := l.Append(t.Context(), "a", n, clock(n), "note", fmt.Appendf(nil, "%q", body)); err != nil {
			t.Fatal(err)
		}
	}
	for pages := 0; pages < 100; pages += 2 {
		smalldisk.Fill(t, filler, pages)
		_, err := l.Archive(t.Context(), []ledger.Head{{Task: "a", N: 32}})
		if err := os.Remove(filler); err != nil {
			t.Fatal(err)
		}
		info, errStat := os.Stat(packed)
		if errStat != nil {
			t.Fatal(errStat)
		}
		if err == nil {
			if pages == 0 || info.Size() < 100_000 {
				t.Errorf("with %d pages of room, it archived %d bytes", pages, info.Size())
			}
			break
		}
		wantCode(t, err, errs.LedgerIO)
		if info.Size() > 0 {
			t.Errorf("with %d pages of room, it left %d bytes: %v", pages, info.Size(), err)
		}
	}
	for _, e := range collect(t, l.EventsSince(t.Context(), 0)) {
		if e.Hash != e.Sum() {
			t.Errorf("event %d became %.200s", e.N, e.Body)
		}
	}
}
