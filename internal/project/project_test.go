package project_test

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/project"
)

// tree creates a directory with files; a path that ends in a slash is a directory.
func tree(t *testing.T, paths ...string) string {
	t.Helper()
	root := t.TempDir()
	for _, p := range paths {
		full := filepath.Join(root, p)
		if err := os.MkdirAll(filepath.Dir(full), 0o755); err != nil {
			t.Fatal(err)
		}
		if strings.HasSuffix(p, "/") {
			if err := os.MkdirAll(full, 0o755); err != nil {
				t.Fatal(err)
			}
		} else if err := os.WriteFile(full, []byte(p), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return root
}

func TestFindTakesTheNearestMarker(t *testing.T) {
	root := tree(t, ".git/", "a/switchyard.yaml", "a/b/c/", "d/.switchyard/", "d/e/", "f/")
	for from, want := range map[string]string{".": ".", "a/b/c": "a", "a": "a", "d/e": "d", "f": "."} {
		p, err := project.Find(filepath.Join(root, from))
		if err != nil {
			t.Fatal(err)
		}
		if p.Root != filepath.Join(root, want) || p.Dir != filepath.Join(root, from) {
			t.Errorf("from %s: %+v, want root %s", from, p, want)
		}
	}
	for _, bad := range []string{"none", "a/switchyard.yaml"} {
		if p, err := project.Find(filepath.Join(root, bad)); err == nil {
			t.Errorf("from %s: %+v", bad, p)
		}
	}
}

func TestReadStaysInTheProject(t *testing.T) {
	outside := tree(t, "secret")
	root := tree(t, ".git/", "sub/report", "real")
	link := func(target, name string) {
		t.Helper()
		if err := os.Symlink(target, filepath.Join(root, name)); err != nil {
			t.Fatal(err)
		}
	}
	link("../real", "sub/inner")
	link(filepath.Join(outside, "secret"), "absolute")
	link("../"+filepath.Base(filepath.Dir(outside))+"/"+filepath.Base(outside)+"/secret", "relative")
	link(outside, "folder")
	link("loop", "loop")
	p, err := project.Find(filepath.Join(root, "sub"))
	if err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{
		"report": "sub/report", "../real": "real", "inner": "real", filepath.Join(root, "real"): "real",
		filepath.Join(outside, "secret"): "secret",
	} {
		if got, err := p.Read(t.Context(), path, 100); err != nil || string(got) != want {
			t.Errorf("%s: %q, %v", path, got, err)
		}
	}
	for path, want := range map[string]errs.Code{
		"../absolute": errs.PathEscapesProject, "../relative": errs.PathEscapesProject, "../folder/secret": errs.PathEscapesProject,
		filepath.Join(root, "absolute"): errs.PathEscapesProject, "../loop": errs.FileUnreadable,
		"none": errs.FileNotFound, "../sub": errs.FileUnreadable, outside: errs.FileUnreadable,
		"real\x00": errs.FileUnreadable,
	} {
		if got, err := p.Read(t.Context(), path, 100); errs.CodeOf(err) != want {
			t.Errorf("Read %q: %q, %v, want %s", path, got, err, want)
		}
	}
	for path, want := range map[string]errs.Code{"../absolute": errs.PathEscapesProject, "../folder": errs.PathEscapesProject} {
		if got, err := p.Resolve(path); errs.CodeOf(err) != want {
			t.Errorf("Resolve %q: %q, %v, want %s", path, got, err, want)
		}
	}
	if got, err := p.Resolve("report"); err != nil || got != filepath.Join(root, "sub", "report") {
		t.Errorf("Resolve: %q, %v", got, err)
	}
	if _, err := p.Read(t.Context(), "report", 3); errs.CodeOf(err) != errs.FileTooLarge {
		t.Errorf("10 bytes pass a limit of 3: %v", err)
	}
}

func TestReadAllEndsWithItsContext(t *testing.T) {
	r, w := io.Pipe()
	defer w.Close()
	ctx, cancel := context.WithCancelCause(t.Context())
	stop := errors.New("stop")
	time.AfterFunc(10*time.Millisecond, func() { cancel(stop) })
	if _, err := project.ReadAll(ctx, r, "standard input", 10); !errors.Is(err, stop) {
		t.Errorf("got %v", err)
	}
}

func TestConfig(t *testing.T) {
	for _, c := range []struct {
		name, text string
		code       errs.Code
		says       string
	}{
		{"empty", "", "", ""},
		{"comment", "# nothing\n", "", ""},
		{"all keys", "max_rounds: 5\npolicy: routing@1.0.0\nplugins: {sarif: {categories: {default: style}}}\n", "", ""},
		{"unknown key", "max_round: 5\n", errs.ConfigInvalid, "line 1: unknown key max_round"},
		{"rounds out of range", "max_rounds: 101\n", errs.ConfigInvalid, "from 1 to 100"},
		{"no rounds", "max_rounds: 0\n", errs.ConfigInvalid, "from 1 to 100"},
		{"rounds with a fraction", "max_rounds: 1.5\n", errs.ConfigInvalid, "whole number"},
		{"rounds in words", "max_rounds: three\n", errs.ConfigInvalid, "three"},
		{"hard cap out of range", "hard_cap: 101\n", errs.ConfigInvalid, "from 1 to 100"},
		{"hard cap below the cap", "hard_cap: 4\nmax_rounds: 5\n", errs.ConfigInvalid, "line 1: hard_cap is 4; it must be at least max_rounds, which is 5"},
		{"hard cap below the default cap", "hard_cap: 2\n", errs.ConfigInvalid, "at least max_rounds, which is 3"},
		{"not YAML", "\tmax_rounds: 3\n", errs.ConfigInvalid, "line 1: found a tab"},
		{"a list", "- max_rounds\n", errs.ConfigInvalid, ""},
		{"two documents", "max_rounds: 3\n---\nmax_rounds: 4\n", errs.ConfigInvalid, "line 2: the file has more than one document"},
		{"plugin settings in prose", "plugins: {sarif: strict}\n", errs.ConfigInvalid, "strict"},
		{"key twice", "max_rounds: 3\nmax_rounds: 4\n", errs.ConfigInvalid, "already defined"},
		{"a number that JSON lacks", "plugins: {sarif: {x: .nan}}\n", errs.ConfigInvalid, "plugins.sarif"},
		{"aliases that explode", hostile(), errs.ConfigInvalid, ""},
		{"paths without end", "plugin_paths: [" + strings.Repeat("a, ", 257) + "]", errs.ConfigInvalid, "more than 256"},
		{"aliases of a long text", "plugins: {a: {v: &v " + strings.Repeat("x", 500_000) + ", w: [" + strings.Repeat("*v, ", 100_000) + "]}}", errs.ConfigInvalid, "aliases"},
	} {
		t.Run(c.name, func(t *testing.T) {
			root := tree(t, ".git/")
			if err := os.WriteFile(filepath.Join(root, project.ConfigFile), []byte(c.text), 0o644); err != nil {
				t.Fatal(err)
			}
			config, err := project.Project{Root: root, Dir: root}.Config(t.Context(), 100)
			if errs.CodeOf(err) != c.code || err != nil && !strings.Contains(err.Error(), c.says) {
				t.Fatalf("got %+v, %v", config, err)
			}
			if c.name == "all keys" && (config.MaxRounds != 5 || config.Policy != "routing@1.0.0" ||
				string(config.Plugins["sarif"].Settings) != `{"categories":{"default":"style"}}`) {
				t.Errorf("got %+v", config)
			}
		})
	}
	if c, err := (project.Project{Root: t.TempDir()}).Config(t.Context(), 100); err != nil || c.MaxRounds != 3 {
		t.Errorf("without a file: %+v, %v", c, err)
	}
}

// hostile returns YAML whose aliases would expand to 10^9 values.
func hostile() string {
	var b strings.Builder
	b.WriteString("plugins:\n  a: {v: &l0 x}\n")
	for i := range 9 {
		prev := string(rune('0' + i))
		next := string(rune('1' + i))
		b.WriteString("  b" + next + ": {v: &l" + next + " [" + strings.Repeat("*l"+prev+", ", 9) + "*l" + prev + "]}\n")
	}
	return b.String()
}
