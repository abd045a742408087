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

// Names returns the names of what is built in, agents and modules, in their order.
func Names() []string {
	entries, err := ours.ReadDir("agents")
	if err != nil {
		return nil // cannot happen: the folder is compiled in
	}
	names := make([]string, len(entries))
	for i, e := range entries {
		names[i] = strings.TrimSuffix(e.Name(), ending)
	}
	slices.Sort(names) // With their ending they come in another order.
	return names
}

// Files returns the built-in definitions as a project may have them: their text, by
// the path relative to the project's root. The map is the caller's.
func Files() map[string][]byte {
	files := make(map[string][]byte)
	for _, name := range Names() {
		if data, err := ours.ReadFile(path.Join("agents", name+ending)); err == nil {
			files[path.Join(Folder, name+ending)] = data
		}
	}
	return files
}

// builtIn returns one of ours.
func builtIn(name string) (Definition, bool) {
	data, err := ours.ReadFile(path.Join("agents", name+ending))
	if err != nil {
		return Definition{}, false
	}
	d, err := Parse(name, data)
	return d, err == nil
}
