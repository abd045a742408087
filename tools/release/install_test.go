package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/mod/module"
	"golang.org/x/mod/zip"
)

// TestGoInstall installs the program by its version, as from a module proxy, which
// refuses a module with replace directives.
func TestGoInstall(t *testing.T) {
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	const path, version = "github.com/switchyard-dev/switchyard", "v1.2.3"
	proxy := t.TempDir()
	dir := filepath.Join(proxy, path, "@v")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	packed, err := os.Create(filepath.Join(dir, version+".zip"))
	if err != nil {
		t.Fatal(err)
	}
	if err := zip.CreateFromVCS(packed, module.Version{Path: path, Version: version}, root, "HEAD", ""); err != nil {
		t.Fatal(err)
	}
	if err := packed.Close(); err != nil {
		t.Fatal(err)
	}
	mod, err := exec.Command("git", "-C", root, "show", "HEAD:go.mod").Output()
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{version + ".mod": string(mod), version + ".info": `{"Version":"` + version + `"}`, "list": version + "\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	run := func(name string, args ...string) string {
		t.Helper()
		cmd := exec.Command(name, args...)
		cmd.Dir = t.TempDir()
		cmd.Env = append(os.Environ(),
			"GOPROXY=file://"+proxy+",file://"+goEnv(t, "GOMODCACHE")+"/cache/download,"+goEnv(t, "GOPROXY"),
			"GOMODCACHE="+filepath.Join(proxy, "modules"), "GOBIN="+filepath.Join(proxy, "bin"),
			// go install has no go.sum of others, and asks for sums by network.
			"GONOSUMDB="+path, "GOSUMDB=off", "GOFLAGS=-modcacherw -trimpath", "CGO_ENABLED=0")
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%s %q: %v\n%s", name, args, err, out)
		}
		return string(out)
	}
	run("go", "install", path+"/cmd/switchyard@"+version, path+"/cmd/switchyard-mcp@"+version)
	if out := run(filepath.Join(proxy, "bin", "switchyard"), "version"); !strings.HasPrefix(out, "switchyard "+version+" ") {
		t.Errorf("it prints %q", out)
	}
}

func goEnv(t *testing.T, name string) string {
	t.Helper()
	out, err := exec.Command("go", "env", name).Output()
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(out))
}

func TestCutNotes(t *testing.T) {
	const changelog = "# Changelog\n\n## Unreleased\n\nNew.\n\n## v1.0.0\n\nOld.\n"
	for version, want := range map[string]string{"v1.0.0": "Old.\n", "v1.1.0": "New.\n"} {
		if got, err := cutNotes(changelog, version); err != nil || got != want {
			t.Errorf("%s: %q, %v", version, got, err)
		}
	}
	if _, err := cutNotes("# Changelog\n", "v1.0.0"); err == nil {
		t.Error("no section is no error")
	}
}

func TestCollectRefuses(t *testing.T) {
	if _, err := collect(map[string]string{"example.org/mine v1.0.0": t.TempDir()}); err == nil {
		t.Error("a module without a licence is allowed")
	}
}
