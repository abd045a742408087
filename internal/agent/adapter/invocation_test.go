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

// spawn is what a spawn brings.
func spawn() adapter.Values {
	return adapter.Values{
		WorkDir: "/project", StateDir: "/run/state", TempDir: "/run/tmp", OutFile: "/run/out",
		ReportPath: "/project/.switchyard/report.json", PromptFile: "/run/prompt",
	}
}

func invoke(t testing.TB, name string, v adapter.Values) adapter.Invocation {
	t.Helper()
	inv, err := embedded(t, name).Invocation(v)
	if err != nil {
		t.Fatal(err)
	}
	return inv
}

// after returns what follows a flag, each time that it is there.
func after(argv []string, flag string) []string {
	var all []string
	for i, arg := range argv[:max(0, len(argv)-1)] {
		if arg == flag {
			all = append(all, argv[i+1])
		}
	}
	return all
}

func TestClaudeMayWriteItsReportAlone(t *testing.T) {
	v := spawn()
	inv := invoke(t, "claude", v)
	if got := after(inv.Argv, "--tools"); !slices.Equal(got, []string{"Read,Grep,Glob"}) {
		t.Errorf("read-only tools %q", got)
	}
	if got := after(inv.Argv, "--allowedTools"); got != nil {
		t.Errorf("read-only, and may use %q", got)
	}
	v.Profile, v.Web = profile.Report, true
	inv = invoke(t, "claude", v)
	if got := after(inv.Argv, "--tools"); !slices.Equal(got, []string{"Read,Grep,Glob,Write,WebSearch,WebFetch"}) {
		t.Errorf("tools %q", got)
	}
	if got := after(inv.Argv, "--allowedTools"); !slices.Equal(got, []string{"Read(//project/.switchyard/**)", "Edit(//project/.switchyard/report.json)", "WebSearch,WebFetch"}) {
		t.Errorf("may use %q", got)
	}
	if got := after(inv.Argv, "--permission-mode"); !slices.Equal(got, []string{"dontAsk"}) || !inv.Stdin {
		t.Errorf("permission mode %q, stdin %t", got, inv.Stdin)
	}
	if inv.Files["settings.json"] != "{\n  \"disableAllHooks\": true\n}\n" || after(inv.Argv, "--settings")[0] != "/run/state/settings.json" {
		t.Errorf("settings %q", inv.Files)
	}
	// A path that its rules would read as a pattern gives more than one file away.
	for _, path := range []string{"/project/**", "/project/a)b", "/project/a,Bash", "/project/a b", "/project/[a]"} {
		v.ReportPath = path
		if _, err := embedded(t, "claude").Invocation(v); errs.CodeOf(err) != errs.AdapterInvalid {
			t.Errorf("%s: error %v", path, err)
		}
	}
}

// An agent that edits may do without asking what it needs in its working tree, and no flag
// ends all checks.
func TestAgentsThatEdit(t *testing.T) {
	v := spawn()
	v.ReportPath, v.Profile = "", profile.Edit
	for name, want := range map[string]string{
		"claude":   "--permission-mode dontAsk --tools Read,Grep,Glob,Edit,Write,Bash --allowedTools Edit(./**),Bash",
		"codex":    `permissions.switchyard.filesystem={":root"="read","/run/tmp"="write",":workspace_roots"={"."="write",".git"="read"}}`,
		"gemini":   "--approval-mode auto_edit --allowed-mcp-server-names none --extensions none --allowed-tools run_shell_command",
		"opencode": "run --format json --pure",
		"copilot":  "--deny-tool=write(.git) --allow-tool=shell --allow-tool=write",
	} {
		argv := strings.Join(invoke(t, name, v).Argv, " ")
		if !strings.Contains(argv, want) || strings.Contains(argv, "dangerous") || strings.Contains(argv, "yolo") {
			t.Errorf("%s: %s", name, argv)
		}
	}
	v.Command = []string{"fix"}
	invoke(t, "exec", v)
	// A user's adapter may lack the profile.
	own, err := adapter.Parse(with(t, "profiles", map[string]any{"readonly": map[string]any{}, "report": map[string]any{}}))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := own.Invocation(v); errs.CodeOf(err) != errs.AdapterInvalid || !strings.Contains(err.Error(), "profile edit") {
		t.Errorf("an adapter without the profile: %v", err)
	}
}

