// Package scaffold creates plugin projects. A project is a worked example of package sdk
// under a new name, with a copy of the SDK, so that it has no external dependencies.
package scaffold

import (
	"embed"
	"errors"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/plugin/abi"
	"github.com/switchyard-dev/switchyard/plugins/builtin"
	"github.com/switchyard-dev/switchyard/plugins/sdk"
)

// Language is a plugin's programming language.
type Language string

// The languages.
const (
	Go             Language = "go"
	AssemblyScript Language = "assemblyscript"
	C              Language = "c"
)

// Languages lists the languages.
func Languages() []Language { return []Language{Go, AssemblyScript, C} }

// Project is a created plugin project.
type Project struct {
	Name     string   `json:"name"`
	Language Language `json:"language"`
	// Dir is the given directory, and Files are the paths of its files in it, with slashes
	// and in byte order.
	Dir   string   `json:"dir"`
	Files []string `json:"files"`
	// Build are alternative commands that build the module, to be run in Dir.
	Build []string `json:"build"`
	// Module is the built file.
	Module string `json:"module"`
}

// NameOf returns a plugin name for a directory: the directory's name in lower case, with
// dashes for underscores and spaces. It may be invalid.
func NameOf(dir string) string {
	if full, err := filepath.Abs(dir); err == nil {
		dir = full
	}
	return strings.NewReplacer("_", "-", " ", "-").Replace(strings.ToLower(filepath.Base(dir)))
}

// Write creates a plugin project in a new or empty directory.
//
// # Errors
//
// plugin-scaffold-exists, plugin-scaffold-name, plugin-scaffold-unwritable. Files that were
// written before an error stay.
func Write(dir string, language Language, name string) (Project, error) {
	if err := checkName(name); err != nil {
		return Project{}, err
	}
	files, err := render(language, name)
	if err != nil {
		return Project{}, err
	}
	if err := makeEmpty(dir); err != nil {
		return Project{}, err
	}
	p := Project{Name: name, Language: language, Dir: dir, Module: name + ".wasm"}
	for _, command := range templates()[language].build {
		p.Build = append(p.Build, strings.ReplaceAll(command, exampleName, name))
	}
	p.Files = slices.Sorted(maps.Keys(files))
	for _, file := range p.Files {
		if err := create(filepath.Join(dir, filepath.FromSlash(file)), files[file]); err != nil {
			return Project{}, err
		}
	}
	return p, nil
}

func checkName(name string) error {
	refuse := func(why string) error {
		return errs.New(errs.PluginScaffoldName, "no plugin can be called %q: %s", name, why).With("name", name)
	}
	if !abi.IsName(name) {
		return refuse("a name has lower-case letters and digits, in words joined by dashes, and 64 of them at the most")
	}
	if name == abi.Auto {
		return refuse("the name means that the plugin is detected")
	}
	if _, taken := builtin.Find(name); taken {
		return refuse("a built-in plugin has that name")
	}
	if abi.IsReserved(name) { // A plugin's error codes begin with its name.
		return refuse("error codes that begin with its first word are the host's own")
	}
	return nil
}

// exampleName is the name of the worked examples, and of the tool that writes their reports.
const exampleName = "todo-scan"

// template describes how an example becomes a project.
type template struct {
	// sources and sdk are patterns for the files of the example and of its SDK in sdk.Source.
	sources, sdk string
	// moved has pairs of a text of the example and its replacement, for the new location of
	// the SDK.
	moved []string
	// more has the text of additional files, by their names.
	more  map[string]string
	build []string
}

func templates() map[Language]template {
	return map[Language]template{
		Go: {
			sources: "examples/go/*", sdk: "*.go",
			moved: []string{"github.com/switchyard-dev/switchyard/plugins/sdk", module + "/sdk"},
			more:  map[string]string{"go.mod": "module " + module + "\n\ngo 1.24\n"},
			build: []string{"make", "GOOS=wasip1 GOARCH=wasm go build -buildmode=c-shared -trimpath -ldflags='-s -w' -o todo-scan.wasm ."},
		},
		AssemblyScript: {
			sources: "examples/assemblyscript/*", sdk: "assemblyscript/*",
			moved: []string{
				`"../../assemblyscript/`, `"./sdk/`,
				"--baseDir ../..", "--baseDir .", "abort=assemblyscript/", "abort=sdk/", "examples/assemblyscript/", "",
			},
			more:  map[string]string{".gitignore": "node_modules/\n"},
			build: []string{"npm ci && npm run build"},
		},
		C: {
			sources: "examples/c/*", sdk: "c/*",
			moved: []string{"../../c", "sdk"},
			more:  map[string]string{".gitignore": "node_modules/\n"},
			build: []string{"make", "npm ci && npm run build"},
		},
	}
}

// module is the Go module of a plugin. It is never downloaded.
const module = "example.com/" + exampleName

//go:embed readme/*.md
var readmes embed.FS

// render returns a project's files by path.
func render(language Language, name string) (map[string][]byte, error) {
	t, ok := templates()[language]
	if !ok {
		return nil, errors.New("no plugin can be written in " + string(language))
	}
	files := make(map[string][]byte)
	add := func(pattern, to string, replace *strings.Replacer) error {
		names, err := fs.Glob(sdk.Source, pattern)
		for _, file := range names {
			var text []byte
			if text, err = sdk.Source.ReadFile(file); err != nil {
				break
			}
			files[path.Join(to, path.Base(file))] = []byte(replace.Replace(string(text)))
		}
		return err
	}
	rename := strings.NewReplacer(exampleName, name)
	var moved []string
	for _, text := range t.moved {
		moved = append(moved, rename.Replace(text))
	}
	readme, err := readmes.ReadFile("readme/" + string(language) + ".md")
	err = errors.Join(err,
		add(t.sources, "", strings.NewReplacer(append(moved, exampleName, name)...)),
		add(t.sdk, "sdk", strings.NewReplacer()),
	)
	for _, golden := range []string{"findings", "ignored", "incomplete", "config-order"} {
		err = errors.Join(err, add("examples/corpus/"+golden+".json", "corpus", rename))
	}
	if err != nil {
		return nil, err
	}
	files["README.md"] = []byte(rename.Replace(string(readme)))
	for file, text := range t.more {
		files[file] = []byte(rename.Replace(text))
	}
	return files, nil
}

// makeEmpty creates dir, unless it is an empty directory.
func makeEmpty(dir string) error {
	entries, err := os.ReadDir(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		err = os.MkdirAll(dir, 0o777)
	case len(entries) > 0:
		return errs.New(errs.PluginScaffoldExists, "%s is not empty", dir).With("path", dir)
	case err != nil:
		if info, statErr := os.Stat(dir); statErr == nil && !info.IsDir() {
			return errs.New(errs.PluginScaffoldExists, "%s is not a directory", dir).With("path", dir)
		}
	}
	return errUnwritable(dir, err)
}

func create(file string, text []byte) error {
	if err := os.MkdirAll(filepath.Dir(file), 0o777); err != nil {
		return errUnwritable(file, err)
	}
	f, err := os.OpenFile(file, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return errUnwritable(file, err)
	}
	_, err = f.Write(text)
	return errUnwritable(file, errors.Join(err, f.Close()))
}

func errUnwritable(file string, err error) error {
	if err == nil {
		return nil
	}
	return errs.New(errs.PluginScaffoldUnwritable, "write %s: %w", file, err).With("path", file)
}
