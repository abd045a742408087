package adapter

import (
	"fmt"
	"maps"
	"reflect"
	"slices"

	"github.com/go-json-experiment/json"

	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/textutil"
)

// maxFile bounds an adapter's file, in bytes.
const maxFile = 1 << 20

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
		err = textutil.JSONReason(err)
		return nil, errs.New(errs.AdapterInvalid, "the adapter is invalid: %w", err).With("problems", []string{err.Error()})
	}
	a := &Adapter{}
	var s schema
	s.decode("", tree, reflect.ValueOf(&a.spec).Elem(), "")
	if members, ok := tree.(map[string]any); ok {
		s.placeholders(a, members)
		s.check(a, members)
	}
	if err := s.err(); err != nil {
		return nil, err
	}
	return a, nil
}

// placeholders checks that each placeholder has a value in every case.
func (s *schema) placeholders(a *Adapter, members map[string]any) {
	spawn := (Values{}).named()
	named := maps.Clone(spawn)
	profiles := map[string]map[string]string{"readonly": a.spec.Profiles.ReadOnly, "report": a.spec.Profiles.Report}
	if a.spec.Profiles.Edit != nil {
		profiles["edit"] = a.spec.Profiles.Edit
	}
	for field, cases := range map[string]map[string]map[string]string{
		"profiles": profiles, "web": {"off": a.spec.Web.Off, "on": a.spec.Web.On},
	} {
		s.templates("/"+field, members[field], spawn)
		all := map[string]string{}
		for _, values := range cases {
			maps.Copy(all, values)
		}
		for name, values := range cases {
			for key := range all {
				if _, ok := values[key]; !ok {
					s.note(under("/"+field+"/"+name, key), "is missing: another case has it")
				}
			}
		}
		maps.Copy(named, all)
	}
	argv, _ := members["argv"].([]any)
	for i, arg := range argv {
		if arg != command {
			s.templates(fmt.Sprintf("/argv/%d", i), arg, named)
		}
	}
	s.templates("/env_set", members["env_set"], named)
	for name, content := range a.spec.Files {
		s.templates(under("/files", name), content, named)
	}
}

// check checks the rules that concern several fields.
func (s *schema) check(a *Adapter, members map[string]any) {
	argv, _ := members["argv"].([]any)
	switch runsCommand := slices.Contains(argv, any(command)); {
	case runsCommand && a.spec.Bin != "":
		s.note("/bin", "must not be there: argv has %s, whose first word is the program", command)
	case !runsCommand && a.spec.Bin == "":
		s.note("/bin", "is missing: argv has no %s", command)
	}
	if a.spec.Prompt != "stdin" && !a.spec.uses(atPromptFile) {
		s.note("/argv", "must have {%s}: the prompt is not passed on standard input", atPromptFile)
	}
	for i, rule := range a.spec.Error {
		if a.spec.Output == formText && rule.Stream != "stderr" {
			s.note(fmt.Sprintf("/error/%d", i), "must be about stderr: the output is a text")
		}
	}
	for field, rules := range map[string][]classRule{"/classes": a.spec.Classes, "/silent": a.spec.Silent} {
		for i, rule := range rules {
			if (rule.Kind.Regexp == nil) == (rule.Match.Regexp == nil) {
				s.note(fmt.Sprintf("%s/%d", field, i), "must have kind or match, and not both")
			}
		}
	}
	for i, rule := range a.spec.Resets {
		if (rule.Path == nil) == (rule.Match.Regexp == nil) {
			s.note(fmt.Sprintf("/resets/%d", i), "must have path or match, and not both")
		}
	}
	if a.spec.Output == formJSON {
		if len(a.spec.Result) == 0 && !a.spec.uses(atOutFile) {
			s.note("/result", "is missing, and argv has no {%s}", atOutFile)
		}
		return
	}
	for _, name := range []string{"done", "result", "model", "session", "tools", "denials", "notes", "usage", "cost", "progress", "transcript"} {
		if _, ok := members[name]; ok {
			s.note("/"+name, "must not be there: the output is a text")
		}
	}
}

// templates checks the placeholders in the texts and names of a JSON value.
func (s *schema) templates(at string, v any, known map[string]string) {
	switch v := v.(type) {
	case string:
		for _, m := range placeholder().FindAllStringSubmatch(v, -1) {
			if _, ok := known[m[1]]; !ok {
				s.note(at, "has the unknown placeholder %s", m[0])
			}
		}
	case []any:
		for i, element := range v {
			s.templates(fmt.Sprintf("%s/%d", at, i), element, known)
		}
	case map[string]any:
		for name, member := range v {
			s.templates(under(at, name), name, known)
			s.templates(under(at, name), member, known)
		}
	}
}

// uses reports whether an argument has a placeholder.
func (a *spec) uses(name string) bool {
	return slices.ContainsFunc(a.Argv, func(arg argument) bool {
		return slices.ContainsFunc(arg.texts, func(text string) bool {
			return slices.Contains(placeholder().FindAllString(text, -1), "{"+name+"}")
		})
	})
}
