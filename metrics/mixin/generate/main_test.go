package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestRunWritesAndCompares(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	if err := run(folder, true); err == nil || !strings.Contains(err.Error(), "rules.yaml") {
		t.Errorf("an empty folder: %v", err)
	}
	if err := run(folder, false); err != nil {
		t.Fatal(err)
	}
	if err := run(folder, true); err != nil {
		t.Error(err)
	}
	for _, name := range []string{"rules.yaml", "alerts.yaml", "dashboard.json"} {
		path := filepath.Join(folder, name)
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, append(text, ' '), 0o644); err != nil {
			t.Fatal(err)
		}
		if err := run(folder, true); err == nil || !strings.Contains(err.Error(), name) || !strings.Contains(err.Error(), "make mixin") {
			t.Errorf("a changed %s: %v", name, err)
		}
		if err := os.WriteFile(path, text, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := run(filepath.Join(folder, "nothing"), false); err == nil {
		t.Error("files were written into a folder that there is not")
	}
}