// A flag falls out with its value.
func TestEmptyValuesFallOutWithTheirFlags(t *testing.T) {
	v := spawn()
	inv := invoke(t, "claude", v)
	if slices.Contains(inv.Argv, "--model") || slices.Contains(inv.Argv, "--max-budget-usd") || slices.Contains(inv.Argv, "") {
		t.Errorf("arguments %q", inv.Argv)
	}
	v.Model, v.MaxDollars = "opus", "2.5"
	inv = invoke(t, "claude", v)
	if after(inv.Argv, "--model")[0] != "opus" || after(inv.Argv, "--max-budget-usd")[0] != "2.5" {
		t.Errorf("arguments %q", inv.Argv)
	}
	v.OutFile = ""
	if _, err := embedded(t, "codex").Invocation(v); errs.CodeOf(err) != errs.AdapterInvalid || !strings.Contains(err.Error(), "out_file") {
		t.Errorf("codex without a file to write: error %v", err)
	}
}

// What a repository brings and its CLI would obey keeps the CLI from being started.
func TestForbiddenFilesOfARepository(t *testing.T) {
	v := spawn()
	v.WorkDir = t.TempDir()
	invoke(t, "gemini", v)
	if err := os.Mkdir(filepath.Join(v.WorkDir, ".gemini"), 0o755); err != nil {
		t.Fatal(err)
	}
	invoke(t, "gemini", v)
	if err := os.Symlink("nowhere", filepath.Join(v.WorkDir, ".gemini", "settings.json")); err != nil {
		t.Fatal(err)
	}
	_, err := embedded(t, "gemini").Invocation(v)
	f, ok := errors.AsType[*errs.Error](err)
	if !ok || f.Code != errs.AdapterRepositorySettings || f.Details["path"] != ".gemini/settings.json" {
		t.Errorf("error %v", err)
	}
	invoke(t, "claude", v)
}

// A value is never taken for a flag.
func TestValuesAreNoFlags(t *testing.T) {
	for _, name := range []string{"claude", "codex", "gemini", "opencode", "copilot"} {
		for _, model := range []string{"--dangerously-skip-permissions", "-x", "a\x00b"} {
			v := spawn()
			v.Model = model
			if _, err := embedded(t, name).Invocation(v); errs.CodeOf(err) != errs.AdapterInvalid {
				t.Errorf("%s, model %q: error %v", name, model, err)
			}
		}
	}
}

// The state of a user who has logged in stays where the login is.
func TestStateMovesOnlyWithACredential(t *testing.T) {
	for name, credential := range map[string]string{
		"claude": "CLAUDE_CODE_OAUTH_TOKEN", "codex": "CODEX_API_KEY", "gemini": "GEMINI_API_KEY", "copilot": "GH_TOKEN", "opencode": "OPENAI_API_KEY",
	} {
		variable := map[string]string{
			"claude": "CLAUDE_CONFIG_DIR", "codex": "CODEX_HOME", "gemini": "GEMINI_CLI_HOME", "copilot": "COPILOT_HOME", "opencode": "XDG_DATA_HOME",
		}[name]
		v := spawn()
		for environ, want := range map[string]bool{"": false, credential + "=": false, credential + "=x": true, "X" + credential + "=x": false} {
			v.Environ = []string{"HOME=/home/user", environ}
			inv := invoke(t, name, v)
			if got := slices.Contains(inv.Env, variable+"=/run/state"); got != want {
				t.Errorf("%s with %q: %s is set: %t, want %t (%q)", name, environ, variable, got, want, inv.Env)
			}
			if !slices.Contains(inv.Pass, credential) || !slices.Contains(inv.Pass, variable) || !slices.IsSorted(inv.Env) {
				t.Errorf("%s passes %q, sets %q", name, inv.Pass, inv.Env)
			}
		}
	}
}

func TestInvocationIsTheCallersOwn(t *testing.T) {
	a := embedded(t, "gemini")
	v := spawn()
	first, err := a.Invocation(v)
	if err != nil {
		t.Fatal(err)
	}
	clear(first.Argv)
	clear(first.Pass)
	clear(first.Files)
	v.Profile = profile.Report
	second, err := a.Invocation(v)
	if err != nil {
		t.Fatal(err)
	}
	if second.Argv[0] == "" || second.Pass[0] == "" || len(second.Files) != 1 {
		t.Errorf("got %+v", second)
	}
}

