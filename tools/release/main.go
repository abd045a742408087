// Command release writes the licences of all dependencies, which it checks, and the notes of a
// release.
package main

import (
	"errors"
	"flag"
	"fmt"
	"log"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"

	"github.com/go-enry/go-license-detector/v4/licensedb"
	"github.com/go-enry/go-license-detector/v4/licensedb/filer"
)

func main() {
	log.SetFlags(0)
	root := flag.String("root", ".", "the `DIR` of the repository")
	out := flag.String("out", "", "write LICENSES.txt and notes.md into `DIR`")
	version := flag.String("version", "", "the `VERSION` of the release")
	flag.Parse()
	if err := prepare(*root, *out, *version); err != nil {
		log.Fatal(err)
	}
}

func prepare(root, out, version string) error {
	changelog, err := os.ReadFile(filepath.Join(root, "CHANGELOG.md"))
	if err != nil {
		return err
	}
	notes, err := cutNotes(string(changelog), version)
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(out, "notes.md"), []byte(notes), 0o644); err != nil {
		return err
	}
	modules, err := dependencies(root)
	if err != nil {
		return err
	}
	licences, err := collect(modules)
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(out, "LICENSES.txt"), []byte(licences), 0o644)
}

// cutNotes returns the section of a version from the change log, or the section Unreleased.
func cutNotes(changelog, version string) (string, error) {
	for _, title := range []string{version, "Unreleased"} {
		if _, after, ok := strings.Cut(changelog, "\n## "+title+"\n"); ok {
			section, _, _ := strings.Cut(after, "\n## ")
			return strings.TrimSpace(section) + "\n", nil
		}
	}
	return "", fmt.Errorf("CHANGELOG.md has neither a section ## %s nor ## Unreleased", version)
}

// dependencies returns the directories of the modules of the programs, on all systems, by path
// and version.
func dependencies(root string) (map[string]string, error) {
	goroot, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		return nil, fmt.Errorf("go env GOROOT: %w", err)
	}
	modules := map[string]string{"Go " + runtime.Version(): strings.TrimSpace(string(goroot))}
	for dir, packages := range map[string][]string{".": {"./cmd/switchyard", "./cmd/switchyard-mcp"}, "fleet": {"./cmd/switchyard-fleet"}} {
		for _, system := range []string{"linux", "darwin", "windows"} {
			list := exec.Command("go", append([]string{"list", "-deps", "-f", "{{with .Module}}{{with .Version}}{{$.Module.Path}} {{.}}\t{{$.Module.Dir}}{{end}}{{end}}"}, packages...)...)
			list.Dir, list.Stderr = filepath.Join(root, dir), os.Stderr
			list.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS="+system)
			printed, err := list.Output()
			if err != nil {
				return nil, fmt.Errorf("%s: %w", list, err)
			}
			for line := range strings.Lines(string(printed)) {
				// The fleet's module replaces the main module with its directory.
				if module, folder, ok := strings.Cut(strings.TrimSpace(line), "\t"); ok && !strings.HasPrefix(module, "github.com/switchyard-dev/") {
					modules[module] = folder
				}
			}
		}
	}
	return modules, nil
}

// allowedLicences permit the distribution of a binary with the licence texts alone. Each module
// needs one of them.
var allowedLicences = []string{"Apache-2.0", "BSD-2-Clause", "BSD-3-Clause", "ISC", "MIT", "MIT-0"}

// reviewedLicences are the licences of modules that a person has checked, because they cannot be
// detected.
var reviewedLicences = map[string]string{
	"kernel.org/pub/linux/libs/security/libcap/psx": "BSD-3-Clause or GPL-2.0, as one likes",
	"github.com/nexus-rpc/nexus-proto-annotations":  "no licence was published; switchyard-fleet has it, as a part of Temporal's API",
}

const header = `The programs contain the modules below, each under the licence that follows its name.
The built-in plugins also contain the runtime of AssemblyScript, by the AssemblyScript
Authors, and the policy compiler that of Open Policy Agent: both Apache-2.0. SQLite is in
the public domain.
`

var licenceFile = regexp.MustCompile(`(?i)^(licen[cs]e|copying|notice)([-._].*)?$`)

// collect returns the licence texts of modules. It fails if a module lacks an allowed licence.
func collect(modules map[string]string) (string, error) {
	var text strings.Builder
	text.WriteString(header)
	var refused []error
	for _, module := range slices.Sorted(maps.Keys(modules)) {
		dir := modules[module]
		source, err := filer.FromDirectory(dir)
		if err != nil {
			return "", err
		}
		path, _, _ := strings.Cut(module, " ")
		found, err := licensedb.Detect(source)
		if err != nil && reviewedLicences[path] == "" {
			return "", fmt.Errorf("%s: %w", module, err)
		}
		// Several licences may match, because some differ only in a few words.
		if reviewedLicences[path] == "" && !slices.ContainsFunc(allowedLicences, func(id string) bool { return found[id].Confidence > 0.8 }) {
			refused = append(refused, fmt.Errorf("%s has no licence that is allowed, but %v", module, slices.Sorted(maps.Keys(found))))
		}
		fmt.Fprintf(&text, "\n%s\n%s\n", strings.Repeat("=", 80), strings.TrimSpace(module+"\n"+reviewedLicences[path]))
		entries, err := os.ReadDir(dir)
		if err != nil {
			return "", err
		}
		for _, e := range entries {
			if e.IsDir() || !licenceFile.MatchString(e.Name()) {
				continue
			}
			file, err := os.ReadFile(filepath.Join(dir, e.Name()))
			if err != nil {
				return "", err
			}
			fmt.Fprintf(&text, "\n%s\n\n%s\n", e.Name(), strings.TrimSpace(string(file)))
		}
	}
	return text.String(), errors.Join(refused...)
}
