package ledger_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/ledger"
)

// withArchive creates a closed ledger of the tasks a and b with three events each, those of
// a archived, and returns all events as they were before.
func withArchive(t *testing.T) (dir string, before []ledger.Event) {
	t.Helper()
	dir = state(t)
	l := open(t, dir)
	for i := range int64(3) {
		for _, task := range []string{"a", "b"} {
			body := fmt.Appendf(nil, `{"text":"%s %d"}`, strings.Repeat("much ", 3000), i)
			if _, err := l.Append(t.Context(), task, i, clock(i), "note", body); err != nil {
				t.Fatal(err)
			}
		}
	}
	before = collect(t, l.EventsSince(t.Context(), 0))
	moved, err := l.Archive(t.Context(), []ledger.Head{{Task: "a", N: 3}, {Task: "b", N: 2}})
	if err != nil {
		t.Fatal(err)
	}
	if moved.Tasks != 1 || moved.Events != 3 || moved.Bodies < 45_000 || moved.Archive > 1000 {
		t.Errorf("it moved %+v", moved)
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	return dir, before
}

// TestArchiveIsNoLink tests that nothing is written through a link.
func TestArchiveIsNoLink(t *testing.T) {
	dir := state(t)
	l := open(t, dir)
	if _, err := l.Append(t.Context(), "a", 0, clock(0), "note", []byte(`{"text":"`+strings.Repeat("much ", 3000)+`"}`)); err != nil {
		t.Fatal(err)
	}
	target := filepath.Join(dir, "target")
	if err := os.WriteFile(target, []byte("theirs"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("target", filepath.Join(dir, "ledger.archive")); err != nil {
		t.Skipf("no symbolic links here: %v", err)
	}
	if _, err := l.Archive(t.Context(), []ledger.Head{{Task: "a", N: 1}}); errs.CodeOf(err) != errs.StateUnsafe {
		t.Errorf("%v", err)
	}
	if got, err := os.ReadFile(target); err != nil || string(got) != "theirs" {
		t.Errorf("the target has %.100q, %v", got, err)
	}
	wantSound(t, l)
}

// TestArchivedEventsAreRead tests that no reader sees a difference.
func TestArchivedEventsAreRead(t *testing.T) {
	dir, before := withArchive(t)
	l := open(t, dir)
	if got := collect(t, l.EventsSince(t.Context(), 0)); asJSON(t, got) != asJSON(t, before) {
		t.Error("the events differ")
	}
	if e, err := l.Event(t.Context(), "a", 2); err != nil || asJSON(t, e) != asJSON(t, before[2]) {
		t.Errorf("the event is %.200s, %v", asJSON(t, e), err)
	}
	other := outside(t, filepath.Join(dir, "ledger.db"))
	if got := collect(t, other.Events(t.Context(), "a", 1)); len(got) != 3 || got[2].Hash != got[2].Sum() {
		t.Error("another project reads other events")
	}
	wantSound(t, l)
	if err := l.Refold(t.Context()); err != nil {
		t.Error(err)
	}
	wantSound(t, l)

	if c := compacted(t, l); c.After.Database > 100_000 { // b has 45,000.
		t.Errorf("the sizes are %+v", c)
	}
	add(t, l, "a", 3) // An archived task can go on.
	again, err := l.Archive(t.Context(), []ledger.Head{{Task: "a", N: 4}})
	if err != nil || again.Events != 1 {
		t.Errorf("again it moved %+v, %v", again, err)
	}
	if report := wantSound(t, l); report.Events != 7 {
		t.Errorf("%d events", report.Events)
	}
}

// TestDamagedArchive tests that nothing of an archive is trusted.
func TestDamagedArchive(t *testing.T) {
	dir, _ := withArchive(t)
	path := filepath.Join(dir, "ledger.archive")
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	flipped := bytes.Clone(whole)
	flipped[len(flipped)/2] ^= 0x40
	for name, damage := range map[string]func() error{
		"missing": func() error { return os.Remove(path) },
		"cut":     func() error { return os.WriteFile(path, whole[:len(whole)-9], 0o600) },
		"flipped": func() error { return os.WriteFile(path, flipped, 0o600) },
		"a link": func() error {
			if err := os.Rename(path, path+".there"); err != nil {
				return err
			}
			return os.Symlink(path+".there", path)
		},
	} {
		t.Run(name, func(t *testing.T) {
			if err := damage(); err != nil {
				t.Fatal(err)
			}
			l := open(t, dir)
			if report := verify(t, l); report.Sound() || report.Events != 6 || report.Problems[0].Task != "a" {
				t.Errorf("verify reports %+v", report)
			}
			if name != "flipped" { // Its hash shows what is no error of the compression.
				var err error
				for _, err = range l.Events(t.Context(), "a", 1) {
				}
				if code := errs.CodeOf(err); code != errs.LedgerArchive && (name != "a link" || code != errs.StateUnsafe) {
					t.Errorf("reading says %v", err)
				}
			}
			if _, err := l.Head(t.Context(), "a"); err != nil {
				t.Error(err)
			}
			if err := l.Close(); err != nil {
				t.Fatal(err)
			}
			os.Remove(path)
			if err := os.WriteFile(path, whole, 0o600); err != nil {
				t.Fatal(err)
			}
		})
	}
	l := open(t, dir)
	wantSound(t, l)
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	for change, undo := range map[string]string{
		`body || ' x'`:                 `substr(body, 1, length(body) - 2)`,
		`body || '0'`:                  `substr(body, 1, length(body) - 1)`,
		`replace(body, ' 0 ', ' 00 ')`: `replace(body, ' 00 ', ' 0 ')`,
	} {
		edit(t, dir, `UPDATE events SET body = `+change+` WHERE seq = 1`)
		if verify(t, open(t, dir)).Sound() {
			t.Errorf("the reference %s is sound", change)
		}
		edit(t, dir, `UPDATE events SET body = `+undo+` WHERE seq = 1`)
		wantSound(t, open(t, dir))
	}
	for _, body := range []string{"archived", "archived ", "archived -1 5", "archived 5 5", "archived x"} {
		edit(t, dir, fmt.Sprintf(`UPDATE events SET body = '%s' WHERE seq = 1`, body))
		if verify(t, open(t, dir)).Sound() {
			t.Errorf("the reference %q is sound", body)
		}
	}
}

// TestIncompleteArchive tests that nothing is written to an archive that lacks bodies: the
// places of the new bodies would be those of others, and a backup would replace them.
func TestIncompleteArchive(t *testing.T) {
	dir, before := withArchive(t)
	path := filepath.Join(dir, "ledger.archive")
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	l := open(t, dir)
	for name, damage := range map[string]func() error{
		"missing":   func() error { return os.Remove(path) },
		"empty":     func() error { return os.Truncate(path, 0) },
		"one short": func() error { return os.Truncate(path, int64(len(whole)-1)) },
	} {
		if err := damage(); err != nil {
			t.Fatal(err)
		}
		left, _ := os.ReadFile(path)
		for _, heads := range [][]ledger.Head{{{Task: "b", N: 3}}, {{Task: "a", N: 3}}, nil} {
			if moved, err := l.Archive(t.Context(), heads); errs.CodeOf(err) != errs.LedgerArchive {
				t.Errorf("%s: %v moved %+v, %v", name, heads, moved, err)
			}
		}
		compacted(t, l)
		if now, _ := os.ReadFile(path); exists(path) != (name != "missing") || !bytes.Equal(now, left) {
			t.Errorf("%s: the archive was changed", name)
		}
		if err := os.WriteFile(path, whole, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if moved, err := l.Archive(t.Context(), []ledger.Head{{Task: "b", N: 3}}); err != nil || moved.Events != 3 {
		t.Errorf("it moved %+v, %v", moved, err)
	}
	if got := collect(t, l.EventsSince(t.Context(), 0)); asJSON(t, got) != asJSON(t, before) {
		t.Error("the events differ")
	}
	wantSound(t, l)
}

// TestKilledBeforeItsTransaction tests bytes that a killed Archive left.
func TestKilledBeforeItsTransaction(t *testing.T) {
	dir := fill(t)
	if err := os.WriteFile(filepath.Join(dir, "ledger.archive"), []byte("left"), 0o600); err != nil {
		t.Fatal(err)
	}
	l := open(t, dir)
	if moved, err := l.Archive(t.Context(), []ledger.Head{{Task: "a", N: 5}}); err != nil || moved.Events != 5 {
		t.Errorf("it moved %+v, %v", moved, err)
	}
	wantSound(t, l)
}
