package definition

import (
	"regexp"
	"slices"
	"strings"
)

// definesCategory is the start of a list item that defines a category, as a regular
// expression.
const definesCategory = "^- `([a-z0-9]+(?:-[a-z0-9]+)*)`:"

// Categories returns the categories of findings that the definition gives its agent
// to use, each once and in the order of the text. A category is defined by a list
// item that begins with its name, marked as code, and a colon:
//
//   - `todo-marker`: what it is raised for
//
// Names are in small letters. Items between code fences define nothing: they are
// examples.
func (d Definition) Categories() []string {
	item := regexp.MustCompile(definesCategory)
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
			if match := item.FindStringSubmatch(line); match != nil && !seen[match[1]] {
				seen[match[1]] = true
				found = append(found, match[1])
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
// ours, or what the project has in their place, and the modules that it adds.
//
// # Errors
//
// The first that Find has for one of them.
func (l Library) Raised() (map[string][]string, error) {
	names := Names()
	added, err := l.Added()
	if err != nil {
		return nil, err
	}
	for _, d := range added {
		names = append(names, d.Name)
	}
	slices.Sort(names)
	raised := make(map[string][]string)
	for _, name := range names {
		d, err := l.Find(name)
		if err != nil {
			return nil, err
		}
		for _, category := range d.Categories() {
			raised[category] = append(raised[category], name)
		}
	}
	return raised, nil
}

// addedPrefix begins the names of the modules that a project adds to its critic.
const addedPrefix = "critic-"

// Added returns the modules that the project adds to those of our critic, in the
// order of their names: definitions named critic-SOMETHING that say module: true.
//
// # Errors
//
// The first that Find has for such a name: a broken one may have been meant as a
// module, and a critic that goes without it would find too little.
func (l Library) Added() ([]Definition, error) {
	ours := Names()
	var added []Definition
	for _, listed := range l.List() {
		switch {
		case !strings.HasPrefix(listed.Name, addedPrefix), slices.Contains(ours, listed.Name):
		case listed.Err != nil:
			return nil, listed.Err
		case listed.Definition.Module:
			added = append(added, listed.Definition)
		}
	}
	return added, nil
}
