package prompt

import (
	"embed"
	"errors"
	"io/fs"
	"os"
	"path"
	"strings"
	"unicode/utf8"

	"github.com/switchyard-dev/switchyard/internal/safefile"
)

// folder is the directory of a project's own templates, relative to its root.
const folder = ".switchyard/prompts"

// maxTemplate bounds a template, in bytes.
const maxTemplate = 1 << 20

// ours has the built-in templates.
//
//go:embed templates/*.md
var ours embed.FS

// load reads a project's template. It falls back to the built-in one, and uses only that if
// root is "".
func load(root, name string) (template, error) {
	t := template{where: path.Join(folder, name+".md")}
	data, err := content(root, t.where)
	if errors.Is(err, fs.ErrNotExist) {
		data, err = ours.ReadFile(path.Join("templates", name+".md"))
		t.where = "the built-in template " + name
	}
	switch {
	case err != nil:
		return t, t.invalid(0, "%w", err)
	case !utf8.Valid(data):
		return t, t.invalid(0, "it is not UTF-8")
	}
	t.text = strings.ReplaceAll(strings.TrimPrefix(string(data), "\uFEFF"), "\r\n", "\n")
	return t, nil
}

// content reads a file through the project's root, so that links cannot lead out of it. It
// returns fs.ErrNotExist only if the name does not exist.
func content(dir, file string) ([]byte, error) {
	if dir == "" {
		return nil, fs.ErrNotExist
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, hidden(err)
	}
	defer root.Close()
	// A dangling link exists, and is broken.
	if _, err := root.Lstat(file); err != nil {
		return nil, safefile.Reason(err)
	}
	data, err := safefile.Read(root, file, maxTemplate)
	if err != nil {
		return nil, hidden(err)
	}
	return data, nil
}

// hidden is safefile.Reason without fs.ErrNotExist, for a file that exists but cannot be read.
func hidden(err error) error { return errors.New(safefile.Reason(err).Error()) }
