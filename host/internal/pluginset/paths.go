package pluginset

import (
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"unicode/utf8"

	"github.com/switchyard-dev/switchyard/internal/finding"
)

// pathMapper normalises paths of the project's files, so that findings of different tools
// merge: relative to the project's root, with slashes. A path that is not certainly in the
// project does not change.
//
// It asks the file system, because the text alone is ambiguous: the root may have other
// names through links or letter case, and except on Windows a backslash may be part of a
// name. It is not safe for concurrent use.
type pathMapper struct {
	name    string // of the root, with slashes
	windows bool
	known   map[string]bool // by absolute directory, whether it is the root
	root    *os.Root        // nil if it cannot be opened
}

// maxPath is the maximum length of a path to map, in bytes; systems accept less.
const maxPath = 4096

// newPathMapper returns a mapper for a root. The caller must close it.
func newPathMapper(root string) *pathMapper {
	m := &pathMapper{name: filepath.ToSlash(root), windows: runtime.GOOS == "windows", known: make(map[string]bool)}
	m.root, _ = os.OpenRoot(root)
	return m
}

func (m *pathMapper) close() {
	if m.root != nil {
		_ = m.root.Close()
	}
}

// lstat returns the file info of a path below the root, nil if it cannot be read.
func (m *pathMapper) lstat(path string) os.FileInfo {
	if m.root == nil {
		return nil
	}
	info, err := m.root.Lstat(path)
	if err != nil {
		return nil
	}
	return info
}

// apply maps the files of findings. Their sources keep the report's own text.
func (m *pathMapper) apply(findings []finding.Finding) {
	for i, f := range findings {
		if f.File == nil {
			continue
		}
		if mapped := m.relative(*f.File); mapped != *f.File {
			findings[i].File = &mapped
		}
	}
}

// relative returns the path of a project file relative to the root, and any other text
// unchanged. It is idempotent, and the result never leaves the root.
func (m *pathMapper) relative(file string) string {
	if file == "" || file == "-" || len(file) > maxPath || strings.ContainsRune(file, 0) {
		return file
	}
	path, ok := fromURI(file)
	if !ok {
		return file
	}
	if m.windows {
		path = strings.ReplaceAll(path, `\`, "/")
		if hasDrive(strings.TrimPrefix(path, "/")) {
			path = strings.TrimPrefix(path, "/") // As in file:///C:/a.go.
		}
	}
	if strings.HasPrefix(path, "/") || m.windows && hasDrive(path) {
		if path, ok = m.below(path); !ok {
			return file
		}
	}
	if strings.Contains(path, `\`) {
		path = m.withSlashes(path)
	}
	path, ok = m.clean(path)
	// A relative path must not be mistaken for something else.
	if !ok || path == "-" || isURI(path) || m.windows && !filepath.IsLocal(path) {
		return file
	}
	return path
}

func isURI(text string) bool { return len(text) >= 5 && strings.EqualFold(text[:5], "file:") }

// fromURI returns the path of a file URI, or any other text unchanged, and whether it is a
// path.
func fromURI(text string) (string, bool) {
	if !isURI(text) {
		return text, !strings.Contains(text, "://")
	}
	u, err := url.Parse(text)
	switch {
	case err != nil, u.Path == "", u.RawQuery != "" || u.ForceQuery, u.Fragment != "" || strings.HasSuffix(text, "#"),
		u.User != nil, !utf8.ValidString(u.Path), strings.ContainsRune(u.Path, 0):
		return "", false
	case u.Host != "" && !strings.EqualFold(u.Host, "localhost"):
		return "//" + u.Host + u.Path, true
	default:
		return u.Path, true
	}
}

// hasDrive reports whether a path begins with a drive letter, such as C:/.
func hasDrive(path string) bool {
	return len(path) > 2 && path[1] == ':' && path[2] == '/' && ('a' <= path[0]|0x20 && path[0]|0x20 <= 'z')
}

// below returns the part of an absolute path below the root.
func (m *pathMapper) below(path string) (string, bool) {
	if rest, ok := m.cut(path); ok {
		return rest, true
	}
	if strings.HasPrefix(path, "//") {
		return "", false // A report must not make us contact another machine.
	}
	first := strings.IndexByte(path, '/')
	for at := first; at <= len(path); at++ { // Every directory on the way, the outermost first.
		if at < len(path) && path[at] != '/' {
			continue
		}
		switch is, exists := m.isRoot(path[:max(at, first+1)]); {
		case is:
			return path[at:], true
		case !exists:
			return "", false
		}
	}
	return "", false
}

// cut removes the root's own name.
func (m *pathMapper) cut(path string) (string, bool) {
	name := strings.TrimSuffix(m.name, "/")
	if len(path) < len(name) {
		return "", false
	}
	head, rest := path[:len(name)], path[len(name):]
	if head != name && !(m.windows && strings.EqualFold(head, name)) || rest != "" && rest[0] != '/' {
		return "", false
	}
	return rest, true
}

// isRoot reports whether an absolute path is the root under any name, and whether it is a
// directory at all.
func (m *pathMapper) isRoot(path string) (is, exists bool) {
	if is, exists = m.known[path]; exists {
		return is, true
	}
	info, err := os.Stat(filepath.FromSlash(path))
	if err != nil || !info.IsDir() {
		return false, false
	}
	root := m.lstat(".")
	is = root != nil && os.SameFile(info, root)
	m.known[path] = is
	return is, true
}

// withSlashes replaces the backslashes of a path below the root if only the result names a
// file.
func (m *pathMapper) withSlashes(path string) string {
	slashed := strings.ReplaceAll(path, `\`, "/")
	if with, ok := m.clean(slashed); !ok || m.lstat(with) == nil {
		return path
	}
	if literal, ok := m.clean(path); ok && m.lstat(literal) != nil {
		return path
	}
	return slashed
}

// clean removes empty elements, . and .. from a path below the root. It does not resolve
// a .. that leaves the root or follows anything but a real directory.
func (m *pathMapper) clean(path string) (string, bool) {
	var stored []string
	for element := range strings.SplitSeq(path, "/") {
		switch element {
		case "", ".":
		case "..":
			if len(stored) == 0 {
				return "", false
			}
			if folder := m.lstat(strings.Join(stored, "/")); folder == nil || !folder.IsDir() {
				return "", false
			}
			stored = stored[:len(stored)-1]
		default:
			stored = append(stored, element)
		}
	}
	if len(stored) == 0 {
		return ".", true
	}
	return strings.Join(stored, "/"), true
}
