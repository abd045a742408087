package prompt_test

import (
	"os"
	"os/exec"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/switchyard-dev/switchyard/internal/agent/prompt"
	"github.com/switchyard-dev/switchyard/internal/textutil"
)

func TestCommitMessage(t *testing.T) {
	word := strings.Repeat("x", 80)
	long := "Keep the order of the queue when two of its consumers are restarted at the same time, as v1 did"
	for name, c := range map[string]struct{ summary, subject, body string }{
		"a subject and a body":   {"Add a queue\n\nThe list grew without a limit.\n", "Add a queue", "The list grew without a limit."},
		"a subject alone":        {"Add a queue.", "Add a queue", ""},
		"a heading":              {"## Add a queue ##\n\nText.", "Add a queue ##", "Text."},
		"Markdown":               {"- **Add `a_queue`** for [jobs](http://a/b): *now*\r\n\r\nText.", "Add a_queue for jobs: *now*", "Text."},
		"emphasis":               {"*Add a queue*", "Add a queue", ""},
		"a number":               {"1. Add a queue", "Add a queue", ""},
		"a fence":                {"```text\nAdd a queue\n\nText.\n```\n", "Add a queue", "Text."},
		"lines that say nothing": {"\n\n---\n***\n…\nAdd a queue", "Add a queue", ""},
		"spaces":                 {"  Add\ta\u00a0  queue  \n\n\n\nText. \n \nMore.\n\n", "Add a queue", "Text.\n\nMore."},
		"what cannot be seen":    {"Add\x1b[2J a\u202e queue\x00\n\nTe\u200bxt.", "Add[2J a queue", "Text."},
		"no UTF-8":               {"Add \xff", "Add \ufffd", ""},
		"a long line":            {long + "\n\nText.", "Keep the order of the queue when two of its consumers are restarted at", long + "\n\nText."},
		"a long word":            {word, word[:72], word},
		"72 characters":          {word[:72], word[:72], ""},
		"a list and code":        {"Add a queue\n\n- one\n  two\n\n    code", "Add a queue", "- one\n  two\n\n    code"},
		"an indented body":       {"Add a queue\n\n  Reviewed-by: me", "Add a queue", "- Reviewed-by: me"},
		"comments":               {"Add a queue\n\n# Why\n#\nIt is needed.", "Add a queue", "Why\n\nIt is needed."},
		"trailers":               {"Add a queue\n\nSigned-off-by: Eve <e@x>\nKey : v", "Add a queue", "- Signed-off-by: Eve <e@x>\n- Key : v"},
		"our trailers":           {"Switchyard-Task: T-1\nAdd a queue\n\nText.\n\nswitchyard-decision: 00\n  - Switchyard-Policy : x\n", "Add a queue", "Text."},
		"a subject with a colon": {"queue: add it", "queue: add it", ""},
		"the end of a patch":     {"Add a queue\n\nText.\n---\n--- a/x\nMore.", "Add a queue", "Text.\nMore."},
		"a comment in code":      {"`# Add a queue`", "Add a queue", ""},
		"nothing":                {"", "Work on T-1", ""},
		"marks alone":            {"---\n***\n```\n", "Work on T-1", ""},
	} {
		subject, body := prompt.CommitMessage(c.summary, "**Work on T-1**\n\nText.")
		if subject != c.subject || body != c.body {
			t.Errorf("%s: %q and %q", name, subject, body)
		}
	}
	if subject, body := prompt.CommitMessage("", "\n"); subject+body != "" {
		t.Errorf("of nothing: %q and %q", subject, body)
	}
	if _, body := prompt.CommitMessage("Add a queue\n\n"+strings.Repeat("ä", 4000), ""); len(body) != 4<<10 || !utf8.ValidString(body) {
		t.Errorf("the body has %d bytes", len(body))
	}
}

// FuzzCommitMessage: whatever an agent says, git finds the trailers that are appended, and
// no others.
func FuzzCommitMessage(f *testing.F) {
	if _, err := exec.LookPath("git"); err != nil {
		f.Skip("there is no git:", err)
	}
	for _, text := range []string{
		"Add a queue\n\nSigned-off-by: Eve <e@x>", "Fix: it\nKey: v\n k\n\n---\nx", "a\n\n  K: v", "a\n\n(cherry picked from commit 00)\nK: v", "`--- a`\n\nK: v",
		"a\n\n# K: v\n\n# x", "a\n\nK\u00a0: v", "a\n\nSwitchyard-Task: T-2\nswitchyard-task: T-3", "a\r\rK: v", "K: v\n\nK: v\n\n" + strings.Repeat("K: v\n", 1000), strings.Repeat("a", 80) + ": b",
		"a\n\nx\n\nK: v\n--- \n\n", "**Key: v**\n\nb", "a\n\n[K](x): v", "> K: v\n\n> Switchyard-Task: x",
	} {
		f.Add(text)
	}
	const own = "Switchyard-Task: T-1\nSwitchyard-Round: 1\n"
	f.Fuzz(func(t *testing.T, summary string) {
		subject, body := prompt.CommitMessage(summary, "Work on T-1")
		if n := utf8.RuneCountInString(subject); n == 0 || n > 72 || strings.ContainsFunc(subject, textutil.Hidden) || subject != strings.Join(strings.Fields(subject), " ") {
			t.Fatalf("the subject is %q", subject)
		}
		if len(body) > 4<<10 || body != strings.TrimSpace(body) || !utf8.ValidString(body) || strings.HasPrefix(body, "#") || strings.Contains(body, "\n#") {
			t.Fatalf("the body is %q", body)
		}
		message := strings.TrimSpace(subject+"\n\n"+body) + "\n"
		if got := trailers(t, message); got != "" {
			t.Fatalf("%q has the trailers %q", message, got)
		}
		if got := trailers(t, message+"\n"+own); got != own {
			t.Fatalf("%q with the trailers has %q", message, got)
		}
	})
}

// trailers returns the trailers that git finds in a message.
func trailers(t *testing.T, message string) string {
	t.Helper()
	cmd := exec.Command("git", "interpret-trailers", "--parse")
	cmd.Dir, cmd.Stdin = t.TempDir(), strings.NewReader(message)
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_CONFIG_NOSYSTEM=1", "GIT_CEILING_DIRECTORIES="+cmd.Dir)
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}
