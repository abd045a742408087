package adapter

import (
	"cmp"
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/switchyard-dev/switchyard/internal/agent/childenv"
	"github.com/switchyard-dev/switchyard/internal/agent/profile"
	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/lazy"
)

// Values are a spawn's values for an adapter's templates. Paths are absolute.
type Values struct {
	// Model is "" for the CLI's default.
	Model   string
	WorkDir string
	// StateDir is a private directory for the CLI's configuration and state, and TempDir one
	// for temporary files.
	StateDir, TempDir string
	// OutFile is the file to which the CLI may write its final message.
	OutFile string
	// ReportPath is the file that the agent may write, and PromptFile contains its prompt.
	ReportPath, PromptFile string
	// MaxDollars limits the cost, as a decimal number of dollars, "" for no limit. Not
	// all CLIs support it.
	MaxDollars string
	// Profile is the agent's write access: none, ReportPath, or the files of WorkDir.
	Profile profile.Profile
	// Web allows web searches and reading pages.
	Web bool
	// Command is the program and arguments for an adapter that runs any command.
	Command []string
	// Environ is the environment with the available credentials, as NAME=value.
	Environ []string
	// Confined is set if our sandbox confines the CLI.
	Confined bool
}

// Invocation describes how to start a CLI.
type Invocation struct {
	// Argv are the arguments, without the program.
	Argv []string
	// Env are variables to set, as NAME=value, in byte order.
	Env []string
	// Pass are variables to inherit, such as the credential and the endpoint.
	Pass []string
	// Files are the contents, by relative path, of files to create below Values.StateDir
	// before the start.
	Files map[string]string
	// Stdin is set if the prompt goes to standard input. Otherwise the arguments name
	// PromptFile.
	Stdin bool
	// Hosts are the hosts that the CLI connects to, and URLs are the variables with URLs of
	// other hosts.
	Hosts, URLs []string
	// State are the paths of the user's login and settings, except paths that variables move
	// to a private directory. Protected are paths in them that the CLI should not change.
	State, Protected []string
	// Checkout are paths below the project's root that the CLI reads even if it runs in
	// another tree.
	Checkout []string
}

var placeholder = lazy.Regexp(`\{([a-z_]+)\}`)

// command is the argument that stands for all arguments of Values.Command.
const command = "{command}"

// Placeholders of Values.
const atPromptFile, atOutFile = "prompt_file", "out_file"

func (v Values) named() map[string]string {
	dir, rel := "", ""
	if v.ReportPath != "" {
		dir = filepath.Dir(v.ReportPath)
		// This fails on Windows without a common root.
		rel, _ = filepath.Rel(v.WorkDir, v.ReportPath)
	}
	return map[string]string{
		"model": v.Model, "workdir": v.WorkDir, "state_dir": v.StateDir, "temp_dir": v.TempDir,
		"report_path": v.ReportPath, "report_dir": dir, "report_rel": rel, "max_dollars": v.MaxDollars,
		atOutFile: v.OutFile, atPromptFile: v.PromptFile,
	}
}

// Invocation returns how to start the CLI for one spawn.
//
// # Errors
//
// adapter-invalid if a required argument has no value, a value cannot be passed to this CLI,
// or the adapter lacks the profile. adapter-repository-settings if the repository has settings
// that the CLI would apply.
func (a *Adapter) Invocation(v Values) (Invocation, error) {
	values := v.named()
	for _, name := range slices.Sorted(maps.Keys(values)) {
		if err := a.checkValue(name, values[name]); err != nil {
			return Invocation{}, err
		}
	}
	if err := a.checkForbidden(v.WorkDir); err != nil {
		return Invocation{}, err
	}
	may, err := a.profilePlaceholders(v.Profile)
	if err != nil {
		return Invocation{}, err
	}
	web := a.spec.Web.Off
	if v.Web {
		web = a.spec.Web.On
	}
	own := maps.Clone(values)
	choices := []map[string]string{may, web}
	if v.Confined {
		choices = append(choices, a.spec.Sandbox.Off)
	}
	for _, choice := range choices {
		for name, template := range choice {
			own[name], _ = fill(template, values)
		}
	}
	inv := Invocation{
		Pass: slices.Clone(a.spec.EnvPass), Stdin: a.spec.Prompt == "stdin", Files: make(map[string]string, len(a.spec.Files)),
		Hosts: a.spec.Sandbox.Hosts, URLs: a.spec.Sandbox.URLs, Checkout: a.spec.Sandbox.Checkout,
	}
	if inv.Argv, err = a.argv(own, values, v.Command); err != nil {
		return Invocation{}, err
	}
	set := make(map[string]string)
	maps.Copy(set, a.spec.EnvSet)
	if len(a.spec.Credentials) == 0 || slices.ContainsFunc(a.spec.Credentials, func(name string) bool { return childenv.Value(v.Environ, name) != "" }) {
		for _, name := range a.spec.StateDirEnv {
			set[name] = "{state_dir}"
		}
	}
	inv.State, inv.Protected = a.state(v.Environ, set)
	for _, name := range slices.Sorted(maps.Keys(set)) {
		value, missing := fill(set[name], own)
		if missing == "" {
			inv.Env = append(inv.Env, name+"="+value)
		}
	}
	for name, content := range a.spec.Files {
		if inv.Files[name], err = fillJSON(content, own); err != nil {
			return Invocation{}, err
		}
	}
	return inv, nil
}

