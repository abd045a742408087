package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/spf13/cobra"

	"github.com/switchyard-dev/switchyard/internal/agent/fakeagent"
	"github.com/switchyard-dev/switchyard/internal/cli"
	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/gitrepo"
	"github.com/switchyard-dev/switchyard/internal/safefile"
	"github.com/switchyard-dev/switchyard/internal/supervise"
)

func newDemoCmd(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "demo",
		Short: "Show a whole run in a temporary project",
		Long: `Demo drives three tasks in a new project in the temporary directory: one is
committed, one asks its user, and one gets stuck. It prints each command that it
runs, as you would type it, and the command's output. Its agents are fakes inside
of this program, so it needs only git: it uses no network and costs no money.

It does not read or change your files. The project remains for you to look at, and
the last lines say how to remove it. If the demo is interrupted, it removes the
project itself.`,
		Args: cli.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return a.demo(cmd.Context()) },
	}
	cmd.AddCommand(&cobra.Command{Use: demoAgentName, Hidden: true, Args: cli.NoArgs, RunE: func(*cobra.Command, []string) error { return a.demoAgent() }})
	return cmd
}

func (a *app) demo(ctx context.Context) (err error) {
	dir, err := os.MkdirTemp("", "switchyard-demo-")
	if err != nil {
		return errs.New(errs.FileUnwritable, "failed to create a temporary directory: %w", safefile.Reason(err)).
			WithHint("name another directory in the variable TMPDIR")
	}
	defer func() {
		if err != nil || a.Exit != 0 {
			_ = os.Chdir(filepath.Dir(dir)) // Windows does not remove a process's directory.
			err = cmp.Or(err, os.RemoveAll(dir))
		}
	}()
	if dir, err = filepath.EvalSymlinks(dir); err != nil {
		return err
	}
	if err := enterDemo(ctx, filepath.Join(dir, "shop"), filepath.Join(dir, "home")); err != nil {
		return err
	}
	say := func(text string) { fmt.Fprintf(a.Out, "\n%s\n", text) }
	fmt.Fprintln(a.Out, "A project with a script for uploads, and three tasks for its agents. The fake agents\nof this demonstration take the place of Claude Code, Codex and the like.")
	for _, name := range []string{"switchyard.yaml", "tasks.yaml"} {
		text, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		fmt.Fprintf(a.Out, "\n$ cat %s\n%s", name, text)
	}
	for _, step := range []struct {
		why, line string
		exit      int
	}{
		{"An executor makes a draft, the verification tests it, a critic reviews it, and the policy\ndecides what comes next, until it says commit, needs you, or gives up.", "run --tasks tasks.yaml", cli.ExitOther},
		{"The question waits for its answer. Then the task continues.", "answer TIMEOUT-1 --choice 2", 0},
		{"", "run TIMEOUT-1", 0},
		{"Where does every task stand, and why is one stuck?", "status", 0},
		{"", "explain LOG-1", 0},
		{"Was this commit reviewed as it is? And was the record changed?", "gate --commit switchyard/RETRY-1", 0},
		{"", "ledger verify --decisions", 0},
		{"The history is also a page.", "stats --html ../stats.html", 0},
	} {
		if step.why != "" {
			say(step.why)
		}
		fmt.Fprintf(a.Out, "\n$ switchyard %s\n", step.line)
		if exit := run(ctx, strings.Fields(step.line), a.Streams); exit != step.exit {
			a.Exit = cmp.Or(exit, 1)
			return nil // It has printed its error.
		}
	}
	remove := "rm -rf "
	if runtime.GOOS == "windows" {
		remove = "rmdir /s /q "
	}
	say("The page is " + filepath.Join(dir, "stats.html") + ", and the project " + filepath.Join(dir, "shop") + ".\nWhen you have seen enough: " + remove + dir)
	return nil
}

