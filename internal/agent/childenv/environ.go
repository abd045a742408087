// Package childenv builds the environment of a spawned agent: our variables that it gets, and
// variables that say that it was spawned.
//
// An agent runs commands of a model in a shell that inherits this environment. So a variable
// is passed only if a rule allows it.
package childenv

import (
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
)

// passthrough is the variable in which the user lists further variables, separated by commas
// or white space. A child does not get it.
const passthrough = "NUBOS_PILOT_SPAWN_ENV_PASSTHROUGH"

// markPrefix begins the markers of package supervise. The rest of such a name is random,
// and may look like a secret's name.
const markPrefix = "SWITCHYARD_CHILD_"

// Child returns a child's whole environment as sorted NAME=value, each name once. The last
// value of a name counts. The caller appends the variables of Marks.
//
// A variable is passed if it is one of more, which may be secrets, or named by
// NUBOS_PILOT_SPAWN_ENV_PASSTHROUGH; if it is one of the common variables; if it has a known
// prefix and its name does not look like a secret; or if it is a marker of package supervise.
// Names have no case on Windows.
func Child(environ []string, more ...string) []string {
	named := set(more, strings.Fields(strings.ReplaceAll(Value(environ, passthrough), ",", " ")))
	hidden := set([]string{passthrough, "SWITCHYARD_CONFINE_READ", "SWITCHYARD_CONFINE_WRITE"})
	usual, session := set(common()), set(claudeSession())
	seen := make(map[string]bool)
	var child []string
	for _, entry := range slices.Backward(environ) {
		name, _, ok := strings.Cut(entry, "=")
		key := fold(name)
		if !ok || name == "" || seen[key] || hidden[key] { // Windows has entries without a name for drives.
			continue
		}
		seen[key] = true
		if named[key] || usual[key] || strings.HasPrefix(key, markPrefix) || !session[key] && hasPrefix(key) && !isSecretName(key) {
			child = append(child, entry)
		}
	}
	slices.Sort(child)
	return child
}

// Value returns the value of a variable, "" if it is not set. The last one wins.
func Value(environ []string, name string) string {
	for _, entry := range slices.Backward(environ) {
		if n, value, _ := strings.Cut(entry, "="); fold(n) == fold(name) {
			return value
		}
	}
	return ""
}

// LookPath finds a program in the absolute directories of the environment's PATH. It returns
// "" if they do not have it.
func LookPath(environ []string, program string) string {
	for _, dir := range filepath.SplitList(Value(environ, "PATH")) {
		if path, err := exec.LookPath(filepath.Join(dir, program)); err == nil && filepath.IsAbs(dir) {
			return path
		}
	}
	return ""
}

// fold is the canonical spelling of a name.
func fold(name string) string {
	if runtime.GOOS == "windows" {
		return strings.ToUpper(name)
	}
	return name
}

func set(lists ...[]string) map[string]bool {
	all := make(map[string]bool)
	for _, list := range lists {
		for _, name := range list {
			all[fold(name)] = true
		}
	}
	return all
}
