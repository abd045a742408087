package hook_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/hook"
)

// TestSettings tests that what was installed can be uninstalled, and changes nothing else.
func TestSettings(t *testing.T) {
	for _, c := range []struct{ before, installed string }{
		{"{\n  \"a\": 1e3\n}\n", "{\n  \"a\": 1e3,\n  \"hooks\": " + installed + "\n}\n"},
		{"{\n\t\"b\": [],\n\t\"a\": {}\n}\n", ""},
		{"{\n  \"hooks\": {\n    \"PreToolUse\": [],\n    \"Stop\": [\n      {\n        \"hooks\": [\n          {\n            \"command\": \"x\"\n          }\n        ]\n      }\n    ]\n  }\n}\n", ""},
	} {
		got, err := hook.Install([]byte(c.before))
		if err != nil || c.installed != "" && string(got) != c.installed || string(got) == c.before {
			t.Errorf("%s\nbecomes\n%s\n%v", c.before, got, err)
		}
		if again, err := hook.Install(got); err != nil || string(again) != string(got) {
			t.Errorf("%s\nis installed again: %s, %v", got, again, err)
		}
		if back, err := hook.Uninstall(got); err != nil || string(back) != c.before {
			t.Errorf("%s\nbecomes\n%s\n%v", got, back, err)
		}
	}
}

// installed is the value of hooks after an installation.
const installed = "{\n    \"Stop\": [\n      {\n        \"hooks\": [\n          {\n            \"type\": \"command\",\n            \"command\": \"switchyard hook stop || exit 1\",\n            \"timeout\": 60\n          }\n        ]\n      }\n    ]\n  }"

// TestSharedGroup tests that our hook is found with flags, and beside another one.
func TestSharedGroup(t *testing.T) {
	const settings = `{"hooks":{"Stop":[{"matcher":"","hooks":[{"command":"x"},{"type":"command","command":"switchyard hook stop --verify"}]}]}}`
	if got, err := hook.Install([]byte(settings)); err != nil || string(got) != settings {
		t.Errorf("it is installed again: %s, %v", got, err)
	}
	got, err := hook.Uninstall([]byte(settings))
	want := "{\n  \"hooks\": {\n    \"Stop\": [\n      {\n        \"matcher\": \"\",\n        \"hooks\": [\n          {\n            \"command\": \"x\"\n          }\n        ]\n      }\n    ]\n  }\n}\n"
	if err != nil || string(got) != want {
		t.Errorf("got %s, %v", got, err)
	}
}

// TestNothingIsLeft tests that settings that had our hook alone are none.
func TestNothingIsLeft(t *testing.T) {
	for _, before := range []string{"", "{}\n", `{"hooks": {}}`, `{"hooks": null}`, `{"hooks": {"Stop": null}}`, `{"hooks": {"Stop": []}}`} {
		got, err := hook.Install([]byte(before))
		if err != nil {
			t.Fatal(err)
		}
		if left, err := hook.Uninstall(got); err != nil || len(left) > 0 {
			t.Errorf("%s leaves %s, %v", before, left, err)
		}
		if left, err := hook.Uninstall([]byte(before)); err != nil || string(left) != before {
			t.Errorf("%s without our hook becomes %s, %v", before, left, err)
		}
	}
}

func TestInvalidSettings(t *testing.T) {
	for settings, says := range map[string]string{
		"x": "invalid character 'x'", "[]": "it is not of the right type", "null": "it is null", `{} {}`: "after top-level value",
		"{\n \"a\": 1,\n}":                    "invalid character ',' at start of value after offset 9",
		`{"a": 1, "a": 2}`:                    `duplicate object member name "a"`,
		`{"hooks": []}`:                       `the value at "/hooks" is not of the right type`,
		`{"hooks": {"Stop": {}}}`:             `the value at "/hooks/Stop" is not of the right type`,
		`{"hooks": {"Stop": [1]}}`:            `the value at "/hooks/Stop/0" is not of the right type`,
		`{"hooks": {"Stop": [{"hooks": 1}]}}`: `the value at "/hooks/Stop/0/hooks" is not of the right type`,
		"\xef\xbb\xbf{}":                      "invalid character",
	} {
		if got, err := hook.Install([]byte(settings)); errs.CodeOf(err) != errs.HookSettingsInvalid || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %s, %v, want %q", settings, got, err, says)
		}
	}
}

// TestIntegrations compares the files that people copy or install with what we would write.
func TestIntegrations(t *testing.T) {
	want, err := hook.Install(nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"claude-plugin/hooks/hooks.json", "codex/hooks.json"} {
		if got, err := os.ReadFile(filepath.Join("../../integrations", name)); err != nil || string(got) != string(want) {
			t.Errorf("%s is\n%s, %v", name, got, err)
		}
	}
}
