package adapter_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"

	"github.com/switchyard-dev/switchyard/internal/agent/adapter"
	"github.com/switchyard-dev/switchyard/internal/agent/profile"
	"github.com/switchyard-dev/switchyard/internal/errs"
)

func TestEveryEmbeddedAdapterIsWhole(t *testing.T) {
	if want := []string{"claude", "codex", "copilot", "exec", "gemini", "opencode"}; !slices.Equal(adapter.Names(), want) {
		t.Fatalf("names %q, want %q", adapter.Names(), want)
	}
	for _, name := range adapter.Names() {
		a := embedded(t, name)
		if a.Name() != name {
			t.Errorf("%s calls itself %s", name, a.Name())
		}
		n := a.Needs()
		if name == "exec" {
			if n.Version != nil || n.Help != nil || n.Flags != nil {
				t.Errorf("exec needs %+v of a command that nobody knows", n)
			}
			continue
		}
		if len(a.Tested()) == 0 || len(n.Version) == 0 || len(n.Help) == 0 || len(a.SearchTools()) == 0 {
			t.Errorf("%s: tested %q, needs %+v, search tools %q", name, a.Tested(), n, a.SearchTools())
		}
		checkFlags(t, a)
	}
}

// checkFlags compares the flags that an adapter uses with those that it names for
// doctor.
func checkFlags(t *testing.T, a *adapter.Adapter) {
	t.Helper()
	used := map[string]bool{}
	for _, may := range []profile.Profile{profile.Readonly, profile.Report, profile.Edit} {
		inv, err := a.Invocation(adapter.Values{
			Model: "m", WorkDir: "/w", StateDir: "/s", TempDir: "/t", OutFile: "/s/o", ReportPath: "/w/r", MaxDollars: "1", Profile: may, Web: true,
		})
		if err != nil {
			t.Fatal(err)
		}
		for _, arg := range inv.Argv {
			if flag, _, _ := strings.Cut(arg, "="); strings.HasPrefix(flag, "--") {
				used[flag] = true
			}
		}
	}
	for _, flag := range a.Needs().Flags {
		if !used[flag] {
			t.Errorf("%s needs %s and does not use it", a.Name(), flag)
		}
		delete(used, flag)
	}
	for flag := range used {
		t.Errorf("%s uses %s, and does not say that it needs it", a.Name(), flag)
	}
}

func TestCatalogPutsOverridesFirst(t *testing.T) {
	mine, err := adapter.Parse(with(t, "name", "claude"))
	if err != nil {
		t.Fatal(err)
	}
	other, err := adapter.Parse(with(t, "name", "other"))
	if err != nil {
		t.Fatal(err)
	}
	c := adapter.NewCatalog(other, mine)
	if got, err := c.Get("claude"); err != nil || got != mine {
		t.Errorf("claude: %v, %v", got, err)
	}
	if got, err := c.Get("codex"); err != nil || got.Name() != "codex" {
		t.Errorf("codex: %v, %v", got, err)
	}
	_, err = c.Get("gork")
	f, ok := errors.AsType[*errs.Error](err)
	if !ok || f.Code != errs.AdapterUnknown || !strings.Contains(f.Message, "claude, codex, copilot, exec, gemini, opencode, other") {
		t.Errorf("error %v", err)
	}
	for _, name := range []string{"", "../adapters/claude", "claude.json", "*"} {
		if _, err := c.Get(name); errs.CodeOf(err) != errs.AdapterUnknown {
			t.Errorf("%q: error %v", name, err)
		}
	}
}

