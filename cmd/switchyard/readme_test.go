package main

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/switchyard-dev/switchyard/internal/access"
	"github.com/switchyard-dev/switchyard/internal/agent/fakeagent"
)

// TestReadmeShowsRealOutput runs the commands of the README in a project with the real
// reports and a task for fake agents.
func TestReadmeShowsRealOutput(t *testing.T) {
	follow(t, "README.md", false, newProject(t, "", withRun))
}

// withRun adds the project of a run, in a repository without changes, and its fake agents.
func withRun(t *testing.T, project string) {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skipf("run needs git: %v", err)
	}
	files := filepath.Join(repository, "testdata", "run")
	scenario := filepath.Join(t.TempDir(), "agent.json") // The agent writes its calls beside it.
	for name, to := range map[string]string{
		"upload.sh": filepath.Join(project, "upload.sh"), "test.sh": filepath.Join(project, "test.sh"), "task.md": filepath.Join(project, "task.md"),
		"agent.json": scenario,
	} {
		text, err := os.ReadFile(filepath.Join(files, name))
		if err == nil {
			err = os.WriteFile(to, text, 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("SWITCHYARD_CLAUDE_BIN", fakeagent.Build(t))
	t.Setenv(fakeagent.ScenarioVariable, scenario)
	t.Setenv(access.WriteVariable, filepath.Dir(scenario))
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	out, err := inShell(t, project)(`git init -q && git config user.name ann && git config user.email ann@example.com && git add -A && git commit -q -m "Upload a file"`)
	if err != nil {
		t.Fatalf("%v:\n%s", err, out)
	}
}

// TestGuideShowsRealOutput runs the commands of the guide with a fake agent.
func TestGuideShowsRealOutput(t *testing.T) {
	agent := fakeagent.Build(t)
	script := fakeagent.Write(t, t.TempDir(), fakeagent.Finds(fakeagent.Finding{
		Category: "edge-case-gap", Severity: "fail", File: "src/api.php", Line: 42, Remediation: "Test the retry after the third failure",
	}))
	t.Setenv("SWITCHYARD_CLAUDE_BIN", agent)
	t.Setenv(fakeagent.ScenarioVariable, script)
	t.Setenv(access.WriteVariable, filepath.Dir(script))
	follow(t, "docs/guide.md", false, newProject(t, ""))
}

// TestTutorial follows docs/tutorial.md in an empty directory, with the real go and staticcheck.
func TestTutorial(t *testing.T) {
	if testing.Short() {
		t.Skip("short mode: a page's commands run one after another")
	}
	for _, name := range []string{"git", "go", "make"} {
		if _, err := exec.LookPath(name); err != nil {
			t.Skipf("the tutorial needs %s: %v", name, err)
		}
	}
	tool := exec.Command("go", "tool", "-modfile=tools/go.mod", "-n", "staticcheck") // It prints the path of the program, which it builds.
	tool.Dir, tool.Stderr = repository, os.Stderr
	path, err := tool.Output()
	if err != nil {
		t.Fatal(err)
	}
	tools, state, project := t.TempDir(), t.TempDir(), filepath.Join(t.TempDir(), "shop")
	for _, err := range []error{os.Symlink(strings.TrimSpace(string(path)), filepath.Join(tools, "staticcheck")), os.Mkdir(project, 0o755)} {
		if err != nil {
			t.Fatal(err)
		}
	}
	for name, value := range map[string]string{
		"PATH": tools + string(os.PathListSeparator) + os.Getenv("PATH"), "XDG_STATE_HOME": state, "LC_ALL": "C.UTF-8",
		"GOFLAGS":         "", // With -trimpath staticcheck reports what it remembers of another directory.
		"GIT_AUTHOR_NAME": "alice", "GIT_AUTHOR_EMAIL": "alice@example.com", "GIT_COMMITTER_NAME": "alice", "GIT_COMMITTER_EMAIL": "alice@example.com",
	} {
		t.Setenv(name, value)
	}
	run := withoutPlaces(inShell(t, project), state)
	follow(t, "docs/tutorial.md", true, func(script string) (string, error) {
		if strings.Contains(script, "switchyard plugin test") { // A busy machine needs more than two seconds for 10,000 items.
			script = "echo 'plugin_limits: {time: 1m}' >>switchyard.yaml\n" + script
		}
		return run(script)
	})
}

// withoutPlaces replaces the paths of worktrees in a script's output by those of a reader.
func withoutPlaces(run func(string) (string, error), state string) func(string) (string, error) {
	return func(script string) (string, error) {
		out, err := run(script)
		out = strings.ReplaceAll(out, state, "/home/alice/.local/state")
		return regexp.MustCompile(`shop-[0-9a-f]{12}`).ReplaceAllString(out, "shop-5e03fa50af2b"), err
	}
}

// TestConfigurationPage uses the page's example as a project's configuration.
func TestConfigurationPage(t *testing.T) {
	if testing.Short() {
		t.Skip("short mode: it is slow, and tests no concurrency")
	}
	page, err := os.ReadFile(filepath.Join(repository, "docs", "configuration.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(page), "```yaml\n")
	config, _, found := strings.Cut(rest, "```")
	if !found {
		t.Fatal("the page shows no configuration")
	}
	config, found = replaced(config, "plugin_paths: [tools/plugins]", "plugin_paths: []") // The test has no such directory.
	if !found {
		t.Fatal("the page's example has other plugin_paths")
	}
	run := newProject(t, config)
	if out, err := run("mkdir keys && echo '" + publicKey(t) + "' > keys/policy.pem"); err != nil {
		t.Fatalf("%v:\n%s", err, out)
	}
	got, err := run("switchyard route --report staticcheck-logrus.sarif --report gosec-logrus.sarif")
	if err != nil {
		t.Errorf("%v:\n%s", err, got)
	}
	for _, want := range []string{"round 1 of 3", "dead-code         hooks/test/test_test.go:87", "silenced-failure  writer.go:99", "lint-violation    logrus.go:17"} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in:\n%s", want, got)
		}
	}
}

// replaced replaces a text's first occurrence of old, and reports whether there was
// one.
func replaced(text, old, with string) (string, bool) {
	return strings.Replace(text, old, with, 1), strings.Contains(text, old)
}

// publicKey returns a new public key for ES256, in PEM.
func publicKey(t *testing.T) string {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	der, err := x509.MarshalPKIXPublicKey(key.Public())
	if err != nil {
		t.Fatal(err)
	}
	return string(pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der}))
}

