package definition

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"

	"github.com/switchyard-dev/switchyard/internal/agent/profile"
	"github.com/switchyard-dev/switchyard/internal/digest"
	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/textutil"
)

// header is the front matter. Other keys, such as tier and model, are for people or other
// programs.
type header struct {
	Name        string          `yaml:"name"`
	Description string          `yaml:"description"`
	Tools       tools           `yaml:"tools"`
	Profile     profile.Profile `yaml:"profile"`
	Module      bool            `yaml:"module"`
}

// tools is a list of tools, or a text separated by commas.
type tools []string

// UnmarshalYAML implements yaml.Unmarshaler.
func (t *tools) UnmarshalYAML(node *yaml.Node) error {
	var list []string
	if err := node.Decode(&list); err != nil || node.Kind == yaml.ScalarNode {
		var text string
		if node.Decode(&text) != nil {
			return errors.New("tools must be a list of names, or names with commas between them")
		}
		list = split(text)
	}
	for _, tool := range list {
		if tool = strings.TrimSpace(tool); tool != "" {
			*t = append(*t, tool)
		}
	}
	return nil
}

// Parse parses the definition of an agent. Without front matter, all of data is the body.
//
// # Errors
//
// agent-invalid-definition if data is not UTF-8, or the front matter does not end, is
// invalid, has another name or an unknown profile; agent-empty if there is no body.
func Parse(name string, data []byte) (Definition, error) {
	if !utf8.Valid(data) {
		return Definition{}, invalid(name, "the file is not UTF-8")
	}
	front, body, err := cut(data)
	if err != nil {
		return Definition{}, invalid(name, "%w", err)
	}
	h, err := readHeader(front)
	if err != nil {
		return Definition{}, invalid(name, "%s", plainly(err))
	}
	if h.Name != "" && h.Name != name {
		return Definition{}, invalid(name, "the front matter names it %q, and its file %s.md", textutil.Clip(h.Name, maxShown), name)
	}
	switch h.Profile {
	case profile.Readonly, profile.Report, profile.Edit:
	case "":
		h.Profile = defaultProfile(name)
	default:
		return Definition{}, invalid(name, "the profile %q is not readonly, report or edit", textutil.Clip(string(h.Profile), maxShown))
	}
	if body == "" {
		return Definition{}, errs.New(errs.AgentEmpty, "the definition of %s has no text below its front matter", name).With("agent", name)
	}
	return Definition{
		Name: name, Description: h.Description, Tools: h.Tools, Profile: h.Profile, Module: h.Module,
		Body: body, Digest: digest.Of(data),
	}, nil
}

// fence is the line before and after a front matter.
const fence = "---"

// cut separates the front matter and the body. The front matter keeps its first line, so that
// errors have the line numbers of the file.
func cut(data []byte) (front []byte, body string, err error) {
	text := strings.TrimPrefix(string(data), "\uFEFF")
	text = strings.ReplaceAll(text, "\r\n", "\n")
	if first, _, _ := strings.Cut(text, "\n"); strings.TrimRight(first, " \t") != fence {
		return nil, strings.TrimSpace(text), nil
	}
	at := 0
	for line := range strings.Lines(text) {
		if at > 0 && strings.TrimRight(line, " \t\n") == fence {
			return []byte(text[:at]), strings.TrimSpace(text[at+len(line):]), nil
		}
		at += len(line)
	}
	return nil, "", errors.New("the front matter has no end: no second line of " + fence)
}

func readHeader(front []byte) (header, error) {
	var h header
	d := yaml.NewDecoder(bytes.NewReader(front))
	if err := d.Decode(&h); errors.Is(err, io.EOF) {
		return h, nil
	} else if err != nil {
		if line, problem := textutil.YAMLSyntax(front); problem != "" {
			err = fmt.Errorf("line %d: %s", line, problem)
		}
		return h, err
	}
	if err := d.Decode(new(yaml.Node)); !errors.Is(err, io.EOF) {
		return h, errors.New("the front matter holds more than one document")
	}
	return h, nil
}

// plainly describes a parser's error in one line, without names of Go types.
func plainly(err error) string {
	text := err.Error()
	if e, ok := errors.AsType[*yaml.TypeError](err); ok {
		text = strings.Join(e.Errors, "; ")
	}
	return strings.NewReplacer(
		"yaml: ", "", " into definition.header", "; it must be a mapping of keys", " into bool", "; it must be true or false",
		" into string", "; it must be text", " into profile.Profile", "; it must be text", "!!", "", "\n", " ",
	).Replace(text)
}

func invalid(name, format string, args ...any) *errs.Error {
	return errs.New(errs.AgentInvalidDefinition, "the definition of %s: "+format, append([]any{name}, args...)...).With("agent", name)
}

// split splits a list of tools. A comma in brackets is part of a tool's arguments.
func split(text string) []string {
	var tools []string
	depth, from := 0, 0
	for i := range len(text) {
		switch text[i] {
		case '(':
			depth++
		case ')':
			depth = max(depth-1, 0)
		case ',':
			if depth == 0 {
				tools, from = append(tools, text[from:i]), i+1
			}
		}
	}
	return append(tools, text[from:])
}
