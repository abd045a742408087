package project_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/project"
)

var zeros = "sha256:" + strings.Repeat("0", 64)

func TestLockKeepsItsPins(t *testing.T) {
	p := project.Project{Root: t.TempDir(), Dir: "/"}
	if lock, err := p.Lock(t.Context()); err != nil || len(lock.Plugins) != 0 {
		t.Errorf("without a file: %+v, %v", lock, err)
	}
	want := []project.Pin{
		{Path: "a.wasm", Name: "a", Version: "1.0", Digest: zeros},
		{Path: "folder: with # signs/'b'\n.wasm", Name: "b", Version: "yes", Digest: zeros},
	}
	if err := p.WriteLock(project.Lock{Plugins: want}); err != nil {
		t.Fatal(err)
	}
	lock, err := p.Lock(t.Context())
	if err != nil || !slices.Equal(lock.Plugins, want) {
		t.Errorf("got %+v, %v", lock, err)
	}
	if pin, ok := lock.Find("a.wasm"); !ok || pin != want[0] {
		t.Errorf("found %+v", pin)
	}
	if pin, ok := lock.Find("b.wasm"); ok {
		t.Errorf("found %+v", pin)
	}
}

func TestLockIsReadStrictly(t *testing.T) {
	pin := "{path: a.wasm, name: a, version: 1.0.0, digest: " + zeros + "}"
	for _, c := range []struct{ name, text, says string }{
		{"no YAML", "plugins: [", ""},
		{"a list", "- " + pin, ""},
		{"unknown key", "plugin: []", "unknown key plugin"},
		{"unknown key of a pin", "plugins: [{path: a.wasm, sha: x}]", "unknown key plugins.sha"},
		{"two documents", "plugins: []\n---\nplugins: []", "more than one"},
		{"no path", "plugins: [{digest: " + zeros + "}]", "is not a path inside"},
		{"a path outside", strings.Replace("plugins: ["+pin+"]", "a.wasm", "../a.wasm", 1), "is not a path inside"},
		{"an absolute path", strings.Replace("plugins: ["+pin+"]", "a.wasm", "/a.wasm", 1), "is not a path inside"},
		{"a path in another spelling", strings.Replace("plugins: ["+pin+"]", "a.wasm", "./a.wasm", 1), "is not a path inside"},
		{"twice", "plugins: [" + pin + ", " + pin + "]", "pinned twice"},
		{"another digest", strings.Replace("plugins: ["+pin+"]", "sha256:", "sha512:", 1), "sha256"},
		{"a short digest", strings.Replace("plugins: ["+pin+"]", "00}", "}", 1), "64 hex digits"},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := project.Project{Root: t.TempDir()}
			if err := os.WriteFile(filepath.Join(p.Root, project.LockFile), []byte(c.text), 0o644); err != nil {
				t.Fatal(err)
			}
			lock, err := p.Lock(t.Context())
			if errs.CodeOf(err) != errs.LockInvalid || !strings.Contains(err.Error(), c.says) || strings.Contains(err.Error(), "project.") {
				t.Errorf("got %+v, %v", lock, err)
			}
		})
	}
}

// TestLockIsReplacedAtOnce runs writers and readers at the same time: a reader gets one
// complete lock.
func TestLockIsReplacedAtOnce(t *testing.T) {
	p := project.Project{Root: t.TempDir()}
	lockOf := func(n int) project.Lock {
		var l project.Lock
		for i := range n {
			l.Plugins = append(l.Plugins, project.Pin{Path: strings.Repeat("a", i+1), Name: strings.Repeat("n", n), Digest: zeros})
		}
		return l
	}
	if err := p.WriteLock(lockOf(1)); err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			for range 10 {
				if err := p.WriteLock(lockOf(i + 1)); err != nil {
					t.Error(err)
				}
				lock, err := p.Lock(t.Context())
				if err != nil || len(lock.Plugins) == 0 || len(lock.Plugins[0].Name) != len(lock.Plugins) {
					t.Errorf("got %+v, %v", lock, err)
				}
			}
		})
	}
	wg.Wait()
	if files, err := os.ReadDir(p.Root); err != nil || len(files) != 1 {
		t.Errorf("left are %v, %v", files, err)
	}
}

func TestLockThatCannotBeWritten(t *testing.T) {
	p := project.Project{Root: t.TempDir()}
	if err := os.Mkdir(filepath.Join(p.Root, project.LockFile), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := p.WriteLock(project.Lock{}); errs.CodeOf(err) != errs.FileUnwritable {
		t.Errorf("over a directory: %v", err)
	}
	if files, err := os.ReadDir(p.Root); err != nil || len(files) != 1 {
		t.Errorf("left are %v, %v", files, err)
	}
	p.Root = filepath.Join(p.Root, "gone")
	if err := p.WriteLock(project.Lock{}); errs.CodeOf(err) != errs.FileUnwritable {
		t.Errorf("in no directory: %v", err)
	}
}
