// Package definition knows who can be spawned: agent definitions, which are Markdown
// files with a front matter, the project's own and those that are built in
// (docs/agents.md).
//
// A definition is what somebody tells a model to be. It grants nothing: what an
// agent may do is up to the adapter that starts it. What a definition lists as its
// tools is read only to refuse an agent that is meant to edit.
//
// All functions are safe for concurrent use.
package definition

import (
	"strings"

	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/textutil"
)

// Definition is an agent as a file defines it. It is a copy and belongs to the
// caller.
type Definition struct {
	// Name is that of the file, without its ending.
	Name string
	// Path is the file's, relative to the project's root and with slashes; "" where
	// the definition is built in.
	Path string
	// Description says what the agent is for, to people.
	Description string
	// Tier is how capable a model it needs, in the project's own words.
	Tier string
	// Tools are the tools that it names. None are named where the list is missing.
	Tools []string
	// Module says that the text is a part of another agent's prompt.
	Module bool
	// Body is the text below the front matter, without white space around it. It is
	// never empty, and its lines end in a line feed alone.
	Body string
	// Digest is that of the whole file, as "sha256:" and 64 hex digits.
	Digest string
}

// Spawnable returns nil where the agent may be spawned.
//
// # Errors
//
// agent-is-module for a module. agent-edits for an agent that is known to write the code
// under review, by its name, or that lists a tool that edits files: a review whose
// reviewer changes the draft is none.
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

// divider parts the instructions of an agent from what it is to do.
const divider = "---"

// Compose puts the instructions of an agent before a prompt, with a line between
// them.
func Compose(d Definition, prompt string) string {
	return d.Body + "\n\n" + divider + "\n\n" + strings.TrimSpace(prompt) + "\n"
}

// maxName is the longest name, in bytes.
const maxName = 128

// isName says that s is fit to be an agent's name. It becomes a part of file names
// and a metric's label. As a pattern:
//
//	^[A-Za-z0-9_-]{1,128}$
func isName(s string) bool {
	if s == "" || len(s) > maxName {
		return false
	}
	return !strings.ContainsFunc(s, func(c rune) bool {
		return c != '_' && c != '-' && (c < '0' || c > '9') && (c < 'A' || c > 'Z') && (c < 'a' || c > 'z')
	})
}

// maxShown is how much of a text from outside a message shows, in code points.
const maxShown = 64