func TestFilesOfAnAdapterHaveItsValues(t *testing.T) {
	core := func(v adapter.Values) []string {
		var settings struct {
			Tools struct {
				Core []string `json:"core"`
			} `json:"tools"`
		}
		if err := json.Unmarshal([]byte(invoke(t, "gemini", v).Files[".gemini/settings.json"]), &settings); err != nil {
			t.Fatal(err)
		}
		return settings.Tools.Core
	}
	v := spawn()
	reads := []string{"read_file", "read_many_files", "list_directory", "glob", "grep_search"}
	if got := core(v); !slices.Equal(got, reads) {
		t.Errorf("read-only: %q", got)
	}
	v.Profile = profile.Report
	if got := core(v); !slices.Equal(got, append(reads, "write_file")) {
		t.Errorf("report: %q", got)
	}

	edit := func(v adapter.Values) map[string]string {
		var config struct {
			Permission struct {
				Edit map[string]string `json:"edit"`
			} `json:"permission"`
		}
		if err := json.Unmarshal([]byte(invoke(t, "opencode", v).Files["opencode.json"]), &config); err != nil {
			t.Fatal(err)
		}
		return config.Permission.Edit
	}
	got := edit(v)
	if len(got) != 4 || got["*"] != "deny" || got[".git"] != "deny" || got["/project/.switchyard/report.json"] != "allow" || got[".switchyard/report.json"] != "allow" {
		t.Errorf("report: %q", got)
	}
	v.Profile = profile.Readonly
	if got := edit(v); len(got) != 2 || got["*"] != "deny" || got[".git"] != "deny" {
		t.Errorf("read-only: %q", got)
	}
	v.Profile = profile.Edit
	if got := edit(v); len(got) != 2 || got["*"] != "allow" || got[".git"] != "deny" {
		t.Errorf("edit: %q", got)
	}
	if got := core(v); !slices.Equal(got, append(reads, "write_file", "replace", "run_shell_command")) {
		t.Errorf("edit: %q", got)
	}
}

func TestCodexIsConfined(t *testing.T) {
	const files = "permissions.switchyard.filesystem="
	v := spawn()
	inv := invoke(t, "codex", v)
	if !slices.Contains(inv.Argv, files+`{":root"="read","/run/tmp"="write"}`) || !slices.Contains(inv.Argv, `default_permissions="switchyard"`) {
		t.Errorf("read-only: %q", inv.Argv)
	}
	v.Profile = profile.Report
	inv = invoke(t, "codex", v)
	if !slices.Contains(inv.Argv, files+`{":root"="read","/run/tmp"="write","/project/.switchyard"="write"}`) || inv.Argv[len(inv.Argv)-1] != "-" {
		t.Errorf("report: %q", inv.Argv)
	}
	if !slices.Contains(inv.Argv, `web_search="disabled"`) {
		t.Errorf("searches the web: %q", inv.Argv)
	}
}

func TestGeminiSeesTheFolderOfItsReport(t *testing.T) {
	v := spawn()
	v.Profile = profile.Report
	if got := after(invoke(t, "gemini", v).Argv, "--include-directories"); !slices.Equal(got, []string{"/project/.switchyard"}) {
		t.Errorf("it sees %q", got)
	}
	v.ReportPath = ""
	if got := after(invoke(t, "gemini", v).Argv, "--include-directories"); got != nil {
		t.Errorf("without a report it sees %q", got)
	}
	// A comma would make two directories of one.
	v.ReportPath = "/project/a,b/report.json"
	if _, err := embedded(t, "gemini").Invocation(v); errs.CodeOf(err) != errs.AdapterInvalid {
		t.Errorf("a comma: %v", err)
	}
}

func TestCopilotIsConfined(t *testing.T) {
	v := spawn()
	inv := invoke(t, "copilot", v)
	if !slices.Contains(inv.Argv, "--deny-tool=shell") || !slices.Contains(inv.Argv, "--deny-tool=write") || slices.Contains(inv.Argv, "--allow-all-tools") {
		t.Errorf("read-only: %q", inv.Argv)
	}
	v.Profile = profile.Report
	inv = invoke(t, "copilot", v)
	if !slices.Contains(inv.Argv, "--deny-tool=shell") || slices.Contains(inv.Argv, "--deny-tool=write") ||
		!slices.Contains(inv.Argv, "--allow-tool=write(/project/.switchyard/report.json)") {
		t.Errorf("report: %q", inv.Argv)
	}
}

func TestExecRunsTheCommandAsItIs(t *testing.T) {
	v := spawn()
	v.Command = []string{"review", "--model", "{model}", "", "-x"}
	if inv := invoke(t, "exec", v); !slices.Equal(inv.Argv, v.Command[1:]) || !inv.Stdin || len(inv.Env) != 0 {
		t.Errorf("got %+v", inv)
	}
	v.Command = nil
	if inv := invoke(t, "exec", v); len(inv.Argv) != 0 {
		t.Errorf("got %+v", inv)
	}
}

// An adapter may hand the prompt over as a file.
func TestPromptAsAFile(t *testing.T) {
	data := strings.NewReplacer(`"stdin"`, `"file"`, `["run"]`, `["run","--prompt={prompt_file}"]`).Replace(string(with(t, "tested", []any{})))
	a, err := adapter.Parse([]byte(data))
	if err != nil {
		t.Fatal(err)
	}
	inv, err := a.Invocation(spawn())
	if err != nil || inv.Stdin || !slices.Equal(inv.Argv, []string{"run", "--prompt=/run/prompt"}) {
		t.Errorf("got %+v, %v", inv, err)
	}
}
