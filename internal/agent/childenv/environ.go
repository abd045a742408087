// Package childenv makes the environment of a spawned agent: what it may see of
// ours, and how it learns that it was spawned.
//
// An agent runs commands that a model thought of, in a shell that inherits all of
// this. So a variable is passed on because a rule names it, and not because no rule
// forbids it.
package childenv

import (
	"runtime"
	"slices"
	"strings"
)

// Policy is what one agent needs besides what every agent gets.
type Policy struct {
	// Credentials are the exact names of the variables by which the agent's CLI
	// knows the user.
	Credentials []string
	// Extra are further exact names. They may also be secrets: somebody wrote
	// down each of them.
	Extra []string
}

// The variables in which the user names further ones, separated by commas or white
// space. A child does not get them: what an agent may see is not its own to say.
const (
	passthrough      = "SWITCHYARD_SPAWN_ENV_PASSTHROUGH"
	nubosPassthrough = "NUBOS_PILOT_SPAWN_ENV_PASSTHROUGH"
)

// markPrefix begins the names of the marks of package process. The rest of such a
// name is random, and may happen to smell of a secret.
const markPrefix = "SWITCHYARD_CHILD_"

// Child returns a child's whole environment, as NAME=value sorted by bytes, each
// name once. Of several values of a name the last one counts, as it does for
// os/exec. The marks of Marks have to be put behind it.
//
// A variable passes if it is one of these:
//   - named by the policy, or in SWITCHYARD_SPAWN_ENV_PASSTHROUGH or
//     NUBOS_PILOT_SPAWN_ENV_PASSTHROUGH;
//   - one of those that programs need to run at all (common);
//   - a setting of ours, of nubos-pilot or of its CLI, by its prefix, unless its
//     name smells of a secret;
//   - a mark by which package process finds its children again.
//
// On Windows names have no case.
func Child(environ []string, p Policy) []string {
	values := table(environ)
	named := set(p.Credentials, p.Extra, names(values[fold(passthrough)].value), names(values[fold(nubosPassthrough)].value))
	hidden := set([]string{passthrough, nubosPassthrough})
	usual, session := set(common()), set(ofTheCaller())
	var child []string
	for key, v := range values {
		switch {
		case hidden[key]:
		case named[key], usual[key], strings.HasPrefix(key, markPrefix):
			child = append(child, v.name+"="+v.value)
		case !session[key] && hasPrefix(key) && !smells(key):
			child = append(child, v.name+"="+v.value)
		}
	}
	slices.Sort(child)
	return child
}

// variable is a variable as it is spelled.
type variable struct{ name, value string }

// table has the last value of each variable, by its folded name. An entry without
// a name is none: Windows keeps the folders of its drives in such.
func table(environ []string) map[string]variable {
	values := make(map[string]variable, len(environ))
	for _, entry := range environ {
		if name, value, ok := strings.Cut(entry, "="); ok && name != "" {
			values[fold(name)] = variable{name, value}
		}
	}
	return values
}

// fold returns what two spellings of one name have in common.
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

func names(list string) []string {
	return strings.FieldsFunc(list, func(c rune) bool { return c == ',' || c == ' ' || c == '\t' || c == '\n' || c == '\r' })
}
