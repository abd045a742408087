package definition

import (
	"regexp"
	"slices"
	"strings"
)

// definesCategory matches the start of a list item that defines a category.
const definesCategory = "^- `([a-z0-9]+(?:-[a-z0-9]+)*)`:"

// Categories returns the categories of findings that the definition defines, each once
// and in the order of the text. A list item defines a category if it begins with the name
// as code and a colon:
//
// - `todo-marker`: when it is raised
//
// Names are in lower case. Items in code fences are examples and define nothing.
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

// fenceOf returns the characters with which a line of Markdown opens or closes a code
// fence, "" for other lines.
func fenceOf(line string) string {
	for _, mark := range []string{"`", "~"} {
		if n := len(line) - len(strings.TrimLeft(line, mark)); n >= 3 {
			return line[:n]
		}
	}
	return ""
}

// Raised returns the categories that the project's critic can raise, each with the sorted
// names of the definitions that define it. These are the built-in definitions, or their
// replacements in the project, and the modules that the project adds.
//
// # Errors
//
// The first error from Find.
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

// Added returns the modules that the project adds to the built-in ones, sorted by name:
// definitions named critic-NAME with module: true.
//
// # Errors
//
// The first error from Find, since a broken definition may be meant as a module.
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
