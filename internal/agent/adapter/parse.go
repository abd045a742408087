package adapter

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"

	"github.com/go-json-experiment/json"

	"github.com/switchyard-dev/switchyard/internal/errs"
)

// maxFile bounds an adapter's file, in bytes.
const maxFile = 1 << 20

// The forms of words in an adapter.
var (
	// The forms of words in an adapter.
	nameForm     = pattern(`^[a-z][a-z0-9-]{0,31}$`)
	variableForm = pattern(`^[A-Za-z_][A-Za-z0-9_]{0,127}$`)
	ownForm      = pattern(`^[a-z_]{1,32}$`)
	flagForm     = pattern(`^-{1,2}[A-Za-z0-9][A-Za-z0-9-]*$`)
)

const (
	describedName     = "1 to 32 lower-case letters, digits and dashes"
	describedVariable = "the name of a variable"
	describedFlag     = "a flag, such as --model"
)

// Parse parses an adapter's file (docs/adapters.md).
//
// # Errors
//
// adapter-invalid, with all problems.
func Parse(data []byte) (*Adapter, error) {
	if len(data) > maxFile {
		return nil, errs.New(errs.AdapterInvalid, "the adapter is invalid: it has more than %d bytes", maxFile).With("limit", maxFile)
	}
	var tree any
	if err := json.Unmarshal(data, &tree); err != nil {
		return nil, errs.New(errs.AdapterInvalid, "the adapter is invalid: %w", err).With("problems", []Problem{{Text: err.Error()}})
	}
	sum := sha256.Sum256(data)
	p := parser{adapter: &Adapter{digest: "sha256:" + hex.EncodeToString(sum[:])}}
	p.call = &p.adapter.call
	p.rules = &p.adapter.rules
	p.file(value{of: tree})
	if err := p.err(); err != nil {
		return nil, err
	}
	return p.adapter, nil
}

// parser parses one file into an adapter.
type parser struct {
	schema

	adapter *Adapter
	call    *call
	rules   *rules
	// named are the placeholders that templates may use: those of Values, and the file's
	// own.
	named map[string]bool
}

func (p *parser) file(v value) {
	a := p.adapter
	p.named = map[string]bool{}
	for name := range (Values{}).named() {
		p.named[name] = true
	}
	var templates []func()
	later := func(read func(value)) func(value) {
		return func(v value) { templates = append(templates, func() { read(v) }) }
	}
	p.object(v, fields{
		"name":          func(v value) { a.name = p.word(v, nameForm(), describedName) },
		"bin":           func(v value) { a.bin = p.program(v) },
		"tested":        func(v value) { a.tested = p.texts(v) },
		"version":       func(v value) { a.needs.Version = p.texts(v) },
		"help":          func(v value) { p.each(v, func(v value) { a.needs.Help = append(a.needs.Help, p.texts(v)) }) },
		"flags":         func(v value) { a.needs.Flags = p.words(v, flagForm(), describedFlag) },
		"argv":          later(p.arguments),
		"profiles":      func(v value) { p.call.profiles = p.choice(v, "readonly", "report") },
		"web":           func(v value) { p.call.web = p.choice(v, "off", "on") },
		"refuse":        p.refused,
		"prompt":        func(v value) { p.call.stdin = p.oneOf(v, "stdin", "file") == "stdin" },
		"env_set":       later(p.variables),
		"env_pass":      func(v value) { p.call.pass = p.words(v, variableForm(), describedVariable) },
		"state_dir_env": func(v value) { p.call.state = p.words(v, variableForm(), describedVariable) },
		"credentials":   func(v value) { p.call.credentials = p.words(v, variableForm(), describedVariable) },
		"files":         later(p.files),
		"forbidden":     p.forbidden,
		"output":        func(v value) { a.form = form(p.oneOf(v, string(formJSON), string(formText))) },
		"search_tools":  func(v value) { a.search = p.texts(v) },
		"done":          func(v value) { p.each(v, func(v value) { p.rules.done = append(p.rules.done, p.where(v)) }) },
		"result":        p.textRules(&p.rules.result),
		"model":         p.textRules(&p.rules.model),
		"session":       p.textRules(&p.rules.session),
		"tools":         p.listRules(&p.rules.tools),
		"denials":       p.listRules(&p.rules.denials),
		"notes":         p.listRules(&p.rules.notes),
		"usage":         p.usage,
		"cost":          p.numberRules(&p.rules.cost),
		"progress":      p.numberRules(&p.rules.progress),
		"error":         later(func(v value) { p.each(v, p.errorRule) }),
		"classes":       func(v value) { p.rules.classes = p.classRules(v) },
		"silent":        func(v value) { p.rules.silent = p.classRules(v) },
		"exits":         p.exits,
		"stderr_status": func(v value) { p.rules.errorStatus = p.regexp(v, 1) },
	}, "name", "argv", "prompt", "output")
	for _, read := range templates {
		read()
	}
	p.whole(v)
}

// whole checks what depends on several fields.
func (p *parser) whole(v value) {
	runsCommand := slices.ContainsFunc(p.call.argv, func(a argument) bool { return a.texts[0] == command })
	switch a := p.adapter; {
	case runsCommand && a.bin != "":
		p.note(v.at("bin", nil), "must not be there: argv has %s, whose first word is the program", command)
	case !runsCommand && a.bin == "":
		p.note(v.at("bin", nil), "is missing: argv has no %s", command)
	}
	if !p.call.stdin && !p.names(atPromptFile) {
		p.note(v.at("argv", nil), "must have {%s}, for the prompt is no standard input", atPromptFile)
	}
	p.rules.file = p.names(atOutFile)
	if p.adapter.form == formJSON {
		if len(p.rules.result) == 0 && !p.rules.file {
			p.note(v.at("result", nil), "is missing, and argv has no {%s}", atOutFile)
		}
		return
	}
	if members, ok := v.of.(map[string]any); ok {
		for _, name := range []string{
			"done", "result", "model", "session", "tools", "denials", "notes", "usage", "cost", "progress",
		} {
			if of, ok := members[name]; ok {
				p.note(v.at(name, of), "must not be there: the output is a text")
			}
		}
	}
}

