package definition

import (
	"slices"
	"strings"
)

// prefix stands before the names of the agents that scripts written for the
// reference use.
const prefix = "np-"

// writesCode says that an agent of this name writes the code under review, whatever
// its definition claims.
func writesCode(name string) bool {
	role := strings.TrimPrefix(strings.ToLower(name), prefix)
	return role == "executor" || role == "build-fixer"
}

// editors are the tools that edit files, as the agent CLIs call them, in lower case
// and without separators. One that writes whole files is not among them: a critic
// writes its report with it, and the adapter confines it to that path.
var editors = []string{
	"edit", "multiedit", "notebookedit", "editfile", "editfiles", "editnotebook",
	"applypatch", "applydiff", "patch", "replace", "searchreplace", "replaceinfile", "inserteditintofile",
}

// edits says that a tool edits files. The tool may have arguments, Edit(src/*), and
// the name of a server that it comes from, mcp__files__edit_file.
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
	if name == "*" { // all that a server has
		return true
	}
	name = strings.NewReplacer("_", "", "-", "").Replace(name)
	return slices.Contains(editors, name) || strings.HasPrefix(name, "strreplace")
}

// split takes a list of tools that is written as text apart. A comma between
// brackets belongs to a tool's arguments.
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
