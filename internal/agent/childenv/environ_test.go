package childenv_test

import (
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/switchyard-dev/switchyard/internal/agent/childenv"
)

// passing returns the names that pass out of some, each with a value of its own,
// and complains of a value that changed.
func passing(t *testing.T, more []string, names ...string) []string {
	t.Helper()
	var env []string
	for _, name := range names {
		env = append(env, name+"=value of "+name+"=1")
	}
	var passed []string
	for _, entry := range childenv.Child(env, more...) {
		name, value, _ := strings.Cut(entry, "=")
		if value != "value of "+name+"=1" {
			t.Errorf("%s became %q", name, value)
		}
		passed = append(passed, name)
	}
	return passed
}

// TestSecretsStayHere tests that what programs need passes, and what the
// user's other tools know does not.
func TestSecretsStayHere(t *testing.T) {
	stored := []string{"HOME", "LANG", "LC_ALL", "PATH", "TERM", "TMPDIR", "USER"}
	dropped := []string{
		"GITHUB_TOKEN", "GH_TOKEN", "GITLAB_TOKEN", "CI_JOB_TOKEN", "ACTIONS_RUNTIME_TOKEN", "ACTIONS_ID_TOKEN_REQUEST_TOKEN",
		"AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN", "AWS_PROFILE", "GOOGLE_APPLICATION_CREDENTIALS", "AZURE_CLIENT_SECRET",
		"NPM_TOKEN", "NODE_AUTH_TOKEN", "npm_config__authToken", "PYPI_TOKEN", "CARGO_REGISTRY_TOKEN", "STRIPE_SECRET_KEY",
		"DATABASE_URL", "PGPASSWORD", "MYSQL_PWD", "REDIS_URL", "SENTRY_DSN", "OPENAI_API_KEY", "SSH_AUTH_SOCK", "KUBECONFIG", "VAULT_ADDR", "UNKNOWN",
	}
	if got := passing(t, nil, append(stored, dropped...)...); !slices.Equal(got, stored) {
		t.Errorf("passed %v", got)
	}
}

// TestNothingLoadsCode: what makes a program load code, or read another
// configuration, does not pass by itself.
func TestNothingLoadsCode(t *testing.T) {
	loaders := []string{
		"NODE_OPTIONS", "NODE_PATH", "LD_PRELOAD", "LD_LIBRARY_PATH", "LD_AUDIT", "DYLD_INSERT_LIBRARIES", "BASH_ENV", "ENV", "PROMPT_COMMAND",
		"PYTHONPATH", "PYTHONSTARTUP", "PERL5OPT", "RUBYOPT", "JAVA_TOOL_OPTIONS", "GIT_CONFIG_COUNT", "GIT_CONFIG_KEY_0", "GIT_CONFIG_VALUE_0",
		"GIT_CONFIG_PARAMETERS", "GIT_SSH_COMMAND", "GIT_DIR", "GIT_WORK_TREE", "GIT_EXTERNAL_DIFF", "IFS", "NODE_TLS_REJECT_UNAUTHORIZED",
	}
	if got := passing(t, nil, loaders...); got != nil {
		t.Errorf("passed %v", got)
	}
	if got := passing(t, []string{"NODE_OPTIONS"}, loaders...); !slices.Equal(got, []string{"NODE_OPTIONS"}) {
		t.Errorf("passed %v", got)
	}
}

// TestCredentialsPassByTheirExactName is behaviours 179 and 182.
func TestCredentialsPassByTheirExactName(t *testing.T) {
	credentials := []string{"ANTHROPIC_API_KEY", "CLAUDE_CODE_OAUTH_TOKEN"}
	alike := []string{
		"ANTHROPIC_API_KEY", "ANTHROPIC_API_KEY_OLD", "ANTHROPIC_API_KEY_BACKUP", "OLD_ANTHROPIC_API_KEY", "anthropic_api_key_2",
		"CLAUDE_CODE_OAUTH_TOKEN", "CLAUDE_CODE_OAUTH_TOKEN_OLD", "CLAUDE_CODE_OAUTH_TOKENS",
	}
	if got := passing(t, credentials, alike...); !slices.Equal(got, credentials) {
		t.Errorf("passed %v", got)
	}
	if got := passing(t, nil, alike...); got != nil {
		t.Errorf("an adapter without credentials got %v", got)
	}
}

// TestSettingsPassByTheirPrefix is behaviours 181 and 183.
func TestSettingsPassByTheirPrefix(t *testing.T) {
	stored := []string{
		"ANTHROPIC_BASE_URL", "ANTHROPIC_MODEL", "CLAUDE_CODE_MAX_RETRIES", "CLAUDE_CONFIG_DIR", "NUBOS_PILOT_LANG", "SWITCHYARD_USER",
	}
	dropped := []string{
		"ANTHROPIC_AUTH_TOKEN", "ANTHROPIC_BEARER", "CLAUDE_SESSION_ID", "CLAUDE_COOKIE", "NUBOS_PILOT_DSN", "SWITCHYARD_USERPASS", "CLAUDE_PASSWORD",
		"NUBOS_PILOT_DB_PWD", "SWITCHYARD_JWT", "CLAUDE_PRIVATE_KEY_FILE", "ANTHROPIC_CLIENT_SECRET", "CLAUDE_CREDENTIALS", "SWITCHYARD_aPi_KeY",
		"ANTHROPIC_CUSTOM_HEADERS", "CLAUDE_ACCESS_KEY", "ANTHROPIC_APIKEY",
		// Marks of the session that we are called from.
		"CLAUDECODE", "CLAUDE_CODE_ENTRYPOINT", "CLAUDE_CODE_SSE_PORT",
		"XCLAUDE_A", "ANTHROPIC", "NUBOS_OTHER",
	}
	if got := passing(t, nil, append(dropped, stored...)...); !slices.Equal(got, stored) {
		t.Errorf("passed %v", got)
	}
}

