package access

import (
	"bufio"
	"cmp"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/switchyard-dev/switchyard/internal/agent/childenv"
)

// caches are the directories below the home directory with downloaded packages and toolchains,
// but without user data or secrets.
func caches() []string {
	return []string{
		"go/pkg/mod", ".rustup", ".cargo/bin", ".cargo/registry", ".cargo/git", ".m2/repository", ".gradle/wrapper", ".npm/_cacache",
		".nvm", ".volta", ".asdf", ".pyenv", ".rbenv", ".sdkman/candidates", ".local/share/mise", ".local/share/fnm", ".local/share/pnpm",
		".cache/pip", ".cache/uv", ".cache/pypoetry", ".deno/bin", ".bun/bin", ".dotnet", ".nuget/packages",
	}
}

// toolFolders returns the directories of the programs in PATH with their libraries, and the
// caches of package managers.
func toolFolders(environ []string, home string) (folders []string) {
	for _, dir := range filepath.SplitList(childenv.Value(environ, "PATH")) {
		if !filepath.IsAbs(dir) {
			continue
		}
		folders = append(folders, dir)
		// A version manager's directory has the libraries next to the programs. In .local
		// there is user data too.
		if prefix := filepath.Dir(dir); filepath.Base(dir) == "bin" && !within(home, prefix) && filepath.Base(prefix) != ".local" {
			folders = append(folders, filepath.Join(prefix, "lib"), filepath.Join(prefix, "libexec"), filepath.Join(prefix, "share"))
		}
	}
	for _, cache := range caches() {
		folders = append(folders, filepath.Join(home, cache))
	}
	return folders
}

// programFolders returns the directories from which a program is loaded: the one of its file,
// or node_modules for a Node.js package, and the same for its interpreter.
func programFolders(granted *links, program string, environ []string) (folders []string) {
	for range 3 { // The interpreter of a script may be a script.
		real := granted.real([]string{program})
		if len(real) == 0 {
			return folders
		}
		resolved := real[0]
		folder := filepath.Dir(resolved)
		if i := strings.Index(resolved, "/node_modules/"); i >= 0 {
			folder = resolved[:i+len("/node_modules")]
		}
		folders = append(folders, resolved, folder)
		if program = interpreter(resolved, environ); program == "" {
			return folders
		}
	}
	return folders
}

// interpreter returns the path of a script's interpreter, or "" if the program is not a
// script.
func interpreter(program string, environ []string) string {
	f, err := os.Open(program)
	if err != nil {
		return ""
	}
	defer f.Close()
	line, _ := bufio.NewReaderSize(f, 512).ReadSlice('\n')
	text, ok := strings.CutPrefix(string(line), "#!")
	words := strings.Fields(text)
	if !ok || len(words) == 0 {
		return ""
	}
	if filepath.Base(words[0]) != "env" {
		return words[0]
	}
	i := slices.IndexFunc(words[1:], func(word string) bool { return !strings.HasPrefix(word, "-") && !strings.Contains(word, "=") })
	if i < 0 {
		return ""
	}
	return childenv.LookPath(environ, words[1+i])
}

// hostOf returns the host and port of a URL, or "" if the text is not a URL with a host.
func hostOf(text string) string {
	u, err := url.Parse(text)
	if err != nil {
		return ""
	}
	port := cmp.Or(u.Port(), map[string]string{"http": "80", "https": "443"}[u.Scheme])
	if u.Hostname() == "" || port == "" {
		return ""
	}
	return net.JoinHostPort(u.Hostname(), port)
}
