package filelock_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/switchyard-dev/switchyard/internal/filelock"
)

func TestOneAtATime(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	open := func() *os.File {
		t.Helper()
		f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { f.Close() })
		return f
	}
	try := func(f *os.File, want bool) {
		t.Helper()
		if got, err := filelock.Try(f); err != nil || got != want {
			t.Errorf("got %t, %v, want %t", got, err, want)
		}
	}
	first, second := open(), open()
	try(first, true)
	try(second, false)
	if text := []byte("read"); os.WriteFile(path, text, 0o600) != nil {
		t.Error("who has the lock keeps others from writing")
	}
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	try(second, true)
	if _, err := filelock.Try(first); err == nil {
		t.Error("a closed file is locked")
	}
}
