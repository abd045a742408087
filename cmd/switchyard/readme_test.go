package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/switchyard-dev/switchyard/spawner/spawntest"
)

// TestReadmeShowsRealOutput runs the commands of the README's console blocks,
// one after another in one project with the real reports, and compares. Its agent
// is a fake one. Times are all shown as one, and so are runs.
func TestReadmeShowsRealOutput(t *testing.T) {
	agent := spawntest.Build(t)
	script := spawntest.Write(t, t.TempDir(), spawntest.Finds(spawntest.Finding{
		Category: "edge-case-gap", Severity: "fail", File: "src/api.php", Line: 42, Remediation: "Test the retry after the third failure",
	}))
	t.Setenv("SWITCHYARD_CLAUDE_BIN", agent)
	t.Setenv(spawntest.ScenarioVariable, script)
	same := []struct {
		any  *regexp.Regexp
		this string
	}{
		{regexp.MustCompile(`20\d\d-\d\d-\d\dT[0-9:.]+Z`), "2026-11-21T09:30:00Z"},
		{regexp.MustCompile(`run-[a-z2-7]{26}`), "run-k3v5jq7w2mzt4xnc6ydb3r8ahf"},
		{regexp.MustCompile(`\b\d+(\.\d+)?m?s( +|:)`), "20ms$2"},
		{regexp.MustCompile(` {2,}`), "  "}, // A column is as wide as its longest time.
	}
	readme, err := os.ReadFile(filepath.Join(repository, "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	switchyard := newProject(t, "")
	blocks := strings.Split(string(readme), "```console\n")[1:]
	if len(blocks) == 0 {
		t.Fatal("the README shows no output")
	}
	for _, block := range blocks {
		block, _, _ = strings.Cut(block, "```")
		command, want, _ := strings.Cut(block, "\n")
		got := switchyard(strings.Fields(strings.TrimPrefix(command, "$ switchyard "))...)
		for _, one := range same {
			got, want = one.any.ReplaceAllString(got, one.this), one.any.ReplaceAllString(want, one.this)
		}
		if got != want {
			t.Errorf("%s\ngot:\n%s\nwant:\n%s", command, got, want)
		}
	}
}

// TestConfigurationPage uses the page's example as a project's configuration.
func TestConfigurationPage(t *testing.T) {
	page, err := os.ReadFile(filepath.Join(repository, "docs", "configuration.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(page), "```yaml\n")
	config, _, found := strings.Cut(rest, "```")
	if !found {
		t.Fatal("the page shows no configuration")
	}
	config, found = replaced(config, "plugin_paths: [tools/plugins]", "plugin_paths: []") // There are none here.
	if !found {
		t.Fatal("the page's example has other plugin_paths")
	}
	switchyard := newProject(t, config)
	got := switchyard("route", "--report", "staticcheck-logrus.sarif", "--report", "gosec-logrus.sarif")
	for _, want := range []string{"round 1 of 3", "dead-code         hooks/test/test_test.go:87", "silenced-failure  writer.go:99", "lint-violation    logrus.go:17"} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in:\n%s", want, got)
		}
	}
}

// replaced replaces a text's first occurrence of old, and reports whether there
// was one.
func replaced(text, old, with string) (string, bool) {
	return strings.Replace(text, old, with, 1), strings.Contains(text, old)
}

// newProject makes a project with the real reports and a configuration, and
// returns a function that runs the program in it and returns all that it
// prints, failures too.
func newProject(t *testing.T, config string) func(args ...string) string {
	t.Helper()
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	project := t.TempDir()
	if err := os.CopyFS(project, os.DirFS(filepath.Join(repository, "testdata", "reports"))); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(project, "switchyard.yaml"), []byte(config), 0o644); err != nil {
		t.Fatal(err)
	}
	return func(args ...string) string {
		cmd := exec.Command(program, args...)
		cmd.Args[0] = "switchyard" // The test binary is the program under this name.
		cmd.Dir = project
		cmd.Env = append(os.Environ(), userVariable+"=alice", cacheVariable+"="+filepath.Join(project, ".cache"))
		out, _ := cmd.CombinedOutput()
		return string(out)
	}
}