// names reports whether an argument has a placeholder.
func (p *parser) names(name string) bool {
	return slices.ContainsFunc(p.call.argv, func(a argument) bool {
		return slices.ContainsFunc(a.texts, func(text string) bool {
			return slices.ContainsFunc(placeholder().FindAllString(text, -1), func(at string) bool { return at == "{"+name+"}" })
		})
	})
}

// program parses the name of a program, which is searched in PATH.
func (p *parser) program(v value) string {
	name := p.text(v)
	if name == "" || filepath.Base(name) != name || name == "." || name == ".." {
		p.note(v, "must be the name of a program, and no path")
	}
	return name
}

// template parses a text with placeholders.
func (p *parser) template(v value, known map[string]bool) string {
	text := p.text(v)
	for _, m := range placeholder().FindAllStringSubmatch(text, -1) {
		if !known[m[1]] {
			p.note(v, "has the unknown placeholder %s", m[0])
		}
	}
	return text
}

func (p *parser) arguments(v value) {
	p.each(v, func(v value) {
		if v.of == command {
			p.call.argv = append(p.call.argv, argument{texts: []string{command}})
			return
		}
		if _, ok := v.of.([]any); !ok {
			p.call.argv = append(p.call.argv, argument{texts: []string{p.template(v, p.named)}})
			return
		}
		arg := argument{group: true}
		p.each(v, func(v value) { arg.texts = append(arg.texts, p.template(v, p.named)) })
		if len(arg.texts) == 0 {
			p.note(v, "must not be empty")
			return
		}
		p.call.argv = append(p.call.argv, arg)
	})
}

// choice parses templates for two cases. Both cases have to define the same names.
func (p *parser) choice(v value, no, yes string) map[bool]map[string]string {
	spawn := map[string]bool{}
	for name := range (Values{}).named() {
		spawn[name] = true
	}
	cases := map[bool]map[string]string{false: {}, true: {}}
	read := func(which bool) func(value) {
		return func(v value) {
			p.members(v, func(name string, v value) {
				switch {
				case !ownForm().MatchString(name):
					p.note(v, "must have a name of 1 to 32 lower-case letters and _")
				case spawn[name]:
					p.note(v, "has a name that is taken by what each spawn brings")
				}
				cases[which][name] = p.template(v, spawn)
				p.named[name] = true
			})
		}
	}
	p.object(v, fields{no: read(false), yes: read(true)}, no, yes)
	for _, which := range []bool{false, true} {
		for name := range cases[!which] {
			if _, ok := cases[which][name]; !ok {
				missing := map[bool]string{false: no, true: yes}[which]
				p.note(v.at(missing, nil).at(name, nil), "is missing, for the other case has it")
			}
		}
	}
	return cases
}

func (p *parser) refused(v value) {
	p.call.refuse = map[string]*regexp.Regexp{}
	p.members(v, func(name string, v value) {
		if _, ok := (Values{}).named()[name]; !ok {
			p.note(v, "is nothing that a spawn brings")
		}
		p.call.refuse[name] = p.regexp(v, 0)
	})
}

func (p *parser) variables(v value) {
	p.call.set = map[string]string{}
	p.members(v, func(name string, v value) {
		if !variableForm().MatchString(name) {
			p.note(v, "must be named by %s", describedVariable)
		}
		p.call.set[name] = p.template(v, p.named)
	})
}

// files parses the files of the state: JSON values by relative path.
func (p *parser) files(v value) {
	p.call.files = map[string]any{}
	p.members(v, func(name string, v value) {
		if !filepath.IsLocal(name) || name == "." {
			p.note(v, "must have a path inside the folder of the state as its name")
		}
		p.walk(v)
		p.call.files[name] = v.of
	})
}

func (p *parser) forbidden(v value) {
	p.each(v, func(v value) {
		name := p.text(v)
		if !filepath.IsLocal(name) || name == "." {
			p.note(v, "must be a path inside the repository")
		}
		p.call.forbidden = append(p.call.forbidden, name)
	})
}

// walk checks all templates in a JSON value.
func (p *parser) walk(v value) {
	switch v.of.(type) {
	case string:
		p.template(v, p.named)
	case []any:
		p.each(v, p.walk)
	case map[string]any:
		p.members(v, func(name string, member value) {
			p.template(value{member.path, name}, p.named)
			p.walk(member)
		})
	}
}

// exits parses the meaning of exit codes: a class or an HTTP status.
func (p *parser) exits(v value) {
	p.rules.exits = map[int]exit{}
	p.members(v, func(name string, v value) {
		code, err := strconv.Atoi(name)
		if err != nil || code < 1 || code > 255 || strconv.Itoa(code) != name {
			p.note(v, "must be an exit code from 1 to 255")
		}
		if n, ok := v.of.(float64); ok {
			e := exit{status: status(fmt.Sprint(n))}
			if e.status == 0 {
				p.note(v, "must be an HTTP status from 400 to 599, or a class")
			}
			p.rules.exits[code] = e
			return
		}
		p.rules.exits[code] = exit{class: p.class(v)}
	})
}
