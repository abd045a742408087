package e2e

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"
)

// tool is an agent CLI at the version that our adapter supports.
type tool struct {
	name, pkg, version string
	// setup runs in the package's directory after it was unpacked: the install script
	// that npm would run if its settings allowed it.
	setup []string
}

// tools returns the CLIs, by their adapters' names.
func tools() map[string]tool {
	return map[string]tool{
		"claude":   {"claude", "@anthropic-ai/claude-code", "2.1.197", []string{"node", "install.cjs"}},
		"codex":    {"codex", "@openai/codex", "0.169.0", nil},
		"copilot":  {"copilot", "@github/copilot", "1.0.102", nil},
		"gemini":   {"gemini", "@google/gemini-cli", "0.61.0", nil},
		"opencode": {"opencode", "opencode-ai", "1.18.33", []string{"node", "postinstall.mjs"}},
	}
}

const (
	enableVariable = "SWITCHYARD_E2E"
	cacheVariable  = "SWITCHYARD_E2E_CACHE"
	// installTime is npm's time limit for one of them.
	installTime = 5 * time.Minute
)

// needEnabled skips the tests unless they are enabled.
func needEnabled(t *testing.T) {
	t.Helper()
	if os.Getenv(enableVariable) == "" {
		t.Skip("end-to-end tests install agent CLIs: set " + enableVariable + "=1, or run make e2e")
	}
	if runtime.GOOS == "windows" {
		t.Skip("npm's launchers are no programs here")
	}
}

// install returns the path of the CLI's program. It installs the program if it is not
// in the cache.
func (c tool) install(t *testing.T) string {
	t.Helper()
	needEnabled(t)
	cache := os.Getenv(cacheVariable)
	if cache == "" {
		base, err := os.UserCacheDir()
		if err != nil {
			t.Skip("there is no cache directory to install into:", err)
		}
		cache = filepath.Join(base, "switchyard-e2e")
	}
	home := filepath.Join(cache, c.name+"-"+c.version)
	program := filepath.Join(home, "node_modules", ".bin", c.name)
	if !c.works(t, program) {
		c.npm(t, cache, home)
		if !c.works(t, program) {
			t.Fatalf("%s %s was installed and does not run", c.name, c.version)
		}
	}
	return program
}

// works reports whether the program exists and has the right version.
func (c tool) works(t *testing.T, program string) bool {
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	out, err := exec.CommandContext(ctx, program, "--version").Output()
	return err == nil && strings.Contains(string(out), c.version)
}

// needSandbox skips a test if codex cannot confine its commands, as in many containers:
// it does not run them then.
func needSandbox(t *testing.T, codex string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	sandbox := exec.CommandContext(ctx, codex, "sandbox", "--", "true")
	home := t.TempDir()
	sandbox.Env = append(os.Environ(), "HOME="+home, "CODEX_HOME="+home)
	if out, err := sandbox.CombinedOutput(); err != nil {
		t.Skipf("codex cannot set up its sandbox here: %v\n%s", err, out)
	}
}

// npm installs the CLI next to its home and moves it there, so that a home is always
// complete.
func (c tool) npm(t *testing.T, cache, home string) {
	t.Helper()
	for _, needed := range []string{"npm", "node"} {
		if _, err := exec.LookPath(needed); err != nil {
			t.Skipf("%s is needed to install %s: %v", needed, c.name, err)
		}
	}
	if err := os.MkdirAll(cache, 0o755); err != nil {
		t.Fatal(err)
	}
	scratch, err := os.MkdirTemp(cache, c.name+"-")
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(scratch)
	ctx, cancel := context.WithTimeout(t.Context(), installTime)
	defer cancel()
	npm := exec.CommandContext(ctx, "npm", "install", "--prefix", scratch, "--ignore-scripts", "--no-audit", "--no-fund", "--no-save",
		c.pkg+"@"+c.version)
	npm.WaitDelay = 10 * time.Second
	if out, err := npm.CombinedOutput(); err != nil {
		t.Skipf("npm does not install %s: %v\n%s", c.name, err, out)
	}
	if c.setup != nil {
		setup := exec.CommandContext(ctx, c.setup[0], c.setup[1:]...)
		setup.Dir = filepath.Join(scratch, "node_modules", filepath.FromSlash(c.pkg))
		setup.WaitDelay = 10 * time.Second
		if out, err := setup.CombinedOutput(); err != nil {
			t.Fatalf("%s: %v\n%s", c.name, err, out)
		}
	}
	// Another test may have been faster, or the existing home does not work.
	if err := os.RemoveAll(home); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(scratch, home); err != nil {
		t.Fatal(err)
	}
}
