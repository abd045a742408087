package project_test

import (
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/project"
)

// given returns files for Init to write.
func given() map[string][]byte {
	return map[string][]byte{".switchyard/agents/b.md": []byte("second\n"), ".switchyard/agents/a.md": []byte("first\n"), ".switchyard/prompts/c.md": {}}
}

// all lists the files that Init creates, in its order.
var all = []string{".switchyard/.gitignore", ".switchyard/agents/a.md", ".switchyard/agents/b.md", ".switchyard/prompts/c.md", "switchyard.yaml"}

// besides returns all without some.
func besides(some ...string) []string {
	return slices.DeleteFunc(slices.Clone(all), func(name string) bool { return slices.Contains(some, name) })
}

func initialised(t *testing.T, dir string, s project.Settings) []string {
	t.Helper()
	created, err := project.Init(t.Context(), dir, s, given())
	if err != nil {
		t.Fatal(err)
	}
	return created
}

func configOf(t *testing.T, dir string) project.Config {
	t.Helper()
	c, err := project.Project{Root: dir}.Config(t.Context(), 100)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func fileIn(t *testing.T, dir, name string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(dir, name))
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// uncommented removes one comment sign from each line of a new switchyard.yaml.
func uncommented(text string) string {
	return regexp.MustCompile(`(?m)^# ?`).ReplaceAllString(text, "")
}

func TestInitMakesAProject(t *testing.T) {
	dir := t.TempDir()
	if created := initialised(t, dir, project.Settings{}); !slices.Equal(created, all) {
		t.Errorf("created %v", created)
	}
	for name, data := range given() {
		if got := fileIn(t, dir, name); got != string(data) {
			t.Errorf("%s holds %q", name, got)
		}
	}
	if info, err := os.Stat(filepath.Join(dir, ".switchyard")); err != nil || info.Mode() != fs.ModeDir|0o700 {
		t.Errorf("the state's directory is %v, %v", info.Mode(), err)
	}
	if c := configOf(t, dir); !reflect.DeepEqual(c, unset()) {
		t.Errorf("a new configuration sets %+v", c)
	}
	for name, n := range map[string]int{".": 2, ".switchyard": 3, ".switchyard/agents": 2, ".switchyard/prompts": 1} {
		files, err := os.ReadDir(filepath.Join(dir, name))
		if err != nil || len(files) != n {
			t.Errorf("%s holds %v, %v", name, files, err)
		}
	}
	// Every key is present, and without the signs every value is valid.
	text := uncommented(fileIn(t, dir, project.ConfigFile))
	c, err := configured(t, text)
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	if len(c.Plugins) == 0 || len(c.PluginPaths) == 0 || c.Limits == (project.Limits{}) || c.MaxRounds == 0 || c.Policy == "" || c.Verify == nil {
		t.Errorf("the example sets %+v", c)
	}
	// A value that the example calls a default is the default.
	want := unset()
	if c.Attestations != want.Attestations || !reflect.DeepEqual(c.Audit, want.Audit) || c.Researchers != want.Researchers || !slices.Equal(c.Phases, want.Phases) {
		t.Errorf("the example sets %+v, want %+v", c, want)
	}
	for line := range strings.Lines(text) {
		key, _, _ := strings.Cut(strings.TrimSpace(line), ":")
		if strings.Contains(line, ":") && !strings.HasPrefix(line, "#") && !strings.Contains(line, "#") &&
			!slices.Contains([]string{"research", "sarif", "categories", "rules", "SA4006", "G104", "items", "file", "line", "rule", "message"}, key) {
			t.Errorf("no comment says what this does: %s", line)
		}
	}
}

// TestInitAgreesWithTheDocumentation checks that the page's example is a new file without its
// comment signs.
func TestInitAgreesWithTheDocumentation(t *testing.T) {
	dir := t.TempDir()
	initialised(t, dir, project.Settings{Suggestion: project.Suggestion{
		Verify: "make test", Reports: []project.ReportCommand{{Run: "staticcheck -f sarif ./...", Plugin: "sarif"}},
	}})
	_, keys, _ := strings.Cut(uncommented(fileIn(t, dir, project.ConfigFile)), "\n\n")
	page := fileIn(t, filepath.Join("..", "..", "docs"), "configuration.md")
	_, example, _ := strings.Cut(page, "```yaml\n")
	example, _, found := strings.Cut(example, "```")
	if !found || example != keys {
		t.Errorf("docs/configuration.md has\n%s\nand not\n%s", example, keys)
	}
}

func TestInitWritesSettings(t *testing.T) {
	for _, c := range []struct {
		settings project.Settings
		change   func(*project.Config)
		says     string
	}{
		{project.Settings{MaxRounds: 100}, func(c *project.Config) { c.MaxRounds = 100 }, "\nmax_rounds: 100 "},
		{project.Settings{Researchers: 5}, func(c *project.Config) { c.Researchers = 5 }, "\nresearch:\n  agents: 5 "},
		{project.Settings{Phases: []string{"tests"}}, func(c *project.Config) { c.Phases = []string{"tests"} }, "\nphases: [tests] "},
		{project.Settings{Phases: []string{}}, func(c *project.Config) { c.Phases = []string{} }, "\nphases: [] "},
		{project.Settings{VerifyRuns: 4}, func(*project.Config) {}, "\n#   runs: 4 "},
	} {
		dir := t.TempDir()
		initialised(t, dir, c.settings)
		want := unset()
		c.change(&want)
		text := fileIn(t, dir, project.ConfigFile)
		if got := configOf(t, dir); !reflect.DeepEqual(got, want) || !strings.Contains(text, c.says) {
			t.Errorf("%+v: %+v\n%s", c.settings, got, text)
		}
		if _, err := configured(t, uncommented(text)); err != nil {
			t.Errorf("%+v, uncommented: %v", c.settings, err)
		}
	}
	dir := t.TempDir()
	for _, wrong := range []project.Settings{{MaxRounds: -1}, {Researchers: 6}, {Phases: []string{"review"}}, {Phases: []string{"tests", "design"}}} {
		if created, err := project.Init(t.Context(), dir, wrong, given()); errs.CodeOf(err) != errs.ConfigInvalid || len(created) > 0 {
			t.Errorf("%+v: %v, %v", wrong, created, err)
		}
	}
	if files, err := os.ReadDir(dir); err != nil || len(files) > 0 {
		t.Errorf("left are %v, %v", files, err)
	}
}

// TestInitGoesOnWhereItStopped starts from every state that a killed init, a clone or a
// user can leave, and runs Init twice.
func TestInitGoesOnWhereItStopped(t *testing.T) {
	settings := project.Settings{MaxRounds: 7}
	put := func(t *testing.T, dir, name, text string) {
		t.Helper()
		full := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(full), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(full, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	whole := t.TempDir()
	initialised(t, whole, settings)
	written := fileIn(t, whole, project.ConfigFile)
	for name, c := range map[string]struct {
		files   map[string]string
		s       project.Settings
		created []string
		code    errs.Code
	}{
		"the directory alone":        {map[string]string{".switchyard/ledger.db": "x"}, settings, all, ""},
		"a draft was left":           {map[string]string{".switchyard/.switchyard.yaml.0": "x", ".switchyard/.a.md.0": "x"}, settings, all, ""},
		"the .gitignore alone":       {map[string]string{all[0]: "*\n"}, settings, all[1:], ""},
		"an own .gitignore":          {map[string]string{all[0]: "ledger.db\n"}, settings, all[1:], ""},
		"an own agent":               {map[string]string{all[1]: "mine"}, settings, besides(all[1]), ""},
		"an empty agent":             {map[string]string{all[2]: ""}, settings, besides(all[2]), ""},
		"no configuration":           {map[string]string{all[0]: "*\n", all[1]: "", all[2]: "", all[3]: ""}, settings, all[4:], ""},
		"all of it":                  {map[string]string{all[0]: "*\n", all[1]: "", all[2]: "", all[3]: "", all[4]: written}, settings, nil, ""},
		"no state":                   {map[string]string{all[4]: written}, settings, all[:4], ""},
		"a clone":                    {map[string]string{all[4]: "max_rounds: 9\n"}, project.Settings{}, all[:4], ""},
		"a clone, and settings":      {map[string]string{all[4]: "max_rounds: 9\n"}, settings, nil, errs.InitExists},
		"another configuration":      {map[string]string{all[0]: "*\n", all[4]: "max_rounds: 9\n"}, project.Settings{}, all[1:4], ""},
		"a configuration of an init": {map[string]string{all[0]: "*\n", all[4]: written}, project.Settings{}, all[1:4], ""},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			for path, text := range c.files {
				put(t, dir, path, text)
			}
			created, err := project.Init(t.Context(), dir, c.s, given())
			if errs.CodeOf(err) != c.code || !slices.Equal(created, c.created) {
				t.Errorf("got %v, %v", created, err)
			}
			for path, text := range c.files {
				if got := fileIn(t, dir, path); got != text {
					t.Errorf("%s became %q", path, got)
				}
			}
			if again, err := project.Init(t.Context(), dir, c.s, given()); len(again) > 0 || err != nil && errs.CodeOf(err) != errs.InitExists {
				t.Errorf("again: %v, %v", again, err)
			}
		})
	}
}

func TestInitStaysWhereItIs(t *testing.T) {
	root := tree(t, "switchyard.yaml", ".switchyard/x", "sub/")
	dir := filepath.Join(root, "sub")
	if created := initialised(t, dir, project.Settings{}); !slices.Equal(created, all) {
		t.Errorf("created %v", created)
	}
	if p, err := project.Find(dir); err != nil || p.Root != dir {
		t.Errorf("found %+v, %v", p, err)
	}
	if got := fileIn(t, root, "switchyard.yaml"); got != "switchyard.yaml" {
		t.Errorf("the parent's became %q", got)
	}
}

func TestInitFollowsNoLinks(t *testing.T) {
	outside := t.TempDir()
	for name, make := range map[string]func(dir string) error{
		"state is a link": func(dir string) error { return os.Symlink(outside, filepath.Join(dir, ".switchyard")) },
		"state is a link inside": func(dir string) error {
			if err := os.Mkdir(filepath.Join(dir, "other"), 0o700); err != nil {
				return err
			}
			return os.Symlink("other", filepath.Join(dir, ".switchyard"))
		},
		"state is a file": func(dir string) error { return os.WriteFile(filepath.Join(dir, ".switchyard"), nil, 0o600) },
	} {
		dir := t.TempDir()
		if err := make(dir); err != nil {
			t.Fatal(err)
		}
		if created, err := project.Init(t.Context(), dir, project.Settings{}, given()); errs.CodeOf(err) != errs.FileUnwritable || len(created) > 0 {
			t.Errorf("%s: %v, %v", name, created, err)
		}
	}
	for name, target := range map[string]string{"out": outside, "inside": "other"} {
		dir := t.TempDir()
		for _, folder := range []string{".switchyard", ".switchyard/other"} {
			if err := os.Mkdir(filepath.Join(dir, folder), 0o700); err != nil {
				t.Fatal(err)
			}
		}
		if err := os.Symlink(target, filepath.Join(dir, ".switchyard", "agents")); err != nil {
			t.Fatal(err)
		}
		created, err := project.Init(t.Context(), dir, project.Settings{}, given())
		if errs.CodeOf(err) != errs.FileUnwritable || !slices.Equal(created, all[:1]) {
			t.Errorf("agents is a link %s: %v, %v", name, created, err)
		}
	}
	dir := t.TempDir()
	if err := os.Symlink(filepath.Join(outside, "new.yaml"), filepath.Join(dir, project.ConfigFile)); err != nil {
		t.Fatal(err)
	}
	if created, err := project.Init(t.Context(), dir, project.Settings{MaxRounds: 3}, given()); errs.CodeOf(err) != errs.InitExists || len(created) > 0 {
		t.Errorf("dangling link: %v, %v", created, err)
	}
	if files, err := os.ReadDir(outside); err != nil || len(files) > 0 {
		t.Errorf("outside are %v, %v", files, err)
	}
	if _, err := project.Init(t.Context(), filepath.Join(dir, "none"), project.Settings{}, given()); errs.CodeOf(err) != errs.FileUnwritable {
		t.Errorf("no directory: %v", err)
	}
}

// TestInitAtTheSameTime checks that exactly one of many processes creates each file.
func TestInitAtTheSameTime(t *testing.T) {
	dir := t.TempDir()
	var mu sync.Mutex
	var made []string
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			created, err := project.Init(t.Context(), dir, project.Settings{Researchers: 2}, given())
			if err != nil {
				t.Error(err)
			}
			mu.Lock()
			defer mu.Unlock()
			made = append(made, created...)
		})
	}
	wg.Wait()
	slices.Sort(made)
	if !slices.Equal(made, all) {
		t.Errorf("created %v", made)
	}
}

// TestInitIgnoresStateAlone runs git to check the ignored files.
func TestInitIgnoresStateAlone(t *testing.T) {
	git, err := exec.LookPath("git")
	if err != nil {
		t.Skip("there is no git to ask")
	}
	dir := t.TempDir()
	initialised(t, dir, project.Settings{})
	run := func(args ...string) string {
		cmd := exec.CommandContext(t.Context(), git, args...)
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_CONFIG_NOSYSTEM=1", "GIT_CEILING_DIRECTORIES="+filepath.Dir(dir))
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, out)
		}
		return string(out)
	}
	for _, name := range []string{"ledger.db", "ledger.db-wal", ".a.md.00ff", "run/agents/x"} {
		full := filepath.Join(dir, ".switchyard", filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(full), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(full, nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	run("init", "--quiet")
	seen := strings.Fields(run("ls-files", "--others", "--exclude-standard"))
	if !slices.Equal(seen, slices.DeleteFunc(slices.Clone(all), func(name string) bool { return name == ".switchyard/.gitignore" })) {
		t.Errorf("git sees %v", seen)
	}
}
