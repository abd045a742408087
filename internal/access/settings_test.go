package access

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/switchyard-dev/switchyard/internal/confinement"
	"github.com/switchyard-dev/switchyard/internal/errs"
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

// TestDecidingFiles checks that a process that edits the tree of the ledger cannot write to
// what decides about rounds, wherever in the tree that is.
func TestDecidingFiles(t *testing.T) {
	tree, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	site := Site{Root: tree, Tree: tree, State: filepath.Join(tree, ".switchyard"), Deciding: []string{"switchyard.yaml", "a/b/policy", ".claude/agents", "link.json"}}
	for _, path := range []string{".switchyard/ledger.db", ".git/config", "switchyard.yaml", "a/b/policy/routing.rego", "a/adapter.json", "a/b/code.go", "a/code.go", ".claude/notes"} {
		path = filepath.Join(tree, path)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink("a/adapter.json", filepath.Join(tree, "link.json")); err != nil {
		t.Fatal(err)
	}
	p, err := planOf(Settings{Want: confinement.Best()}, site, Needs{Edits: true})
	if err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]bool{
		".switchyard/ledger.db": false, ".git/config": false, "switchyard.yaml": false, "a/b/policy/routing.rego": false, "a/adapter.json": false, ".claude/agents/critic.md": false,
		"a/b/code.go": true, "a/code.go": true, ".claude/notes": true,
	} {
		writable := slices.ContainsFunc(p.spec.Write, func(folder string) bool { return within(filepath.Join(tree, path), folder) })
		if writable != want {
			t.Errorf("%s is writable: %v", path, writable)
		}
	}
}

