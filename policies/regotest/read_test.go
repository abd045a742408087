package regotest_test

import (
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/switchyard-dev/switchyard/host/fault"
	"github.com/switchyard-dev/switchyard/policies"
	"github.com/switchyard-dev/switchyard/policies/regotest"
)

// plant writes files below a new folder.
func plant(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		file := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestReadTellsTestsFromModules(t *testing.T) {
	dir := plant(t, map[string]string{
		"p/routing.rego": "a", "p/routing_test.rego": "b", "p/deep/er/more_test.rego": "c", "p/deep/x.rego": "d", "p/README.md": "e", "p/x.rego.bak": "f", "q.rego": "g",
	})
	if err := os.Symlink("../q.rego", filepath.Join(dir, "p", "z.rego")); err != nil {
		t.Fatal(err)
	}
	tests := []policies.Source{{Name: "deep/er/more_test.rego", Text: "c"}, {Name: "routing_test.rego", Text: "b"}}
	modules := []policies.Source{{Name: "deep/x.rego", Text: "d"}, {Name: "routing.rego", Text: "a"}, {Name: "z.rego", Text: "g"}}
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	gotModules, gotTests, err := regotest.ReadIn(root, "p")
	if err != nil || !reflect.DeepEqual(gotModules, modules) || !reflect.DeepEqual(gotTests, tests) {
		t.Errorf("%v, %v, %v", gotModules, gotTests, err)
	}
	// Seen from the policy's own folder, the link leads out of it.
	if got, err := regotest.Read(filepath.Join(dir, "p")); fault.CodeOf(err) != policies.CodeUnreadable {
		t.Errorf("%v, %v", got, err)
	}
	if err := os.Remove(filepath.Join(dir, "p", "z.rego")); err != nil {
		t.Fatal(err)
	}
	if got, err := regotest.Read(filepath.Join(dir, "p")); err != nil || !reflect.DeepEqual(got, tests) {
		t.Errorf("%v, %v", got, err)
	}
}

func TestReadHasLimits(t *testing.T) {
	many, entries := map[string]string{}, map[string]string{}
	for i := range policies.MaxModules + 1 {
		many[fmt.Sprintf("%d_test.rego", i)] = ""
	}
	for i := range policies.MaxEntries + 1 {
		entries[fmt.Sprintf("%d.txt", i)] = ""
	}
	half := strings.Repeat("#", policies.MaxModuleBytes/2)
	for name, c := range map[string]struct {
		files map[string]string
		code  fault.Code
	}{
		"as much as may be": {map[string]string{"a.rego": half, "b.rego": half, "a_test.rego": half, "b_test.rego": half}, ""},
		"a byte more":       {map[string]string{"a_test.rego": half, "b_test.rego": half, "c_test.rego": "#"}, policies.CodeInvalid},
		"one file alone":    {map[string]string{"a_test.rego": half + half + "#"}, policies.CodeUnreadable},
		"many files":        {many, policies.CodeInvalid},
		"many entries":      {entries, policies.CodeInvalid},
	} {
		_, err := regotest.Read(plant(t, c.files))
		if fault.CodeOf(err) != c.code || (err == nil) != (c.code == "") {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := regotest.Read(filepath.Join(t.TempDir(), "missing")); fault.CodeOf(err) != policies.CodeUnreadable {
		t.Errorf("no folder: %v", err)
	}
}
