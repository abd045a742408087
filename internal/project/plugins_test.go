package project_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/project"
)

func TestConfigChecksThePluginsNames(t *testing.T) {
	lock := "plugins:\n  - {path: tools/mine.wasm, name: mine, version: 1.0.0, digest: sha256:" + strings.Repeat("0", 64) + "}\n"
	const paths = "plugin_paths: [tools/mine.wasm]\n"
	for _, c := range []struct {
		name, text, lock string
		says             string // of the problem, "" for none
	}{
		{"a built-in plugin", "plugins: {sarif: {}}", "", ""},
		{"a plugin that the lock pins", "plugins: {mine: {}}", lock, ""},
		{"a name of the project's own", "plugins: {ruff: {use: json-map, items: /*}}", "", ""},
		{"one of a plugin of the project", "plugins: {ruff: {use: mine}}", lock, ""},
		{"not locked yet", paths + "plugins: {mine: {}}", "", ""},
		{"an empty entry", "plugins: {sarif: }", "", ""},
		{"a use by reference", "x: &u {use: json-map}", "", "unknown key x"},
		{"a name that no plugin has", "plugins:\n  nope: {x: 1}", "", "line 2: plugins.nope: no plugin has this name; a configuration under a name of your own says which"},
		{"a typo", "plugins:\n  srif: {}", "", "line 2: plugins.srif: no plugin has this name; did you mean sarif?"},
		{"a typo of a locked name", "plugins:\n  mien: {}", lock, "did you mean mine?"},
		{"one of plugin_paths that is not locked", paths + "plugins: {other: {}}", lock, "switchyard plugin lock"},
		{"use under a plugin's name", "plugins: {sarif: {use: json-map}}", "", "plugins.sarif has use, but sarif is itself a plugin's name"},
		{"use under a locked plugin's name", "plugins: {mine: {use: json-map}}", lock, "plugins.mine has use"},
		{"use of another configuration", "plugins: {a: {use: json-map}, b: {use: a}}", "", `plugins.b.use: no plugin has the name "a"`},
		{"a typo in use", "plugins: {a: {use: json-mop}}", "", "did you mean json-map?"},
		{"a number in use", "plugins: {a: {use: 3}}", "", "plugins.a.use must be the name of a plugin"},
		{"an empty use", "plugins: {a: {use: ''}}", "", "plugins.a.use must be the name of a plugin"},
		{"a name in capitals", "plugins: {Ruff: {use: json-map}}", "", "plugins.Ruff: a name is 1 to 64 lower-case letters"},
		{"the name of detection", "plugins: {auto: {use: json-map}}", "", "plugins.auto: a name is"},
		{"the name of Switchyard's own critic", "plugins:\n  audit: {use: json-map}", "", "line 2: plugins.audit: a name is 1 to 64 lower-case letters and digits, joined by dashes, and neither auto nor audit"},
		{"that name before the first lock", paths + "plugins: {audit: {use: json-map}}", "", "line 2: plugins.audit: a name is"},
		{"a key that is no text", "plugins:\n  sarif:\n    severities:\n      true: fail", "", "line 2: plugins.sarif.severities cannot be written as JSON; quote keys such as true or 1.5"},
		{"numbers for keys", "plugins: {sarif: {severities: {1: fail, a: nit}}}", "", ""},
		{"a number that JSON lacks", "plugins: {sarif: {a b: [.inf]}}", "", `line 1: plugins.sarif."a b".0 cannot be written as JSON`},
		{"a command's plugin", "reports: [{run: x, plugin: sarif}, {run: x, plugin: auto}, {run: x, plugin: ./a.wasm}, {run: x}]", "", ""},
		{"a command's configuration", "plugins: {ruff: {use: json-map, items: /*}}\nreports: [{run: x, plugin: ruff}]", "", ""},
		{"a command's locked plugin", "reports: [{run: x, plugin: mine}]", lock, ""},
		{"a command's unknown plugin", "reports:\n  - {run: x, plugin: xyzzyxyzzy}", "", `line 2: reports.plugin is "xyzzyxyzzy", and no plugin has this name; switchyard plugin list shows all`},
		{"a typo in a command's plugin", "plugins: {ruff: {use: json-map, items: /*}}\nreports: [{run: x, plugin: rufff}]", "", "did you mean ruff?"},
		{"a lock that is not valid", "plugins: {mine: {}}", "plugins: 3\n", "switchyard.lock"},
	} {
		t.Run(c.name, func(t *testing.T) {
			root := tree(t, ".git/")
			for name, text := range map[string]string{project.ConfigFile: c.text, project.LockFile: c.lock} {
				if err := os.WriteFile(filepath.Join(root, name), []byte(text), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			p := project.Project{Root: root, Dir: root}
			config, err := p.Config(t.Context(), 100, "json-map", "sarif")
			if c.says == "" && err != nil || c.says != "" && (err == nil || !strings.Contains(reported(err), c.says)) {
				t.Errorf("got %+v, %v", config, err)
			}
			if code := errs.CodeOf(err); err != nil && code != errs.ConfigInvalid && code != errs.LockInvalid {
				t.Errorf("got the code %q", code)
			}
			if ruff := config.Plugins["ruff"]; ruff.Use == "json-map" && string(ruff.Settings) != `{"items":"/*"}` {
				t.Errorf("the plugin gets %s", ruff.Settings)
			}
		})
	}
}

// reported returns an error with all its problems.
func reported(err error) string {
	text := err.Error()
	if f, ok := err.(*errs.Error); ok {
		problems, _ := f.Details["problems"].([]string)
		text += "\n" + strings.Join(problems, "\n")
	}
	return text
}