// TestCheckout checks that a link in the project's root gives access to nothing else: a draft
// may have brought it.
func TestCheckout(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	root, tree, secret := filepath.Join(dir, "project"), filepath.Join(dir, "tree"), filepath.Join(dir, "home", ".ssh")
	for _, path := range []string{filepath.Join(root, ".codex"), tree, secret} {
		if err := os.MkdirAll(path, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(secret, filepath.Join(root, ".other")); err != nil {
		t.Fatal(err)
	}
	site := Site{Root: root, Tree: tree, State: filepath.Join(root, ".switchyard")}
	p, err := planOf(Settings{Want: confinement.Best()}, site, Needs{Checkout: []string{".codex", ".other"}})
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Contains(p.spec.Read, filepath.Join(root, ".codex")) || slices.Contains(p.spec.Read, secret) {
		t.Errorf("it can read %q", p.spec.Read)
	}
}

// TestLinksOfConfinedProcesses: a confined process, such as a verification in the checkout, may have made
// links in the project. They give a later one access to nothing else.
func TestLinksOfConfinedProcesses(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	root, home := filepath.Join(dir, "project"), filepath.Join(dir, "home")
	secret, ledger, cache, tools := filepath.Join(home, ".ssh"), filepath.Join(root, ".switchyard", "ledger.db"), filepath.Join(dir, "cache"), filepath.Join(home, "tools")
	for _, path := range []string{secret, ledger, filepath.Join(cache, "sub"), tools, filepath.Join(root, ".venv", "bin"), filepath.Join(root, "packages", "agent"), filepath.Join(root, ".git", "refs"), filepath.Join(root, ".git", "objects", "info"), filepath.Join(dir, "lender")} {
		if err := os.MkdirAll(path, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for link, target := range map[string]string{
		".venv/lib": secret, ".venv/share": ledger, ".venv/bin/agent": "../../packages/agent/run", "build": "../home/.ssh", "two": "one", "one": "/" + secret,
		"../outside": filepath.Join(root, "build"), "../cache/made": secret, "../link": "project", "../home/mine": "tools",
	} {
		if err := os.Symlink(target, filepath.Join(root, link)); err != nil {
			t.Fatal(err)
		}
	}
	for name, text := range map[string]string{"packages/agent/run": "#!/bin/sh\n", ".git/HEAD": "ref: refs/heads/main\n", ".git/objects/info/alternates": "\n../../../lender\n"} {
		if err := os.WriteFile(filepath.Join(root, name), []byte(text), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	site := Site{Root: root, Tree: root, State: filepath.Join(root, ".switchyard"), Environ: []string{
		"HOME=" + home, "PATH=" + filepath.Join(dir, "link", ".venv", "bin") + ":" + filepath.Join(home, "mine"), WriteVariable + "=:" + cache + ":", ReadVariable + "=:" + tools,
	}}
	p, err := planOf(Settings{Want: confinement.Best()}, site, Needs{Program: filepath.Join(root, ".venv", "bin", "agent")})
	if err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]bool{
		secret: false, ledger: false, root: false,
		cache: true, tools: true, filepath.Join(root, ".venv", "bin"): true, filepath.Join(root, "packages", "agent"): true, filepath.Join(dir, "lender"): true,
	} {
		if got := slices.ContainsFunc(slices.Concat(p.spec.Read, p.spec.Write), func(granted string) bool { return within(path, granted) }); got != want {
			t.Errorf("it can reach %s: %v", path, got)
		}
	}
	for _, path := range []string{"build", "two", filepath.Join(dir, "outside"), filepath.Join(cache, "made"), ".venv/share"} {
		if _, err := planOf(Settings{Want: confinement.Best(), Read: []string{path}}, site, Needs{}); errs.CodeOf(err) != errs.ConfinePathInvalid {
			t.Errorf("%s may be read: %v", path, err)
		}
	}
}

// TestTreeBehindALink checks that the ledger stays out of reach if the paths of a site lead
// through different links.
func TestTreeBehindALink(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	root, link := filepath.Join(dir, "project"), filepath.Join(dir, "link")
	for _, path := range []string{".switchyard", ".git", "code"} {
		if err := os.MkdirAll(filepath.Join(root, path), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(root, link); err != nil {
		t.Fatal(err)
	}
	for _, site := range []Site{
		{Root: root, Tree: link, State: filepath.Join(root, ".switchyard")}, {Root: link, Tree: root, State: filepath.Join(link, ".switchyard")},
	} {
		for _, edits := range []bool{false, true} {
			p, err := planOf(Settings{Want: confinement.Best()}, site, Needs{Edits: edits})
			if err != nil {
				t.Fatal(err)
			}
			for _, path := range append(p.spec.Read, p.spec.Write...) {
				if within(filepath.Join(root, ".switchyard"), path) || within(filepath.Join(link, ".switchyard"), path) {
					t.Errorf("tree %s, edits %v: %s has the ledger", site.Tree, edits, path)
				}
			}
			if p.leavesTree == edits {
				t.Errorf("tree %s, edits %v: it leaves the tree: %v", site.Tree, edits, p.leavesTree)
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

// TestWritableSettings tests which directories of the settings a process may write to.
func TestWritableSettings(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	root, home := filepath.Join(dir, "project"), filepath.Join(dir, "home")
	site := Site{
		Root: root, Tree: root, State: filepath.Join(root, ".switchyard"), Deciding: []string{"switchyard.yaml", "policies"},
		Environ: []string{"HOME=" + home},
	}
	for _, folder := range []string{filepath.Join(root, ".switchyard"), filepath.Join(root, ".git", "hooks"), filepath.Join(root, "policies"), filepath.Join(root, "out"), filepath.Join(home, "cache")} {
		if err := os.MkdirAll(folder, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(filepath.Join(root, ".git"), filepath.Join(home, "link")); err != nil {
		t.Fatal(err)
	}
	for path, allowed := range map[string]bool{
		"out": true, "~/cache": true, dir: false, "/": false, "~/": false, ".": false, ".switchyard": false, ".git/hooks": false,
		"policies": false, "~/link": false, "~/link/hooks": false, "missing": false, "out/..": false,
	} {
		_, err := planOf(Settings{Want: confinement.Best(), Write: []string{path}}, site, Needs{})
		if allowed != (err == nil) || !allowed && errs.CodeOf(err) != errs.ConfinePathInvalid {
			t.Errorf("%s: %v", path, err)
		}
	}
}

// TestWritableRepository: the git directory of a project that is a linked worktree, or a part
// of its repository, is elsewhere.
func TestWritableRepository(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	main, linked := filepath.Join(dir, "main"), filepath.Join(dir, "linked")
	for _, path := range []string{".git/refs", ".git/objects", ".git/hooks", ".git/worktrees/w", "part", "../linked", "out"} {
		if err := os.MkdirAll(filepath.Join(main, path), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for name, text := range map[string]string{
		".git/HEAD": "ref: refs/heads/main\n", ".git/worktrees/w/HEAD": "ref: refs/heads/w\n", ".git/worktrees/w/commondir": "../..\n",
		"../linked/.git": "gitdir: " + filepath.Join(main, ".git", "worktrees", "w") + "\n",
	} {
		if err := os.WriteFile(filepath.Join(main, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, root := range []string{main, linked, filepath.Join(main, "part")} {
		site := Site{Root: root, Tree: root, State: filepath.Join(root, ".switchyard")}
		for path, allowed := range map[string]bool{filepath.Join(main, "out"): true, filepath.Join(main, ".git"): false, filepath.Join(main, ".git", "hooks"): false} {
			if _, err := planOf(Settings{Want: confinement.Best(), Write: []string{path}}, site, Needs{}); allowed != (err == nil) {
				t.Errorf("in %s, %s: %v", root, path, err)
			}
		}
	}
}
