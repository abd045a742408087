package gitcmd

import (
	"strings"

	"github.com/switchyard-dev/switchyard/internal/safefile"
)

// Gitlink is the mode of an index entry for a submodule.
const Gitlink = "160000"

// Quote escapes a text for git's quotes.
var Quote = strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`)

// IsID reports whether a text is the full id of an object in one of git's formats.
func IsID(text string) bool {
	return (len(text) == 40 || len(text) == 64) && strings.Trim(text, "0123456789abcdef") == ""
}

// maxLine bounds a file with a path, in bytes.
const maxLine = 16 << 10

// ReadLine reads a file of git with one line, without the line's end.
func ReadLine(name string) (string, error) {
	f, err := safefile.OpenPath(name)
	if err != nil {
		return "", err
	}
	defer f.Close()
	text, err := safefile.ReadAll(f, maxLine)
	return strings.TrimRight(string(text), "\r\n"), err
}
