package definition

import (
	"slices"
	"strings"
)

// prefix begins the names of nubos-pilot's agents.
const prefix = "np-"

// writesCode reports whether an agent of this name edits the code under review, whatever
// its definition says.
func writesCode(name string) bool {
	role := strings.TrimPrefix(strings.ToLower(name), prefix)
	return role == "executor" || role == "build-fixer"
}

// editors are the tools that edit files in the known CLIs, in lower case without
// separators. Writing whole files is not one of them: a critic needs it for its report,
// and the adapter confines it to that path.
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
