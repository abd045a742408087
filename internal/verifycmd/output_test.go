//go:build unix

package verifycmd_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/switchyard-dev/switchyard/internal/errs"
)

func mode(t *testing.T, path string) os.FileMode {
	t.Helper()
	info, err := os.Lstat(path)
	if err != nil {
		t.Fatal(err)
	}
	return info.Mode()
}

// must fails the test if its setup fails.
func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func TestOutputIsForItsOwnerAlone(t *testing.T) {
	p := plan(t, "echo ok")
	run(t, p)
	file := logPath(p)
	if got := mode(t, file); got != 0o600 {
		t.Errorf("the file has %v", got)
	}
	for _, dir := range []string{filepath.Dir(file), filepath.Dir(filepath.Dir(file))} {
		if got := mode(t, dir); got != os.ModeDir|0o700 {
			t.Errorf("%s has %v", dir, got)
		}
	}
}

func TestEarlierOutputIsReplaced(t *testing.T) {
	p := plan(t, "echo first and longer")
	run(t, p)
	// A hard link shows that the file is not written into.
	other := filepath.Join(t.TempDir(), "other")
	must(t, os.Link(logPath(p), other))
	p.Line = "echo second"
	if got := run(t, p); got.Excerpt != "second\n" || log(t, p) != "second\n" {
		t.Errorf("got %+v", got)
	}
	if text, err := os.ReadFile(other); err != nil || string(text) != "first and longer\n" {
		t.Errorf("the earlier file holds %q, %v", text, err)
	}
}

func TestHiddenFileIsUnlinked(t *testing.T) {
	p := plan(t, "echo ok")
	must(t, os.MkdirAll(filepath.Dir(logPath(p)), 0o700))
	outside := filepath.Join(t.TempDir(), "outside")
	must(t, os.WriteFile(outside, []byte("untouched"), 0o600))
	must(t, os.Symlink(outside, logPath(p)))
	if got := run(t, p); got.Excerpt != "ok\n" || log(t, p) != "ok\n" || !mode(t, logPath(p)).IsRegular() {
		t.Errorf("got %+v", got)
	}
	if text, err := os.ReadFile(outside); err != nil || string(text) != "untouched" {
		t.Errorf("the link's target holds %q, %v", text, err)
	}
}

func TestHiddenFolderIsRefused(t *testing.T) {
	for _, folder := range []string{".switchyard", ".switchyard/verify"} {
		for name, plant := range map[string]func(t *testing.T, root, at string) string{
			"link outside": func(t *testing.T, _, at string) string {
				dir := t.TempDir()
				must(t, os.Symlink(dir, at))
				return dir
			},
			"link inside": func(t *testing.T, root, at string) string {
				must(t, os.Mkdir(filepath.Join(root, "src"), 0o700))
				target, err := filepath.Rel(filepath.Dir(at), filepath.Join(root, "src"))
				must(t, err)
				must(t, os.Symlink(target, at))
				return filepath.Join(root, "src")
			},
			"link to nothing": func(t *testing.T, _, at string) string {
				must(t, os.Symlink("nowhere", at))
				return ""
			},
			"file": func(t *testing.T, _, at string) string {
				must(t, os.WriteFile(at, nil, 0o600))
				return ""
			},
		} {
			t.Run(folder+"/"+name, func(t *testing.T) {
				p := plan(t, "touch ran")
				at := filepath.Join(p.Root, folder)
				must(t, os.MkdirAll(filepath.Dir(at), 0o700))
				dir := plant(t, p.Root, at)
				if err := wantError(t, t.Context(), p); errs.CodeOf(err) != errs.VerifyOutputUnsafe {
					t.Errorf("got %v", err)
				}
				if dir != "" {
					if names, err := os.ReadDir(dir); err != nil || len(names) > 0 {
						t.Errorf("the link's target has %v, %v", names, err)
					}
				}
				if _, err := os.Lstat(filepath.Join(p.Root, "ran")); err == nil {
					t.Error("the command was run")
				}
			})
		}
	}
}

func TestOutputThatCannotBeWritten(t *testing.T) {
	p := plan(t, "touch ran")
	must(t, os.MkdirAll(filepath.Join(logPath(p), "full"), 0o700)) // A directory with content is not removed.
	if err := wantError(t, t.Context(), p); errs.CodeOf(err) != errs.VerifyOutputFailed {
		t.Errorf("got %v", err)
	}
}

// TestCommandReplacesItsOutput checks that a command that removes or replaces its output
// file is judged by what it wrote.
func TestCommandReplacesItsOutput(t *testing.T) {
	p := plan(t, "echo written; rm .switchyard/verify/T1-r2.log; echo forged >.switchyard/verify/T1-r2.log")
	if got := run(t, p); got.Excerpt != "written\n" || got.OutputDigest != digest("written\n") {
		t.Errorf("got %+v", got)
	}
}
