package adapter

import (
	"cmp"
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/switchyard-dev/switchyard/internal/errs"
)

// Values are what one spawn brings to an adapter's templates. Paths are absolute.
type Values struct {
	// Model is the model to ask for, "" for the CLI's own choice.
	Model string
	// WorkDir is the folder that the agent works in.
	WorkDir string
	// StateDir is a private folder for the CLI's configuration and state, and
	// TempDir one for its temporary files.
	StateDir, TempDir string
	// OutFile is where the CLI may write its final message.
	OutFile string
	// ReportPath is the file that the agent may write, PromptFile one that holds its
	// prompt.
	ReportPath, PromptFile string
	// MaxDollars is the most that the run may cost, as a decimal number of dollars,
	// "" for no limit. Not all CLIs know one.
	MaxDollars string
	// Write says that the agent may write its report (profile "report"); else it is
	// to read alone (profile "readonly").
	Write bool
	// Web says that the agent may search the web and read pages.
	Web bool
	// Command is the program and the arguments of an adapter that runs any command.
	Command []string
	// Environ is the environment that the run's is chosen from, as NAME=value. It is
	// only asked whether a credential is there.
	Environ []string
}

// Invocation is how to start a CLI. It is the caller's own.
type Invocation struct {
	// Argv are the arguments, without the program.
	Argv []string
	// Env are variables to set, as NAME=value, in byte order.
	Env []string
	// Pass are names of variables that the CLI needs as they are: its credential,
	// its endpoint.
	Pass []string
	// Files are to be created below Values.StateDir before the start: contents by
	// local names.
	Files map[string]string
	// Stdin says that the prompt goes to the standard input. Else the arguments name
	// Values.PromptFile.
	Stdin bool
}

// call is how a CLI is called.
type call struct {
	argv     []argument
	profiles map[bool]map[string]string // by Values.Write
	web      map[bool]map[string]string // by Values.Web
	refuse   map[string]*regexp.Regexp
	stdin    bool
	set      map[string]string
	pass     []string
	// state are the variables that move the CLI's state to Values.StateDir. Where
	// credentials are named, they are set only if one of those is: else the user has
	// logged in, and the login is in the CLI's own place.
	state       []string
	credentials []string
	files       map[string]any // JSON values
	// forbidden are paths below Values.WorkDir at which a CLI would find settings of
	// the repository's, such as hooks, that nothing switches off.
	forbidden []string
}

// argument is one argument, or several that are left out together where one of
// their placeholders is empty.
type argument struct {
	texts []string
	group bool
}

// placeholder is what stands in a template for a value.
var placeholder = pattern(`\{([a-z_]+)\}`)

// command is the placeholder that stands for all arguments of Values.Command. It is
// an argument of its own.
const command = "{command}"

// The placeholders of Values.
const (
	atPromptFile = "prompt_file"
	atOutFile    = "out_file"
)

func (v Values) named() map[string]string {
	dir, rel := "", ""
	if v.ReportPath != "" {
		dir = filepath.Dir(v.ReportPath)
		// Without a common root, as on Windows, there is no way from one to the other.
		rel, _ = filepath.Rel(v.WorkDir, v.ReportPath)
	}
	return map[string]string{
		"model": v.Model, "workdir": v.WorkDir, "state_dir": v.StateDir, "temp_dir": v.TempDir,
		"report_path": v.ReportPath, "report_dir": dir, "report_rel": rel, "max_dollars": v.MaxDollars,
		atOutFile: v.OutFile, atPromptFile: v.PromptFile,
	}
}

