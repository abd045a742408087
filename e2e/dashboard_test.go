package e2e

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// grafanaSchema is the version of @grafana/schema, Grafana's types for dashboards, and
// typescript that of the compiler.
const (
	grafanaSchema = "@grafana/schema@13.2.3"
	typescript    = "typescript@5.9.3"
)

// TestDashboardIsOfGrafanasTypes compiles the dashboard, as a literal, with Grafana's
// types: an unknown property or value of an enumeration is an error.
func TestDashboardIsOfGrafanasTypes(t *testing.T) {
	needEnabled(t)
	for _, needed := range []string{"npm", "node"} {
		if _, err := exec.LookPath(needed); err != nil {
			t.Skipf("%s is needed for Grafana's types: %v", needed, err)
		}
	}
	home := t.TempDir()
	ctx, cancel := context.WithTimeout(t.Context(), installTime)
	defer cancel()
	npm := exec.CommandContext(ctx, "npm", "install", "--prefix", home, "--ignore-scripts", "--no-audit", "--no-fund", "--no-save",
		grafanaSchema, typescript)
	npm.WaitDelay = 10 * time.Second
	if out, err := npm.CombinedOutput(); err != nil {
		t.Skipf("npm does not install Grafana's types: %v\n%s", err, out)
	}
	dashboard, err := os.ReadFile(filepath.FromSlash("../metrics/mixin/dashboard.json"))
	if err != nil {
		t.Fatal(err)
	}
	types, err := os.ReadFile(filepath.Join("testdata", "dashboard.ts"))
	if err != nil {
		t.Fatal(err)
	}
	check := func(dashboard string) ([]byte, error) {
		source := filepath.Join(home, "dashboard.ts")
		text := string(types) + "\nexport const dashboard: Board = " + dashboard + ";\n"
		if err := os.WriteFile(source, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		tsc := exec.CommandContext(ctx, "node", filepath.Join(home, "node_modules", "typescript", "bin", "tsc"),
			"--noEmit", "--strict", "--skipLibCheck", "--target", "es2022", "--module", "nodenext", source)
		tsc.WaitDelay = 10 * time.Second
		return tsc.CombinedOutput()
	}
	if out, err := check(string(dashboard)); err != nil {
		t.Fatalf("the dashboard is not of Grafana's types: %v\n%s", err, out)
	}
	for right, wrong := range map[string]string{`"drawStyle": "bars"`: `"drawStyle": "bar"`, `"stacking": {`: `"stacked": {`} {
		other := strings.Replace(string(dashboard), right, wrong, 1)
		if other == string(dashboard) {
			t.Errorf("the dashboard has no %s", right)
		} else if _, err := check(other); err == nil {
			t.Errorf("the compiler takes %s", wrong)
		}
	}
}
