package childenv

import (
	"slices"
	"strings"
)

// common are the variables that every agent gets.
//
// They contain no secrets, except for a password in a proxy's address, which is needed.
// Variables that make a program load code, run another command or read another configuration
// are missing on purpose: NODE_OPTIONS, NODE_PATH, LD_PRELOAD, LD_LIBRARY_PATH, BASH_ENV,
// PYTHONPATH and GIT_CONFIG_COUNT. So is SSH_AUTH_SOCK. PWD is missing because the child's
// directory differs.
func common() []string {
	return []string{
		// The user and the shell.
		"PATH", "HOME", "USER", "LOGNAME", "SHELL", "SHLVL", "HOSTNAME",
		"XDG_CONFIG_HOME", "XDG_CONFIG_DIRS", "XDG_DATA_HOME", "XDG_DATA_DIRS", "XDG_CACHE_HOME", "XDG_STATE_HOME",
		// Language and time.
		"LANG", "LANGUAGE", "TZ", "LC_ALL", "LC_ADDRESS", "LC_COLLATE", "LC_CTYPE", "LC_IDENTIFICATION", "LC_MEASUREMENT",
		"LC_MESSAGES", "LC_MONETARY", "LC_NAME", "LC_NUMERIC", "LC_PAPER", "LC_TELEPHONE", "LC_TIME",
		// Temporary files.
		"TMPDIR", "TMP", "TEMP",
		// The terminal. Programs check these even without one.
		"TERM", "COLORTERM", "TERM_PROGRAM", "TERM_PROGRAM_VERSION", "COLUMNS", "LINES", "NO_COLOR", "FORCE_COLOR", "CLICOLOR", "CLICOLOR_FORCE",
		// Node and its version managers.
		"NODE_ENV", "NODE_NO_WARNINGS", "NVM_DIR", "NVM_BIN", "FNM_DIR", "FNM_MULTISHELL_PATH", "VOLTA_HOME", "ASDF_DIR", "ASDF_DATA_DIR", "MISE_DATA_DIR",
		// Network proxies.
		"HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY", "http_proxy", "https_proxy", "all_proxy", "no_proxy",
		"SSL_CERT_FILE", "SSL_CERT_DIR", "NODE_EXTRA_CA_CERTS", "NODE_USE_SYSTEM_CA", "CURL_CA_BUNDLE", "REQUESTS_CA_BUNDLE", "GIT_SSL_CAINFO",
		// Continuous integration.
		"CI", "CONTINUOUS_INTEGRATION", "GITHUB_ACTIONS", "GITLAB_CI", "BUILDKITE", "CIRCLECI", "TRAVIS", "TF_BUILD", "TEAMCITY_VERSION", "JENKINS_URL",
		// The user's editor.
		"EDITOR", "VISUAL", "PAGER",
		// Required on Windows.
		"SystemRoot", "SystemDrive", "windir", "ComSpec", "PATHEXT", "OS", "USERNAME", "USERPROFILE", "HOMEDRIVE", "HOMEPATH", "APPDATA", "LOCALAPPDATA",
		"ProgramData", "ProgramFiles", "ProgramFiles(x86)", "ProgramW6432", "CommonProgramFiles", "CommonProgramFiles(x86)", "CommonProgramW6432",
		"PUBLIC", "COMPUTERNAME", "NUMBER_OF_PROCESSORS", "PROCESSOR_ARCHITECTURE", "PROCESSOR_IDENTIFIER",
	}
}

// claudeSession are the variables of a session of the claude CLI. A child with them would take
// part in that session.
func claudeSession() []string {
	return []string{"CLAUDE_CODE_ENTRYPOINT", "CLAUDE_CODE_SSE_PORT", "CLAUDE_ENV_FILE"}
}

func hasPrefix(name string) bool {
	return slices.ContainsFunc([]string{"SWITCHYARD_", "NUBOS_PILOT_", "CLAUDE_", "ANTHROPIC_"}, func(prefix string) bool {
		return strings.HasPrefix(name, prefix)
	})
}

// isSecretName reports whether a name looks like that of a secret. False positives can be
// listed in spawn.env.
func isSecretName(name string) bool {
	name = strings.ToUpper(name)
	words := []string{
		"API_KEY", "TOKEN", "SECRET", "PASSWORD", "PWD", "CREDENTIAL", "AUTH", "BEARER", "COOKIE", "SESSION", "USERPASS", "DSN", "PRIVATE_KEY", "JWT",
		// Gateway users put their authorization into ANTHROPIC_CUSTOM_HEADERS.
		"APIKEY", "ACCESS_KEY", "PASSWD", "PASSPHRASE", "HEADERS",
	}
	return slices.ContainsFunc(words, func(word string) bool { return strings.Contains(name, word) })
}
