package regotest

import (
	"fmt"
	"io/fs"
	"os"
	"path"
	"strings"

	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/policy/routing"
	"github.com/switchyard-dev/switchyard/internal/safefile"
)

// Read reads the tests below a policy's directory, named by their paths in it.
//
// # Errors
//
// Those of ReadIn, and policy-unreadable if the directory does not exist.
func Read(dir string) ([]routing.Source, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, unreadable(dir, err)
	}
	defer root.Close()
	_, tests, err := ReadIn(root, ".")
	return tests, err
}

// ReadIn reads a policy's modules and its tests below a folder of root, named by their
// paths in that folder and sorted by them. Links are followed if they stay within root.
// Modules and tests may each have as many files and bytes as a policy.
//
// # Errors
//
// policy-unreadable, and policy-invalid if a limit is exceeded.
func ReadIn(root *os.Root, dir string) (modules, tests []routing.Source, err error) {
	entries, moduleBytes, testBytes := 0, 0, 0
	err = fs.WalkDir(root.FS(), dir, func(name string, e fs.DirEntry, err error) error {
		if err != nil {
			return unreadable(name, err)
		}
		if entries++; entries > routing.MaxEntries {
			return tooLarge(dir, "it holds more than %d files", routing.MaxEntries)
		}
		if e.IsDir() || path.Ext(name) != ".rego" {
			return nil
		}
		to, bytes := &modules, &moduleBytes
		if isTest(name) {
			to, bytes = &tests, &testBytes
		}
		text, err := safefile.Read(root, name, routing.MaxModuleBytes)
		if err != nil {
			return unreadable(name, err)
		}
		if *bytes += len(text); *bytes > routing.MaxModuleBytes {
			return tooLarge(dir, "its Rego files have more than %d bytes together", routing.MaxModuleBytes)
		}
		if *to = append(*to, routing.Source{Name: within(dir, name), Text: string(text)}); len(*to) > routing.MaxModules {
			return tooLarge(dir, "it holds more than %d Rego files", routing.MaxModules)
		}
		return nil
	})
	return modules, tests, err
}

// within returns a path relative to a folder.
func within(dir, name string) string {
	if dir == "." {
		return name
	}
	return strings.TrimPrefix(name, dir+"/")
}

func unreadable(name string, err error) error {
	return errs.New(errs.PolicyUnreadable, "read policy %s: %w", name, safefile.Reason(err)).With("policy", name)
}

func tooLarge(dir, format string, args ...any) error {
	problem := routing.Problem{Message: fmt.Sprintf(format, args...)}
	return errs.New(errs.PolicyInvalid, "policy %s is invalid: %s", dir, problem).
		With("policy", dir).With("problems", []routing.Problem{problem})
}