func TestBinaryIsFoundInOrder(t *testing.T) {
	dir := t.TempDir()
	script := func(name string, mode os.FileMode) string {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte("#!/bin/sh\n"), mode); err != nil {
			t.Fatal(err)
		}
		return path
	}
	inPath := script("bin/claude", 0o755)
	later := script("later/claude", 0o755)
	script("plain/claude", 0o644)
	mine := script("work/mine", 0o755)
	script("work/claude", 0o755)
	tool := script("bin/tool", 0o755)
	path := func(folders ...string) string {
		for i, f := range folders {
			if f != "" && f != "." {
				folders[i] = filepath.Join(dir, f)
			}
		}
		return "PATH=" + strings.Join(folders, string(filepath.ListSeparator))
	}
	for name, c := range map[string]struct {
		cli     string
		environ []string
		command []string
		want    string
		code    errs.Code
	}{
		"in PATH":                     {cli: "claude", environ: []string{path("bin", "later")}, want: inPath},
		"the first in PATH":           {cli: "claude", environ: []string{path("none", "plain", "later", "bin")}, want: later},
		"the last PATH":               {cli: "claude", environ: []string{path("bin"), path("later")}, want: later},
		"ours":                        {cli: "claude", environ: []string{"SWITCHYARD_CLAUDE_BIN=" + mine, "NUBOS_PILOT_CLAUDE_BIN=/no", path("bin")}, want: mine},
		"nubos-pilot's":               {cli: "claude", environ: []string{"NUBOS_PILOT_CLAUDE_BIN=" + mine, path("bin")}, want: mine},
		"an empty one":                {cli: "claude", environ: []string{"SWITCHYARD_CLAUDE_BIN=", path("bin")}, want: inPath},
		"a relative one":              {cli: "claude", environ: []string{"SWITCHYARD_CLAUDE_BIN=./mine"}, want: mine},
		"a bare one":                  {cli: "claude", environ: []string{"SWITCHYARD_CLAUDE_BIN=tool", path("bin")}, want: tool},
		"another's":                   {cli: "codex", environ: []string{"SWITCHYARD_CLAUDE_BIN=" + mine, path("bin")}, code: errs.SpawnBinaryMissing},
		"nowhere":                     {cli: "claude", code: errs.SpawnBinaryMissing},
		"a relative PATH":             {cli: "claude", environ: []string{path("", ".")}, code: errs.SpawnBinaryMissing},
		"not executable":              {cli: "claude", environ: []string{path("plain", "none")}, code: errs.SpawnBinaryUnusable},
		"a file in PATH":              {cli: "claude", environ: []string{path("bin/tool", "none")}, code: errs.SpawnBinaryMissing},
		"below a file":                {cli: "claude", environ: []string{"SWITCHYARD_CLAUDE_BIN=" + tool + "/claude"}, code: errs.SpawnBinaryMissing},
		"a directory":                 {cli: "claude", environ: []string{"SWITCHYARD_CLAUDE_BIN=" + dir}, code: errs.SpawnBinaryUnusable},
		"an override is missing":      {cli: "claude", environ: []string{"SWITCHYARD_CLAUDE_BIN=/no/such", path("bin")}, code: errs.SpawnBinaryMissing},
		"a zero byte":                 {cli: "exec", command: []string{"a\x00b"}, code: errs.SpawnBinaryMissing},
		"a command":                   {cli: "exec", environ: []string{path("bin")}, command: []string{"tool", "-x"}, want: tool},
		"a command's path":            {cli: "exec", command: []string{"./mine"}, want: mine},
		"no override of it":           {cli: "exec", environ: []string{"SWITCHYARD_EXEC_BIN=/no", path("bin")}, command: []string{"tool"}, want: tool},
		"a command that is not there": {cli: "exec", command: []string{"./none"}, code: errs.SpawnBinaryMissing},
		"no command":                  {cli: "exec", code: errs.SpawnCommandMissing},
		"an empty command":            {cli: "exec", command: []string{""}, code: errs.SpawnCommandMissing},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := embedded(t, c.cli).Binary(c.environ, filepath.Join(dir, "work"), c.command)
			if got != c.want || errs.CodeOf(err) != c.code {
				t.Errorf("got %q, %v; want %q, %q", got, err, c.want, c.code)
			}
			// No variable names the program of a command.
			if f, ok := errors.AsType[*errs.Error](err); ok && strings.Contains(f.Hint, "spawn.command") != (c.cli == "exec" && c.code == errs.SpawnBinaryMissing) {
				t.Errorf("the hint is %q", f.Hint)
			}
		})
	}
}

// TestThePageNamesTheCredentials checks the last column of the built-in adapters in
// docs/adapters.md, which the hint of spawn-auth refers to.
func TestThePageNamesTheCredentials(t *testing.T) {
	page, err := os.ReadFile("../../../docs/adapters.md")
	if err != nil {
		t.Fatal(err)
	}
	_, table, _ := strings.Cut(string(page), "\n## The built-in adapters\n")
	for _, name := range adapter.Names() {
		data, err := os.ReadFile(filepath.Join("adapters", name+".json"))
		if err != nil {
			t.Fatal(err)
		}
		var spec struct{ Credentials []string }
		if err := json.Unmarshal(data, &spec, json.MatchCaseInsensitiveNames(true)); err != nil {
			t.Fatal(err)
		}
		_, row, _ := strings.Cut(table, "\n| `"+name+"` |")
		row, _, _ = strings.Cut(row, " |\n")
		cells := strings.Split(row, " | ")
		want := ""
		if len(spec.Credentials) > 0 {
			want = "`" + strings.Join(spec.Credentials, "`, `") + "`"
		}
		if got := strings.Trim(cells[len(cells)-1], " |"); got != want {
			t.Errorf("%s: the page names %q, want %q", name, got, want)
		}
	}
}