// TestTheMarksOfProcessPass: their names are random, and each of them passes
// whatever it spells.
func TestTheMarksOfProcessPass(t *testing.T) {
	marks := []string{"SWITCHYARD_CHILD_AJWTA", "SWITCHYARD_CHILD_TOKENPWD", "SWITCHYARD_CHILD_X"}
	if got := passing(t, nil, marks...); !slices.Equal(got, marks) {
		t.Errorf("passed %v", got)
	}
}

// TestThePassthroughHasExactNames is behaviours 180 and 184.
func TestThePassthroughHasExactNames(t *testing.T) {
	const variable = "NUBOS_PILOT_SPAWN_ENV_PASSTHROUGH"
	env := []string{
		"AWS_PROFILE=a", "AWS_PROFILE_OLD=b", "CLAUDE_SESSION=c", "GH_TOKEN=d", "DB_1=e", "DB_2=f",
		variable + "=AWS_PROFILE, CLAUDE_SESSION\tGH_TOKEN,,DB_*," + variable,
	}
	want := []string{"AWS_PROFILE=a", "CLAUDE_SESSION=c", "GH_TOKEN=d"}
	if got := childenv.Child(env, variable); !slices.Equal(got, want) {
		t.Errorf("got %v", got)
	}
}

// TestProxiesAndMarkersOfCIPass tests that a CLI behind a proxy, or in CI, works as for the user.
func TestProxiesAndMarkersOfCIPass(t *testing.T) {
	stored := []string{"CI", "GITHUB_ACTIONS", "HTTPS_PROXY", "NODE_EXTRA_CA_CERTS", "NO_PROXY", "SSL_CERT_FILE"}
	if runtime.GOOS != "windows" {
		stored = append(stored, "https_proxy")
	}
	if got := passing(t, nil, stored...); !slices.Equal(got, stored) {
		t.Errorf("passed %v", got)
	}
}

func TestTheLastOfANameCounts(t *testing.T) {
	env := []string{"PATH=a", "=C:=C:\\", "junk", "", "HOME=", "PATH=b", "TERM=a=b"}
	if got, want := childenv.Child(env), []string{"HOME=", "PATH=b", "TERM=a=b"}; !slices.Equal(got, want) {
		t.Errorf("got %q", got)
	}
	if got := childenv.Child(nil); len(got) > 0 {
		t.Errorf("got %q", got)
	}
}

// TestChildTakesAndSorts: a child's environment is a part of ours, in one order
// whatever ours is, and a child of the child gets the same.
func TestChildTakesAndSorts(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		name := rapid.OneOf(
			rapid.SampledFrom([]string{"PATH", "HOME", "ANTHROPIC_API_KEY", "NUBOS_PILOT_SPAWN_ENV_PASSTHROUGH", "SWITCHYARD_HEADLESS"}),
			rapid.StringMatching(`(CLAUDE_|SWITCHYARD_CHILD_|)[A-Z_]{0,8}`),
		)
		unique := rapid.SliceOfDistinct(name, rapid.ID[string]).Draw(t, "names")
		var env []string
		for _, n := range unique {
			env = append(env, n+"="+rapid.StringMatching(`[A-Z,= ]{0,10}`).Draw(t, "value"))
		}
		more := rapid.SliceOf(name).Draw(t, "more")
		child := childenv.Child(env, more...)
		if !slices.IsSorted(child) {
			t.Fatalf("not sorted: %q", child)
		}
		for _, entry := range child {
			if !slices.Contains(env, entry) || strings.Contains(entry, "SPAWN_ENV_PASSTHROUGH=") {
				t.Fatalf("%q passed", entry)
			}
		}
		if other := childenv.Child(rapid.Permutation(env).Draw(t, "order"), more...); !slices.Equal(other, child) {
			t.Fatalf("got %q and %q", child, other)
		}
		again := childenv.Child(child, more...)
		for _, entry := range again {
			if !slices.Contains(child, entry) {
				t.Fatalf("%q came back", entry)
			}
		}
	})
}

func TestValueAndLookPath(t *testing.T) {
	dir := t.TempDir()
	program := filepath.Join(dir, "tool")
	if runtime.GOOS == "windows" {
		program += ".exe"
	}
	if err := os.WriteFile(program, nil, 0o700); err != nil {
		t.Fatal(err)
	}
	environ := []string{"A=1", "AB=2", "A=3", "EMPTY=", "PATH=" + strings.Join([]string{"relative", filepath.Join(dir, "none"), dir}, string(filepath.ListSeparator))}
	for name, want := range map[string]string{"A": "3", "AB": "2", "EMPTY": "", "B": ""} {
		if got := childenv.Value(environ, name); got != want {
			t.Errorf("%s is %q, want %q", name, got, want)
		}
	}
	if got := childenv.LookPath(environ, "tool"); got != program {
		t.Errorf("the program is %q, want %q", got, program)
	}
	if got := childenv.LookPath(environ, "other"); got != "" {
		t.Errorf("a program that does not exist is %q", got)
	}
	t.Chdir(dir)
	if got := childenv.LookPath([]string{"PATH=."}, "tool"); got != "" {
		t.Errorf("a program in a relative directory is %q", got)
	}
}
