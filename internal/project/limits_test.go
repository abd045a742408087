package project_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/project"
)

func configured(t *testing.T, text string) (project.Config, error) {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, project.ConfigFile), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return project.Project{Root: dir, Dir: dir}.Config(t.Context(), 100)
}

// wantInvalid checks that a text is no configuration, and that the error says why.
func wantInvalid(t *testing.T, text, says string) {
	t.Helper()
	_, err := configured(t, text)
	if errs.CodeOf(err) != errs.ConfigInvalid || !strings.Contains(err.Error(), says) ||
		strings.Contains(err.Error(), "project.") || strings.Contains(err.Error(), "interface") {
		t.Errorf("%s: %v, want %q", text, err, says)
	}
}

func TestPluginLimits(t *testing.T) {
	c, err := configured(t, "plugin_limits: {memory: 128MiB, time: 1m, report: 1GiB, output: 1KiB}\n")
	want := project.Limits{Memory: 128 << 20, Time: time.Minute, Report: 1 << 30, Output: 1 << 10}
	if err != nil || c.Limits != want {
		t.Errorf("got %+v, %v; want %+v", c.Limits, err, want)
	}
	for _, wrong := range []string{
		"{memory: 128}", "{memory: 128MB}", "{memory: 0MiB}", "{memory: -1MiB}", "{memory: 1.5MiB}", "{memory: 2GiB}",
		"{memory: 9999999999999GiB}", "{report: MiB}", "{output: '64 MiB'}", "{time: 2}", "{time: 0s}", "{time: -1s}", "{time: 61s}",
		"{time: 1µs}", "{speed: 1}", "[]", "64MiB", "{memory: [1]}",
	} {
		wantInvalid(t, "plugin_limits: "+wrong+"\n", "")
	}
}

func TestPluginPathsStayInside(t *testing.T) {
	c, err := configured(t, "plugin_paths: [./a/../tools, x.wasm]\n")
	if err != nil || len(c.PluginPaths) != 2 || c.PluginPaths[0] != "tools" {
		t.Errorf("got %v, %v", c.PluginPaths, err)
	}
	for _, wrong := range []string{"[/etc/x.wasm]", "[../x.wasm]", "['']", "[a/../../x]", "x.wasm", "{a: b}"} {
		wantInvalid(t, "plugin_paths: "+wrong+"\n", "")
	}
}
