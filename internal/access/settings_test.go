package access

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/switchyard-dev/switchyard/internal/confinement"
)

// TestPrograms checks that a process may read its program, and not what lies beside it if
// that is a home directory or a project.
func TestPrograms(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	home := filepath.Join(dir, "home")
	site := Site{
		Root: filepath.Join(dir, "project"), Tree: filepath.Join(dir, "tree"), State: filepath.Join(dir, "project", ".switchyard"),
		Environ: []string{"HOME=" + home},
	}
	secrets := []string{filepath.Join(home, ".ssh", "key"), filepath.Join(site.State, "ledger.db"), filepath.Join(home, ".config", "git", "credentials")}
	programs := []string{
		filepath.Join(home, "agent"), filepath.Join(site.Root, "agent"), filepath.Join(site.Tree, "agent"), filepath.Join(dir, "agent"),
		filepath.Join(home, "tools", "agent"),
	}
	for _, path := range append(append([]string{filepath.Join(home, ".config", "git", "config")}, secrets...), programs...) {
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte("#!/bin/sh\n"), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for _, program := range programs {
		for _, edits := range []bool{false, true} {
			p, err := planOf(Settings{Want: confinement.Best()}, site, Needs{Program: program, Edits: edits})
			if err != nil {
				t.Fatal(err)
			}
			reads := func(path string) bool {
				for _, folder := range append(p.spec.Read, p.spec.Write...) {
					if within(path, folder) {
						return true
					}
				}
				return false
			}
			for _, secret := range secrets {
				if reads(secret) {
					t.Errorf("%s can read %s", program, secret)
				}
			}
			if !reads(program) || !reads(filepath.Join(home, ".config", "git", "config")) {
				t.Errorf("%s cannot read itself or the settings of git: %q", program, p.spec.Read)
			}
		}
	}
}

// TestWithoutHome checks that paths below an unknown home directory are not taken for paths
// in the tree.
func TestWithoutHome(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, name := range []string{".claude", ".gitconfig"} {
		if err := os.Mkdir(name, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	p, err := planOf(Settings{Want: confinement.Best()}, Site{Root: "/p", Tree: "/p", State: "/p/.switchyard"}, Needs{State: []string{".claude"}})
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range append(p.spec.Read, p.spec.Write...) {
		if !filepath.IsAbs(path) {
			t.Errorf("%s is not absolute", path)
		}
	}
}
