package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/switchyard-dev/switchyard/internal/cli"
	"github.com/switchyard-dev/switchyard/internal/doccheck"
)

// followed matches the blocks of a page that are run: console, a command after "$ "
// with all its output below, and sh, a script whose output does not matter.
var followed = regexp.MustCompile("(?ms)^```(console|sh)\n(.*?)^```$")

// follow runs the commands of a page in order, as its reader would, and compares the
// page with their output. With sh it also runs the scripts, which must succeed. An
// Output that differs only in what varies from run to run does not change. UPDATE=1
// rewrites the page.
func follow(t *testing.T, page string, sh bool, run func(script string) (string, error)) {
	t.Helper()
	if testing.Short() {
		t.Skip("short mode: a page's commands run one after another")
	}
	path := filepath.Join(repository, page)
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	commands := 0
	fresh := followed.ReplaceAllStringFunc(string(text), func(block string) string {
		m := followed.FindStringSubmatch(block)
		if m[1] == "sh" {
			if !sh {
				return block
			}
			if out, err := run(m[2]); err != nil {
				t.Errorf("%s:\n%s\n%v:\n%s", page, m[2], err, out)
			}
			return block
		}
		commands++
		line, want, _ := strings.Cut(m[2], "\n")
		command, ok := strings.CutPrefix(line, "$ ")
		if !ok {
			t.Errorf("%s: no command: %s", page, line)
		}
		got, _ := run(command) // A failure of the command shows in its output.
		if alike(got) == alike(want) {
			return block
		}
		t.Logf("%s\ngot:\n%s\nwant:\n%s", command, got, want)
		return "```console\n" + line + "\n" + times.ReplaceAllString(got, aTime) + "```"
	})
	if commands == 0 {
		t.Fatalf("%s shows no output", page)
	}
	doccheck.Page(t, path, fresh)
}

// times matches the times in the program's output, and aTime is their form in pages.
var times = regexp.MustCompile(`20\d\d-\d\d-\d\dT[0-9:.]+Z`)

const aTime = "2026-11-21T09:30:00Z"

// alike replaces all times, dates, durations, sizes of logs, run ids, worktrees and hashes of
// events and commits with one text each, and also every gap between columns, which are as wide as
// their longest time.
func alike(text string) string {
	for _, one := range varying {
		text = one.any.ReplaceAllString(text, one.this)
	}
	return text
}

// varying matches what differs from run to run.
var varying = []struct {
	any  *regexp.Regexp
	this string
}{
	{times, aTime},
	{regexp.MustCompile(`(?m)^switchyard: .* (60 s|\d+ min)( of .*)?\n`), ""}, // the status of what takes long
	{regexp.MustCompile(`\b20\d\d-\d\d-\d\d\b`), "2026-11-21"},
	{regexp.MustCompile(`run-[a-z2-7]{26}`), "run-k3v5jq7w2mzt4xnc6ydb3r8ahf"},
	{regexp.MustCompile(`(?m)\b(\d+m)?\d+(\.\d+)?m?s( +|[:,]|$)`), "20ms$3"},
	{regexp.MustCompile(`\b(\d+ min )?\d+(\.\d+)? m?s\b`), "20 ms"},
	{regexp.MustCompile(`(event +(sha256:)?)[0-9a-f]{12,}`), "${1}4697432b3c9f"},
	{regexp.MustCompile(`((commit|committed|tree|Switchyard-Decision:) +)[0-9a-f]{12,}`), "${1}4697432b3c9f"},
	{regexp.MustCompile(`\bconfinement: \S+`), "confinement: files+network"},
	{regexp.MustCompile(`\S+/worktrees/\S+`), "worktrees/T"},
	{regexp.MustCompile(`\(\d+ bytes\)`), "(29 bytes)"},
	{regexp.MustCompile(` {2,}`), "  "},
}

// inShell returns a function that runs a script in a directory and returns all its
// Output. The program is on the shell's path.
func inShell(t *testing.T, folder string) func(script string) (string, error) {
	t.Helper()
	sh, err := exec.LookPath("sh")
	if err != nil {
		t.Skipf("no shell to run a page's commands: %v", err)
	}
	env := append(os.Environ(), cli.UserVariable+"=alice", cli.CacheVariable+"="+t.TempDir(),
		"GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_CONFIG_NOSYSTEM=1", "GIT_CEILING_DIRECTORIES="+filepath.Dir(folder))
	return func(script string) (string, error) {
		cmd := exec.Command(sh, "-ec", script) // TestMain has put the program on the path.
		cmd.Dir, cmd.Env = folder, env
		out, err := cmd.CombinedOutput()
		return string(out), err
	}
}
