package definition

import (
	"embed"
	"path"
	"slices"
	"strings"
)

// ours holds the definitions that are built in.
//
//go:embed agents/*.md
var ours embed.FS

// Names returns the names of the built-in agents and modules, sorted.
func Names() []string {
	entries, err := ours.ReadDir("agents")
	if err != nil {
		return nil // cannot happen with an embedded folder
	}
	names := make([]string, len(entries))
	for i, e := range entries {
		names[i] = strings.TrimSuffix(e.Name(), ending)
	}
	slices.Sort(names) // With the extension their order differs.
	return names
}

// Files returns the built-in definitions: their text, by the path that they would have in
// a project.
func Files() map[string][]byte {
	files := make(map[string][]byte)
	for _, name := range Names() {
		if data, err := ours.ReadFile(path.Join("agents", name+ending)); err == nil {
			files[path.Join(Folder, name+ending)] = data
		}
	}
	return files
}

func builtIn(name string) (Definition, bool) {
	data, err := ours.ReadFile(path.Join("agents", name+ending))
	if err != nil {
		return Definition{}, false
	}
	d, err := Parse(name, data)
	return d, err == nil
}
