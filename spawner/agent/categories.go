package agent

import (
	"regexp"
	"strings"
)

// definesCategory is the start of a list item that defines a category.
var definesCategory = regexp.MustCompile("^- `([a-z0-9]+(?:-[a-z0-9]+)*)`:")

// Categories returns the categories of findings that the definition gives its agent
// to use, each once and in the order of the text. A category is defined by a list
// item that begins with its name, marked as code, and a colon:
//
//   - `todo-marker`: what it is raised for
//
// Names are in small letters. Items between code fences define nothing: they are
// examples.
func (d Definition) Categories() []string {
	found := []string{}
	seen := make(map[string]bool)
	fence := ""
	for line := range strings.Lines(d.Body) {
		line = strings.TrimSpace(line)
		switch mark := fenceOf(line); {
		case fence == "" && mark != "":
			fence = mark
		case fence != "" && strings.HasPrefix(mark, fence) && mark == line:
			fence = ""
		case fence == "":
			if item := definesCategory.FindStringSubmatch(line); item != nil && !seen[item[1]] {
				seen[item[1]] = true
				found = append(found, item[1])
			}
		}
	}
	return found
}

// fenceOf returns the marks that a line of Markdown opens or closes code with, ""
// where it does neither.
func fenceOf(line string) string {
	for _, mark := range []string{"`", "~"} {
		if n := len(line) - len(strings.TrimLeft(line, mark)); n >= 3 {
			return line[:n]
		}
	}
	return ""
}

// Raised returns the categories that a review by the project's critic can raise, and
// for each the names of the definitions that define it, in their order. These are
// ours, or what the project has in their place, and every other module of the
// project's. Agents that are no modules are left out, and so are broken definitions
// that are in nobody's place: a list in their text means what they like.
//
// # Errors
//
// The first that Find has for one of ours.
func (l Library) Raised() (map[string][]string, error) {
	ours := make(map[string]bool)
	for _, name := range Names() {
		ours[name] = true
	}
	raised := make(map[string][]string)
	for _, listed := range l.List() {
		switch {
		case ours[listed.Name] && listed.Err != nil:
			return nil, listed.Err
		case !ours[listed.Name] && !listed.Definition.Module:
			continue
		}
		for _, category := range listed.Definition.Categories() {
			raised[category] = append(raised[category], listed.Name)
		}
	}
	return raised, nil
}