// enterDemo makes the project of the demonstration, and gives this process its directory and
// an environment without the user's settings.
func enterDemo(ctx context.Context, project, home string) error {
	program, err := os.Executable()
	if err != nil {
		return err
	}
	command, err := json.Marshal([]string{program, "demo", demoAgentName})
	if err != nil {
		return err
	}
	files := map[string]string{
		"upload.sh": uploadScript(""),
		"switchyard.yaml": "verify: git diff --check                # the tests of a real project\n" +
			"spawn:\n  adapter: exec                         # or claude, codex, gemini, opencode, copilot\n  command: " + string(command) + "\n",
		"tasks.yaml": "tasks:\n" +
			"  - {id: RETRY-1, prompt: Retry a failed upload.}\n" +
			"  - {id: TIMEOUT-1, prompt: End an upload that takes too long.}\n" +
			"  - {id: LOG-1, prompt: Write every upload into a log.}\n",
	}
	for _, dir := range []string{project, home} {
		if err := os.Mkdir(dir, 0o700); err != nil {
			return err
		}
	}
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(project, name), []byte(text), 0o600); err != nil {
			return err
		}
	}
	for _, entry := range os.Environ() {
		name, _, _ := strings.Cut(entry, "=")
		if slices.ContainsFunc([]string{"GIT_", "SWITCHYARD_", "NUBOS_PILOT_", "XDG_"}, func(prefix string) bool { return strings.HasPrefix(name, prefix) }) {
			if err := os.Unsetenv(name); err != nil {
				return err
			}
		}
	}
	for name, value := range map[string]string{
		"HOME": home, "USERPROFILE": home, "XDG_STATE_HOME": home, cli.CacheVariable: filepath.Join(home, "cache"),
		"GIT_CONFIG_GLOBAL": os.DevNull, "GIT_CONFIG_NOSYSTEM": "1",
		"GIT_AUTHOR_NAME": "demo", "GIT_AUTHOR_EMAIL": "demo@localhost", "GIT_COMMITTER_NAME": "demo", "GIT_COMMITTER_EMAIL": "demo@localhost",
	} {
		if err := os.Setenv(name, value); err != nil {
			return err
		}
	}
	keeper, err := supervise.New()
	if err != nil {
		return err
	}
	return errors.Join(gitrepo.Create(ctx, project, gitrepo.Options{Supervisor: keeper, Environ: os.Environ()}), os.Chdir(project))
}

// demoAgentName is the hidden command that acts as a fake agent.
const demoAgentName = "agent"

// demoRound has the results of the agents in a round: the executor's draft and message, and
// the critic's finding, if any.
type demoRound struct {
	upload, says string
	finding      *fakeagent.Finding
}

func demoRounds() map[string][]demoRound {
	unlogged := &fakeagent.Finding{Category: "unmet-criterion", Severity: "fail", File: "upload.sh", Line: 2, Remediation: "Log failed uploads, too: the script ends before it logs them"}
	return map[string][]demoRound{
		"RETRY-1": {
			{"--retry 3 ", "Retry a failed upload three times", &fakeagent.Finding{
				Category: "edge-case-gap", Severity: "fail", File: "upload.sh", Line: 2, Remediation: "Pause between the tries: a server that restarts fails all three at once",
			}},
			{"--retry 3 --retry-delay 5 ", "Pause between the tries of an upload", nil},
		},
		"TIMEOUT-1": {
			{"--max-time 30 ", "End an upload that takes too long", &fakeagent.Finding{
				Category: "question-to-user", Severity: "fail", File: "upload.sh", Line: 2, Remediation: "Ask for the limit: the task does not name it",
				Question: &fakeagent.Question{Question: "How long may an upload take?", Choices: []string{"30 seconds", "5 minutes"}},
			}},
			{"--max-time 300 ", "End an upload after five minutes", nil},
		},
		"LOG-1": {
			{"--write-out %{url} ", "Log uploads", unlogged},
			{"--write-out '%{url}\\n' ", "Log one upload a line", unlogged},
			{"--write-out '%{url} %{time_total}\\n' ", "Log how long an upload took", unlogged},
		},
	}
}

func uploadScript(options string) string {
	return "# Uploads a file: upload.sh FILE\ncurl " + options + "-fsS -T \"$1\" \"$UPLOAD_URL\"\n"
}

// demoAgent is the executor, the build-fixer or the critic of the demonstration, as its
// environment says. It gets its prompt by standard input, and prints its final message.
func (a *app) demoAgent() error {
	prompt, err := io.ReadAll(a.In)
	if err != nil {
		return err
	}
	brief := fakeagent.ReadBrief(string(prompt))
	rounds := demoRounds()[brief.Task]
	if brief.Round < 1 || brief.Round > len(rounds) {
		return cli.Usagef("the demonstration has no task %q with a round %d", brief.Task, brief.Round)
	}
	r := rounds[brief.Round-1]
	if brief.ReportPath == "" {
		return errors.Join(os.WriteFile("upload.sh", []byte(uploadScript(r.upload)), 0o600), a.PrintText(r.says))
	}
	var findings []fakeagent.Finding
	if r.finding != nil {
		findings = append(findings, *r.finding)
	}
	report, message := fakeagent.Critique(brief, findings...)
	return errors.Join(os.WriteFile(brief.ReportPath, report, 0o600), a.PrintText(message))
}
