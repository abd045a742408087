// Package definition reads the agent definitions of a project and the built-in ones
// (docs/agents.md). They are Markdown files with front matter.
//
// A definition does not grant rights: the adapter decides on them. The listed tools are only
// used to refuse agents that edit files.
package definition

import (
	"slices"
	"strings"

	"github.com/switchyard-dev/switchyard/internal/agent/profile"
	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/lazy"
	"github.com/switchyard-dev/switchyard/internal/textutil"
)

// Definition is an agent as its file defines it.
type Definition struct {
	// Name is the file's name without its extension.
	Name string
	// Path is relative to the project's root, with slashes; "" for a built-in
	// definition.
	Path string
	// Description is the agent's purpose.
	Description string
	// Tools are the listed tools.
	Tools []string
	// Profile is its write access. If the file does not set it, Parse sets the default for the
	// name.
	Profile profile.Profile
	// Module is set if the text is a part of another agent's prompt.
	Module bool
	// Body is the text below the front matter, trimmed and not empty, with LF line ends.
	Body string
	// Digest is the digest of the whole file, as "sha256:" and 64 hex digits.
	Digest string
}

// Spawnable returns nil if the agent may be spawned with a profile.
//
// # Errors
//
// agent-is-module for a module. agent-may-not-edit for profile.Edit if the definition has
// another profile. agent-edits for another profile if the agent's name, profile or a listed
// tool says that it edits: the review of an agent that edits the code under review would be
// worthless.
func (d Definition) Spawnable(p profile.Profile) error {
	switch {
	case d.Module:
		return errs.New(errs.AgentIsModule, "%s is a module of another agent's prompt, not an agent", d.Name).With("agent", d.Name)
	case p == profile.Edit && d.Profile != profile.Edit:
		return errs.New(errs.AgentMayNotEdit, "the profile of %s is not edit, so it may not edit the working tree", d.Name).With("agent", d.Name)
	case p == profile.Edit:
		return nil
	case defaultProfile(d.Name) == profile.Edit:
		return errs.New(errs.AgentEdits, "%s is the name of an agent that edits the working tree", d.Name).With("agent", d.Name)
	case d.Profile == profile.Edit:
		return errs.New(errs.AgentEdits, "the profile of %s is edit, so it edits the working tree", d.Name).With("agent", d.Name)
	}
	for _, tool := range d.Tools {
		if edits(tool) {
			return errs.New(errs.AgentEdits, "%s lists %s, a tool that edits files", d.Name, textutil.Clip(tool, maxShown)).With("agent", d.Name).With("tool", textutil.Clip(tool, maxShown))
		}
	}
	return nil
}

// divider separates the agent's instructions from its prompt.
const divider = "---"

// Compose puts the agent's instructions before a prompt.
func Compose(d Definition, prompt string) string {
	return d.Body + "\n\n" + divider + "\n\n" + strings.TrimSpace(prompt) + "\n"
}

// maxName bounds a name, in bytes. It becomes part of file names and metric labels.
const maxName = 128

var nameForm = lazy.Regexp(`^[A-Za-z0-9_-]{1,128}$`)

// maxShown bounds a foreign text in a message, in code points.
const maxShown = 64

// prefix begins the names of nubos-pilot's agents.
const prefix = "np-"

// defaultProfile returns the profile of an agent if its definition does not have one.
func defaultProfile(name string) profile.Profile {
	switch strings.TrimPrefix(strings.ToLower(name), prefix) {
	case "executor", "build-fixer":
		return profile.Edit
	case "critic":
		return profile.Report
	}
	return profile.Readonly
}

// editors are the tools that edit files in the known CLIs, in lower case without separators. A
// tool that writes whole files is not among them: a critic needs it for its report, and the
// adapter confines it to that path.
var editors = []string{
	"edit", "multiedit", "notebookedit", "editfile", "editfiles", "editnotebook",
	"applypatch", "applydiff", "patch", "replace", "searchreplace", "replaceinfile", "inserteditintofile",
}

// edits reports whether a tool edits files. It may have arguments, Edit(src/*), and a
// server's name, mcp__files__edit_file.
func edits(tool string) bool {
	name, _, _ := strings.Cut(tool, "(")
	name = strings.ToLower(strings.TrimSpace(name))
	if name == "*" || name == "all" {
		return true
	}
	for _, separator := range []string{"__", "/", ":", "."} {
		if at := strings.LastIndex(name, separator); at >= 0 {
			name = name[at+len(separator):]
		}
	}
	if name == "*" { // all tools of a server
		return true
	}
	name = strings.NewReplacer("_", "", "-", "").Replace(name)
	return slices.Contains(editors, name) || strings.HasPrefix(name, "strreplace")
}
