package routing

import (
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"unicode/utf8"
)

// readDir reads the modules below a directory, in lexical order. It reads through an
// os.Root, so no symbolic link can lead out of it, not even one created meanwhile.
func readDir(dir string) ([]module, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, unreadable(dir, err)
	}
	defer root.Close()

	var modules []module
	entries := 0
	err = fs.WalkDir(root.FS(), ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return unreadable(dir, err)
		}
		if entries++; entries > MaxEntries {
			return tooLarge(dir, "", "it holds more than %d files", MaxEntries)
		}
		if entry.IsDir() || !isModule(name) {
			return nil
		}
		if !utf8.ValidString(name) { // Names in a bundle must be text, and so must stored names.
			return invalid(dir, Problem{Message: fmt.Sprintf("the name of a Rego file is not UTF-8: %q", name)})
		}
		if len(modules) == MaxModules {
			return tooLarge(dir, "", "it holds more than %d Rego files", MaxModules)
		}
		source, err := readModule(dir, root, name)
		if err != nil {
			return err
		}
		modules = append(modules, module{name: filepath.Join(dir, filepath.FromSlash(name)), path: name, source: source})
		return nil
	})
	return modules, err
}

// readModule reads one file. It counts the bytes read instead of trusting a stated size,
// because a file may grow meanwhile.
func readModule(dir string, root *os.Root, name string) (string, error) {
	f, err := root.OpenFile(filepath.FromSlash(name), os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return "", unreadable(dir, err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return "", unreadable(dir, err)
	}
	if !info.Mode().IsRegular() {
		return "", unreadable(dir, fmt.Errorf("%s is not a regular file", name))
	}
	source, err := io.ReadAll(io.LimitReader(f, MaxModuleBytes+1))
	if err != nil {
		return "", unreadable(dir, err)
	}
	if len(source) > MaxModuleBytes {
		return "", tooLarge(dir, filepath.Join(dir, filepath.FromSlash(name)), "it is larger than %d bytes", MaxModuleBytes)
	}
	return string(source), nil
}