// newProject makes a project with the real reports and a configuration, and returns a
// function that runs a script in it and returns all its output.
func newProject(t *testing.T, config string, more ...func(*testing.T, string)) func(script string) (string, error) {
	t.Helper()
	project := t.TempDir()
	if err := os.CopyFS(project, os.DirFS(filepath.Join(repository, "testdata", "reports"))); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(project, "switchyard.yaml"), []byte(config), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, add := range more {
		add(t, project)
	}
	return inShell(t, project)
}

// TestAmendingPage amends the policy of a new project by following docs/amending.md.
func TestAmendingPage(t *testing.T) {
	t.Parallel()
	follow(t, "docs/amending.md", true, inShell(t, t.TempDir()))
}

// TestRunPage runs tasks by following docs/run.md, with a fake agent.
func TestRunPage(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skipf("no git: %v", err)
	}
	question := fakeagent.Finds(fakeagent.Finding{
		Category: "question-to-user", Severity: "fail", Remediation: "Ask for the port",
		Question: &fakeagent.Question{Question: "Which port shall it be?", Choices: []string{"80", "443"}},
	})
	executor, clean := fakeagent.Edits(), fakeagent.Clean()
	t.Setenv("SWITCHYARD_CLAUDE_BIN", fakeagent.Build(t))
	script := fakeagent.Write(t, t.TempDir(),
		executor, fakeagent.Finds(fakeagent.Finding{Category: "missing-test", Severity: "fail", File: "upload.go", Line: 12, Remediation: "Test the third failure"}), executor, clean,
		executor, question, executor, clean,
		executor, clean, executor, clean)
	t.Setenv(fakeagent.ScenarioVariable, script)
	t.Setenv(access.WriteVariable, filepath.Dir(script))
	state, project := t.TempDir(), filepath.Join(t.TempDir(), "shop")
	t.Setenv("XDG_STATE_HOME", state)
	if err := os.Mkdir(project, 0o755); err != nil {
		t.Fatal(err)
	}
	sh := inShell(t, project)
	if out, err := sh(`git init -q -b main
git config user.name alice
git config user.email alice@example.com
echo 'package shop' >upload.go
printf 'verify: test -e upload.go\naudit: {agents: []}\n' >switchyard.yaml
printf '*.md\n*.txt\n*.yaml\n!/switchyard.yaml\n!/draft.txt\n' >.gitignore
git add -A
git commit -q -m 'Upload files'`); err != nil {
		t.Fatalf("%v:\n%s", err, out)
	}
	run := withoutPlaces(sh, state)
	follow(t, "docs/run.md", true, func(script string) (string, error) {
		out, err := run(script)
		out = regexp.MustCompile(`\b\d+(\.\d+)?m?s,`).ReplaceAllString(out, "20ms,")
		return regexp.MustCompile(`\b[0-9a-f]{12}\b`).ReplaceAllString(out, "3f2a90c1d4e5"), err
	})
}

// TestBundlesPage runs the commands of docs/bundles.md up to those of opa, and uses the bundle
// with the page's settings.
func TestBundlesPage(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("openssl"); err != nil {
		t.Skip(err)
	}
	text, err := os.ReadFile(filepath.Join(repository, "docs/bundles.md"))
	if err != nil {
		t.Fatal(err)
	}
	page, _, _ := strings.Cut(string(text), "## With OPA's tools")
	_, config, _ := strings.Cut(page, "```yaml\n")
	config, _, _ = strings.Cut(config, "```")
	script := "export HOME='" + t.TempDir() + "'\n"
	for _, block := range followed.FindAllStringSubmatch(page, -1) {
		script += block[2]
	}
	project := t.TempDir()
	out, err := inShell(t, project)(script + "cat >switchyard.yaml <<'EOF'\n" + config + "EOF\nswitchyard policy show\nfind . -type f")
	if err != nil {
		t.Fatalf("%v:\n%s", err, out)
	}
	if !strings.Contains(out, "release-2026") || strings.Contains(out, "./policy.key") {
		t.Errorf("the bundle is not signed, or the private key is in the project:\n%s", out)
	}
}
