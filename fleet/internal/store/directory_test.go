package store_test

import (
	"bufio"
	"context"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/switchyard-dev/switchyard/fleet/internal/store"
	"github.com/switchyard-dev/switchyard/internal/digest"
)

// writerVariable makes the test program put blobs into the directory that it names until it
// is killed. It prints their digests.
const writerVariable = "SWITCHYARD_TEST_STORE_WRITER"

func TestMain(m *testing.M) {
	if dir := os.Getenv(writerVariable); dir != "" {
		s, err := store.Open(context.Background(), dir)
		for err == nil {
			var sum string
			// Small and large ones, and the same from time to time.
			sum, err = s.Put(context.Background(), []byte(strings.Repeat(fmt.Sprint(rand.N(1000)), 1<<rand.N(20))))
			fmt.Println(sum)
		}
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(m.Run())
}

func TestKilledWriters(t *testing.T) {
	dir := t.TempDir()
	total := 0
	for i := 0; i < 20 || total == 0; i++ {
		cmd := exec.CommandContext(t.Context(), os.Args[0])
		cmd.Env = append(os.Environ(), writerVariable+"="+dir)
		var complaint strings.Builder
		cmd.Stderr = &complaint
		out, err := cmd.StdoutPipe()
		must(t, err)
		must(t, cmd.Start())
		time.AfterFunc(rand.N(time.Duration(i+1)*10*time.Millisecond), func() { cmd.Process.Kill() })
		s := open(t, dir)
		for lines := bufio.NewScanner(out); lines.Scan(); total++ {
			if _, err := s.Get(t.Context(), lines.Text()); digest.Valid(lines.Text()) && err != nil {
				t.Errorf("acknowledged: %v", err)
			}
		}
		cmd.Wait()
		if complaint.Len() > 0 {
			t.Fatal(complaint.String())
		}
		wantSound(t, dir)
	}
}

// wantSound requires that every file is a whole blob, but for drafts that killed processes
// left.
func wantSound(t *testing.T, dir string) {
	t.Helper()
	s := open(t, dir)
	must(t, filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err == nil && !entry.IsDir() && !strings.HasPrefix(entry.Name(), ".") {
			_, err = s.Get(t.Context(), digest.Prefix+strings.TrimSuffix(entry.Name(), ".gz"))
		}
		return err
	}))
}

// TestPutAgain tests that a blob that is in use is not the oldest, and is not replaced.
func TestPutAgain(t *testing.T) {
	p := directoryPlace(t)
	s := open(t, p.location)
	sum := put(t, s, []byte("the same prompt"))
	file := filepath.Join(p.location, nameOf(sum))
	before, err := os.Stat(file)
	must(t, err)
	old := time.Now().Add(-30 * 24 * time.Hour)
	must(t, os.Chtimes(file, old, old))
	put(t, s, []byte("the same prompt"))
	after, err := os.Stat(file)
	if err != nil || !os.SameFile(before, after) || !after.ModTime().After(old) {
		t.Errorf("%v, %v", after, err)
	}
}