// Invocation says how to start the CLI for one spawn.
//
// # Errors
//
// adapter-invalid where an argument that cannot be left out lacks its value, or where
// this CLI cannot be given a value as it is. adapter-repository-settings where the repository
// brings what the CLI would obey.
func (a *Adapter) Invocation(v Values) (Invocation, error) {
	values := v.named()
	for _, name := range slices.Sorted(maps.Keys(values)) {
		if err := a.accepts(name, values[name]); err != nil {
			return Invocation{}, err
		}
	}
	if err := a.undisturbed(v.WorkDir); err != nil {
		return Invocation{}, err
	}
	own := maps.Clone(values)
	for _, choice := range []map[string]string{a.call.profiles[v.Write], a.call.web[v.Web]} {
		for name, template := range choice {
			own[name], _ = fill(template, values)
		}
	}
	inv := Invocation{Pass: slices.Clone(a.call.pass), Stdin: a.call.stdin, Files: make(map[string]string, len(a.call.files))}
	var err error
	if inv.Argv, err = a.argv(own, values, v.Command); err != nil {
		return Invocation{}, err
	}
	set := make(map[string]string)
	maps.Copy(set, a.call.set)
	if a.call.private(v.Environ) {
		for _, name := range a.call.state {
			set[name] = "{state_dir}"
		}
	}
	for _, name := range slices.Sorted(maps.Keys(set)) {
		value, missing := fill(set[name], own)
		if missing == "" {
			inv.Env = append(inv.Env, name+"="+value)
		}
	}
	for name, content := range a.call.files {
		if inv.Files[name], err = fillJSON(content, own); err != nil {
			return Invocation{}, err
		}
	}
	return inv, nil
}

// accepts refuses a value that this CLI would take for something else.
func (a *Adapter) accepts(name, value string) error {
	refuse := a.call.refuse[name]
	switch {
	case strings.ContainsRune(value, 0):
	case strings.HasPrefix(value, "-"): // a flag
	case refuse != nil && refuse.MatchString(value):
	default:
		return nil
	}
	return errs.New(errs.AdapterInvalid, "the adapter %s cannot take %q as %s", a.name, value, name).
		With("adapter", a.name).With("problems", []Problem{{Path: "/refuse/" + name, Text: "refuses this value"}})
}

// undisturbed looks for what a repository must not bring. Only what is certainly
// not there is not.
func (a *Adapter) undisturbed(dir string) error {
	for _, name := range a.call.forbidden {
		if _, err := os.Lstat(filepath.Join(dir, name)); !errors.Is(err, fs.ErrNotExist) {
			return errs.New(errs.AdapterRepositorySettings, "%s would obey %s, which the repository brings", a.name, name).
				With("adapter", a.name).With("path", name)
		}
	}
	return nil
}

func (a *Adapter) argv(own, values map[string]string, words []string) ([]string, error) {
	argv := []string{}
	for _, arg := range a.call.argv {
		if arg.texts[0] == command {
			argv = append(argv, words[min(1, len(words)):]...)
			continue
		}
		filled, missing := arg.fill(own, values)
		switch {
		case missing == "":
			argv = append(argv, filled...)
		case !arg.group:
			return nil, errs.New(errs.AdapterInvalid, "the adapter %s needs %s, which this spawn lacks", a.name, missing).
				With("adapter", a.name).With("problems", []Problem{{Path: "/argv", Text: "needs " + missing}})
		}
	}
	return argv, nil
}

// fill returns the arguments with their values. missing names a placeholder that is
// empty. Outside of a group only those of the spawn have to be there: an empty one
// of a profile is what the adapter says.
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

// fill puts values into a template, and names the first placeholder whose value is
// empty.
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

// fillJSON puts values into the texts and the names of a JSON value, and prints it.
func fillJSON(template any, values map[string]string) (string, error) {
	printed, err := json.Marshal(fillTree(template, values), json.Deterministic(true),
		jsontext.AllowInvalidUTF8(true), jsontext.WithIndent("  "))
	return string(printed) + "\n", err
}

// fillTree returns a copy: a template is for all spawns. Elements and names that
// are nothing but placeholders without a value are left out.
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

// private reports whether the CLI gets a state of its own.
func (c call) private(environ []string) bool {
	return len(c.credentials) == 0 ||
		slices.ContainsFunc(c.credentials, func(name string) bool { return lookup(environ, name) != "" })
}
