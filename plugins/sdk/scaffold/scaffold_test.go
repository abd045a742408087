package scaffold_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/exhaustive"
	"github.com/switchyard-dev/switchyard/internal/plugin/abi"
	"github.com/switchyard-dev/switchyard/internal/plugin/document"
	"github.com/switchyard-dev/switchyard/plugins"
	"github.com/switchyard-dev/switchyard/plugins/plugintest"
	"github.com/switchyard-dev/switchyard/plugins/sdk/scaffold"
)

func start(t *testing.T, language scaffold.Language, name string) scaffold.Project {
	t.Helper()
	p, err := scaffold.Write(filepath.Join(t.TempDir(), "new", name), language, name)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// unhurried has no time limit, for slow machines.
var unhurried = abi.Limits{Time: time.Hour}

// TestProjectsBuildAndPass checks that a new project builds and passes the conformance
// kit.
func TestProjectsBuildAndPass(t *testing.T) {
	if testing.Short() {
		t.Skip("short mode: the compilers run outside of the race detector")
	}
	for _, language := range scaffold.Languages() {
		t.Run(string(language), func(t *testing.T) {
			if language != scaffold.Go {
				exhaustive.Require(t, "npm would install the compiler; Go is always there")
			}
			p := start(t, language, "my-lint2")
			build(t, p)
			wasm, err := os.ReadFile(filepath.Join(p.Dir, p.Module))
			if err != nil {
				t.Fatal(err)
			}
			// Compiling a Go guest takes the kit half a minute.
			if exhaustive.Enabled() {
				plugintest.Test(t, wasm, plugintest.Options{Corpus: filepath.Join(p.Dir, "corpus"), Limits: unhurried, Time: time.Hour})
			}
			runtime := plugins.New(plugins.Config{Limits: unhurried, Interpret: !exhaustive.Enabled()})
			defer func() { _ = runtime.Close(t.Context()) }()
			plugin, err := runtime.Load(t.Context(), wasm)
			if err != nil {
				t.Fatal(err)
			}
			if got := plugin.Identity().Name; got != p.Name {
				t.Errorf("the plugin calls itself %s, want %s", got, p.Name)
			}
			// Its error codes have its own name.
			if code := codeFor(t, plugin, `{"tool": 1, "items": []}`); code != "my-lint2-invalid" {
				t.Errorf("it refuses with %s", code)
			}
		})
	}
}

func codeFor(t *testing.T, p *plugins.Plugin, text string) errs.Code {
	t.Helper()
	doc, err := document.Parse([]byte(text), document.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	_, err = p.Normalize(t.Context(), doc, nil)
	return errs.CodeOf(err)
}

// build builds the project's module with the tools of this machine. Go is always
// available, and must not download anything.
func build(t *testing.T, p scaffold.Project) {
	t.Helper()
	switch {
	case p.Language == scaffold.Go:
		run(t, p.Dir, "go", "build", "-buildmode=c-shared", "-trimpath", "-ldflags=-s -w", "-o", p.Module, ".")
	case p.Language == scaffold.C && hasClang():
		run(t, p.Dir, "make")
	default:
		if _, err := exec.LookPath("npm"); err != nil {
			t.Skip("npm is not installed")
		}
		npm := exec.Command("npm", "ci", "--prefer-offline", "--no-audit", "--no-fund")
		npm.Dir = p.Dir
		if out, err := npm.CombinedOutput(); err != nil {
			t.Skipf("npm cannot install the compiler here: %s", out)
		}
		run(t, p.Dir, "npm", "run", "build")
	}
}

func hasClang() bool {
	targets, err := exec.Command("clang", "--print-targets").Output()
	_, linker := exec.LookPath("wasm-ld")
	return err == nil && linker == nil && strings.Contains(string(targets), "wasm32")
}

func run(t *testing.T, dir, name string, args ...string) {
	t.Helper()
	cmd := exec.Command(name, args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GOOS=wasip1", "GOARCH=wasm", "GOFLAGS=", "GOWORK=off", "GOPROXY=off", "GOTOOLCHAIN=local")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", cmd, err, out)
	}
}

// TestProjectsAreWhole tests everything that needs no compiler.
func TestProjectsAreWhole(t *testing.T) {
	common := []string{"README.md", "corpus/config-order.json", "corpus/findings.json", "corpus/ignored.json", "corpus/incomplete.json"}
	for language, own := range map[scaffold.Language][]string{
		scaffold.Go:             {"Makefile", "go.mod", "main.go", "main_test.go", "sdk/exports.go", "sdk/sdk.go"},
		scaffold.AssemblyScript: {".gitignore", "guest.ts", "package-lock.json", "package.json", "sdk/mapping.ts", "tsconfig.json"},
		scaffold.C:              {".gitignore", "Makefile", "build.mjs", "compile_flags.txt", "guest.c", "package-lock.json", "sdk/switchyard.h"},
	} {
		p := start(t, language, "x")
		for _, file := range slices.Concat(common, own) {
			if !slices.Contains(p.Files, file) {
				t.Errorf("%s: no %s in %v", language, file, p.Files)
			}
		}
		for _, file := range p.Files {
			text, err := os.ReadFile(filepath.Join(p.Dir, filepath.FromSlash(file)))
			if err != nil {
				t.Error(err)
			}
			if strings.HasPrefix(file, "sdk/") {
				continue
			}
			for _, left := range []string{"todo-scan", "switchyard-dev/switchyard/plugins", "../"} {
				if strings.Contains(string(text), left) {
					t.Errorf("%s: %s still says %s", language, file, left)
				}
			}
			if strings.HasSuffix(file, ".json") && !json.Valid(text) {
				t.Errorf("%s: %s is no JSON", language, file)
			}
		}
	}
}

func TestWriteRefuses(t *testing.T) {
	empty, full := t.TempDir(), t.TempDir()
	file := filepath.Join(full, "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		dir, name string
		want      errs.Code
	}{
		{full, "x", errs.PluginScaffoldExists},
		{file, "x", errs.PluginScaffoldExists},
		{filepath.Join(file, "below"), "x", errs.PluginScaffoldUnwritable},
		{empty, "", errs.PluginScaffoldName},
		{empty, "My-lint", errs.PluginScaffoldName},
		{empty, "a/b", errs.PluginScaffoldName},
		{empty, strings.Repeat("x", 65), errs.PluginScaffoldName},
		{empty, "auto", errs.PluginScaffoldName},
		{empty, "sarif", errs.PluginScaffoldName},
		{empty, "report-lint", errs.PluginScaffoldName},
	} {
		if _, err := scaffold.Write(c.dir, scaffold.Go, c.name); errs.CodeOf(err) != c.want {
			t.Errorf("%s, %q: got %v, want %s", c.dir, c.name, err, c.want)
		}
	}
	if _, err := scaffold.Write(empty, "cobol", "x"); err == nil {
		t.Error("it speaks every language")
	}
	if left, err := os.ReadDir(empty); err != nil || len(left) > 0 {
		t.Errorf("a refusal leaves %v behind", left)
	}
	if p, err := scaffold.Write(empty, scaffold.C, "x"); err != nil || p.Module != "x.wasm" {
		t.Errorf("an empty directory will not do: %v", err)
	}
}

func TestNameOf(t *testing.T) {
	for dir, want := range map[string]string{
		"my-lint": "my-lint", "a/b/My_Lint": "my-lint", "x y/": "x-y", "./todo/..//lint": "lint",
	} {
		if got := scaffold.NameOf(filepath.FromSlash(dir)); got != want {
			t.Errorf("%s: %s, want %s", dir, got, want)
		}
	}
}

// TestHostWords checks the names that this package refuses against the error code
// prefixes that the host refuses.
func TestHostWords(t *testing.T) {
	wasm, err := os.ReadFile(filepath.Join("..", "..", "testdata", "hostile", "puppet.wasm"))
	if err != nil {
		t.Fatal(err)
	}
	runtime := plugins.New(plugins.Config{})
	defer func() { _ = runtime.Close(t.Context()) }()
	puppet, err := runtime.Load(t.Context(), wasm)
	if err != nil {
		t.Fatal(err)
	}
	doc, err := document.Parse([]byte(`{"puppet":1}`), document.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	for _, word := range []string{"report", "task", "no", "lint", "todo", "version", "agent"} {
		code := word + "-invalid"
		_, err := puppet.Normalize(t.Context(), doc, []byte(`{"do":"answer","answer":{"error":{"code":"`+code+`","message":"m"}}}`))
		theirs := errs.CodeOf(err) != errs.Code(code)
		_, err = scaffold.Write(t.TempDir(), scaffold.C, word+"-x")
		if refused := err != nil; refused != theirs {
			t.Errorf("%s: the host's own: %t, refused: %t", word, theirs, refused)
		}
	}
}