// state returns Invocation.State and Protected. moved has the variables that move a path.
func (a *Adapter) state(environ []string, moved map[string]string) (paths, protected []string) {
	for _, s := range a.spec.Sandbox.State {
		if _, ok := moved[s.Variable]; ok {
			continue
		}
		path := filepath.Join(childenv.Value(environ, "HOME"), s.Home)
		if given := childenv.Value(environ, s.Variable); s.Variable != "" && given != "" {
			path = given
		}
		path = filepath.Join(path, s.Below)
		paths = append(paths, path)
		for _, name := range s.Protect {
			protected = append(protected, filepath.Join(path, name))
		}
	}
	return paths, protected
}

// Allows returns adapter-invalid if the adapter lacks the profile.
func (a *Adapter) Allows(p profile.Profile) error {
	_, err := a.profilePlaceholders(p)
	return err
}

func (a *Adapter) profilePlaceholders(p profile.Profile) (map[string]string, error) {
	switch {
	case p == profile.Report:
		return a.spec.Profiles.Report, nil
	case p != profile.Edit:
		return a.spec.Profiles.ReadOnly, nil
	case a.spec.Profiles.Edit == nil:
		return nil, errs.New(errs.AdapterInvalid, "the adapter %s lacks the profile edit, so it cannot run agents that edit files", a.spec.Name).
			With("adapter", a.spec.Name).With("problems", []string{"/profiles/edit is missing"})
	}
	return a.spec.Profiles.Edit, nil
}

// checkValue refuses a value that this CLI would misinterpret.
func (a *Adapter) checkValue(name, value string) error {
	refuse := a.spec.Refuse[name]
	switch {
	case strings.ContainsRune(value, 0):
	case strings.HasPrefix(value, "-"): // it would be a flag
	case refuse.Regexp != nil && refuse.MatchString(value):
	default:
		return nil
	}
	return errs.New(errs.AdapterInvalid, "the adapter %s cannot take %q as %s", a.spec.Name, value, name).
		With("adapter", a.spec.Name).With("problems", []string{"/refuse/" + name + " refuses this value"}).WithHint("give another value")
}

// checkForbidden refuses settings of the repository. A file that cannot be checked counts as
// present.
func (a *Adapter) checkForbidden(dir string) error {
	for _, name := range a.spec.Forbidden {
		if _, err := os.Lstat(filepath.Join(dir, name)); !errors.Is(err, fs.ErrNotExist) {
			return errs.New(errs.AdapterRepositorySettings, "%s would obey %s, which the repository brings", a.spec.Name, name).
				With("adapter", a.spec.Name).With("path", name)
		}
	}
	return nil
}

func (a *Adapter) argv(own, values map[string]string, words []string) ([]string, error) {
	argv := []string{}
	for _, arg := range a.spec.Argv {
		if arg.texts[0] == command {
			argv = append(argv, words[min(1, len(words)):]...)
			continue
		}
		filled, missing := arg.fill(own, values)
		switch {
		case missing == "":
			argv = append(argv, filled...)
		case !arg.group:
			return nil, errs.New(errs.AdapterInvalid, "the adapter %s needs %s, which this spawn lacks", a.spec.Name, missing).
				With("adapter", a.spec.Name).With("problems", []string{"/argv needs " + missing})
		}
	}
	return argv, nil
}

// fill returns the arguments with their values. missing names a placeholder without a value.
// Outside of a group, only the values of the spawn are required, since a profile may set a
// placeholder to an empty text.
func (arg argument) fill(own, values map[string]string) (filled []string, missing string) {
	for _, text := range arg.texts {
		value, empty := fill(text, own)
		if _, of := values[empty]; empty != "" && (of || arg.group) {
			missing = cmp.Or(missing, empty)
		}
		filled = append(filled, value)
	}
	return filled, missing
}

// fill replaces placeholders, and returns the first one with an empty value.
func fill(template string, values map[string]string) (filled, empty string) {
	filled = placeholder().ReplaceAllStringFunc(template, func(at string) string {
		name := at[1 : len(at)-1]
		if values[name] == "" {
			empty = cmp.Or(empty, name)
		}
		return values[name]
	})
	return filled, empty
}

// fillJSON fills the texts and names of a JSON value, and encodes it.
func fillJSON(template any, values map[string]string) (string, error) {
	printed, err := json.Marshal(fillTree(template, values), json.Deterministic(true),
		jsontext.AllowInvalidUTF8(true), jsontext.WithIndent("  "))
	return string(printed) + "\n", err
}

// fillTree returns a filled copy. Elements and names that become empty are left out.
func fillTree(v any, values map[string]string) any {
	switch v := v.(type) {
	case string:
		filled, _ := fill(v, values)
		return filled
	case []any:
		filled := make([]any, 0, len(v))
		for _, element := range v {
			if element = fillTree(element, values); element != "" {
				filled = append(filled, element)
			}
		}
		return filled
	case map[string]any:
		filled := make(map[string]any, len(v))
		for name, value := range v {
			if name, _ := fill(name, values); name != "" {
				filled[name] = fillTree(value, values)
			}
		}
		return filled
	default:
		return v
	}
}
