// Package definition reads agent definitions: Markdown files with front matter, a project's
// own and the built-in ones (docs/agents.md).
//
// A definition grants nothing: the adapter decides what an agent may do. The listed tools
// are only used to refuse agents that edit files.
package definition

import (
	"strings"

	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/textutil"
)

// Definition is an agent as its file defines it.
type Definition struct {
	// Name is the file's name without its extension.
	Name string
	// Path is relative to the project's root, with slashes; "" for a built-in
	// definition.
	Path string
	// Description says what the agent is for.
	Description string
	// Tier is how capable a model it needs, in the project's own words.
	Tier string
	// Tools are the tools that it lists.
	Tools []string
	// Module says that the text is a part of another agent's prompt.
	Module bool
	// Body is the text below the front matter, trimmed and not empty, with LF line ends.
	Body string
	// Digest is that of the whole file, as "sha256:" and 64 hex digits.
	Digest string
}

// Spawnable returns nil if the agent may be spawned.
//
// # Errors
//
// agent-is-module for a module. agent-edits for an agent that edits the code under
// review, by its name or by a tool that it lists: its review would be worthless.
func (d Definition) Spawnable() error {
	if d.Module {
		return errs.New(errs.AgentIsModule, "%s is a module of another agent's prompt and no agent", d.Name).With("agent", d.Name)
	}
	if writesCode(d.Name) {
		return errs.New(errs.AgentEdits, "%s is the name of an agent that edits the working tree", d.Name).With("agent", d.Name)
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

// maxName bounds a name, in bytes.
const maxName = 128

// isName reports whether s can be an agent's name, which becomes part of file names and
// metric labels: ^[A-Za-z0-9_-]{1,128}$.
func isName(s string) bool {
	if s == "" || len(s) > maxName {
		return false
	}
	return !strings.ContainsFunc(s, func(c rune) bool {
		return c != '_' && c != '-' && (c < '0' || c > '9') && (c < 'A' || c > 'Z') && (c < 'a' || c > 'z')
	})
}

// maxShown bounds a foreign text in a message, in code points.
const maxShown = 64
