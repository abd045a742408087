package host_test

import (
	"cmp"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/switchyard-dev/switchyard/internal/agent/fakeagent"
	"github.com/switchyard-dev/switchyard/internal/api"
)

// TestRunCommitsWhatWasReviewed drives a task through two rounds to its commit. The user's
// checkout, with a stash, staged and unstaged changes, stays as it was.
func TestRunCommitsWhatWasReviewed(t *testing.T) {
	sequential(t)
	t.Parallel()
	s := newRunSite(t, once+"verify: test -s draft.txt\n", twoRounds())
	s.write(t, "stashed.go", "package a\n")
	s.git(t, "stash", "-u", "-q")
	s.write(t, "staged.go", "package a\n")
	s.git(t, "add", "staged.go")
	s.write(t, "a.go", "package mine\n")
	before := s.checkout(t)

	r := s.ends(t, api.RunRequest{}, "commit", "no-findings")
	s.committed(t, 2)
	s.wasCalled(t, "executor 1", "critic 1", "build-fixer 2", "critic 2")
	if after := s.checkout(t); after != before {
		t.Errorf("the checkout was\n%s\nand is\n%s", before, after)
	}
	if got := s.git(t, "show", r.Commit+":draft.txt"); got != "# round 1\n# round 2" {
		t.Errorf("the commit has %q", got)
	}
	if got := s.git(t, "diff", "--name-only", "main", r.Commit); got != "draft.txt" {
		t.Errorf("the commit changes %q", got)
	}
	if got := s.git(t, "log", "-1", "--format=%s|%an|%ae", r.Commit); got != "Do the task of round 1|Ada|ada@example.org" || r.Subject != "Do the task of round 1" {
		t.Errorf("the commit is %q, %q", got, r.Subject)
	}
	if text := s.prompts(t, "build-fixer", 2); !strings.Contains(text, wrong().Remediation) || !strings.Contains(text, runPrompt) {
		t.Errorf("the build-fixer does not see the finding and the task:\n%s", text)
	}
	if notice := s.events.of(api.RunNotice); len(notice) == 0 || !strings.Contains(notice[0].Message, "staged.go") {
		t.Errorf("the notices are %+v, want that staged.go is missing", notice)
	}
	var kinds []api.RunEventKind
	for _, ev := range s.events.all {
		kinds = append(kinds, ev.Event)
	}
	want := []api.RunEventKind{
		api.RunStarted, api.RunNotice, api.RunAgent, api.RunAgent, api.RunDecided, api.RunAgent, api.RunAgent, api.RunDecided, api.RunCommitted,
	}
	if !slices.Equal(kinds, want) {
		t.Errorf("the events are %v, want %v", kinds, want)
	}
	if strings.HasPrefix(r.Branch.Worktree, s.root) {
		t.Errorf("the worktree %s is inside of the checkout", r.Branch.Worktree)
	}

	// Another run finds it done.
	again := s.ends(t, api.RunRequest{}, "commit", "")
	if again.Commit != r.Commit || len(s.calls(t)) != 4 {
		t.Errorf("another run ends with %s after %d calls", again.Commit, len(s.calls(t)))
	}
	s.committed(t, 2)
}

// TestRunFixesARedVerification checks that a red draft is not reviewed, and that the next
// agent sees why it was red.
func TestRunFixesARedVerification(t *testing.T) {
	sequential(t)
	t.Parallel()
	s := newRunSite(t, once+"verify: \"echo needs round 2; grep -q 'round 2' draft.txt\"\n", oneRound(twoRounds()["executor"][0]))
	s.ends(t, api.RunRequest{}, "commit", "")
	s.committed(t, 2)
	s.wasCalled(t, "executor 1", "build-fixer 2", "critic 2")
	if text := s.prompts(t, "build-fixer", 2); !strings.Contains(text, "needs round 2") {
		t.Errorf("the build-fixer does not see the output of the verification:\n%s", text)
	}
}

// TestRunMerges merges a task into a branch that is not checked out, pushes nothing else,
// and removes the worktree.
func TestRunMerges(t *testing.T) {
	t.Parallel()
	s := newRunSite(t, once, twoRounds())
	s.git(t, "branch", "trunk")
	before := s.checkout(t)
	r := s.ends(t, api.RunRequest{Base: "trunk", Merge: true}, "commit", "")
	if r.Merge == nil || s.git(t, "rev-parse", "trunk") != r.Merge.Commit || r.Merge.Commit != r.Commit {
		t.Errorf("the merge is %+v of %s", r.Merge, r.Commit)
	}
	if _, err := os.Stat(r.Branch.Worktree); !os.IsNotExist(err) {
		t.Errorf("the worktree is there still: %v", err)
	}
	s.git(t, "branch", "-f", "trunk", r.Branch.Base)
	if after := s.checkout(t); after != before {
		t.Errorf("the checkout was\n%s\nand is\n%s", before, after)
	}
}

// TestRunPushes pushes the task's branch and nothing else.
func TestRunPushes(t *testing.T) {
	sequential(t)
	t.Parallel()
	s := newRunSite(t, once, twoRounds())
	remote := filepath.Join(s.home, "remote.git")
	s.git(t, "init", "-q", "--bare", "--template=", remote)
	s.git(t, "remote", "add", "origin", remote)
	r := s.ends(t, api.RunRequest{Push: "origin"}, "commit", "")
	if got := s.gitIn(t, remote, "for-each-ref", "--format=%(refname) %(objectname)"); got != "refs/heads/switchyard/T "+r.Commit {
		t.Errorf("the remote has %q", got)
	}
}

// TestRunRequiresASearchOfWhoCanSearch checks that the search-before-write rule applies to
// an executor only if its definition has a search tool: the built-in one has none.
func TestRunRequiresASearchOfWhoCanSearch(t *testing.T) {
	sequential(t)
	t.Parallel()
	s := newRunSite(t, once, oneRound(fakeagent.Edits()))
	s.define(t, "executor", "profile: edit\ntools: [Read, Edit, WebSearch]\n")
	s.ends(t, api.RunRequest{}, "commit", "")
	if first := s.events.of(api.RunDecided)[0].Decision; first.NextAction != "executor" || first.Findings[0].Category != "rule-9-violation" {
		t.Errorf("an executor that did not search leads to %s for %+v", first.NextAction, first.Findings)
	}
}

// TestRunCommands drives a task with a shell script, which parses no prompt and prints no
// envelope.
func TestRunCommands(t *testing.T) {
	sequential(t)
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("the agent is a shell script")
	}
	s := newRunSite(t, "spawn: {adapter: exec, command: [sh, agent.sh]}\n", roles{})
	s.write(t, "agent.sh", `
finding='{"category": "style", "severity": "fail", "file": "draft.txt", "line": 1, "remediation": "say it in round 2"}'
case $SWITCHYARD_ROLE in
critic)
	verdict=issues_found
	if grep -q 2 draft.txt; then finding= verdict=passed; fi
	printf '{"critic": "critic", "task_id": "%s", "round": %s, "criteria": [], "findings": [%s], "verdict": "%s"}' \
		"$SWITCHYARD_TASK" "$SWITCHYARD_ROUND" "$finding" $verdict >"$SWITCHYARD_REPORT" ;;
executor) echo "round $SWITCHYARD_ROUND" >draft.txt; echo noise; echo "Say it" ;;
build-fixer) echo "round $SWITCHYARD_ROUND" >draft.txt ;;
esac
`)
	s.git(t, "add", "-A")
	s.git(t, "commit", "-q", "-m", "agent")
	r := s.ends(t, api.RunRequest{}, "commit", "no-findings")
	if got := s.git(t, "log", "-1", "--format=%s", r.Commit); got != "Say it" || r.Round != 2 {
		t.Errorf("round %d is committed as %q", r.Round, got)
	}
}

// TestRunNamesTheFaultOfACommandsReport checks that a report which does not hold is named
// as the fault, and not that the command is silent.
func TestRunNamesTheFaultOfACommandsReport(t *testing.T) {
	sequential(t)
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("the agent is a shell script")
	}
	for reason, report := range map[string]string{
		"report-absent":  "",
		"report-invalid": `printf '{"critic": "critic", "task_id": "T", "round": 1, "findings": []}' >"$SWITCHYARD_REPORT"`,
		"report-empty":   `: >"$SWITCHYARD_REPORT"; echo reviewed`,
	} {
		s := newRunSite(t, "spawn: {adapter: exec, command: [sh, agent.sh], retries: 0}\n", roles{})
		s.write(t, "agent.sh", "case $SWITCHYARD_ROLE in\nexecutor) echo x >draft.txt ;;\ncritic) "+cmp.Or(report, "true")+" ;;\nesac\n")
		s.git(t, "add", "-A")
		s.git(t, "commit", "-q", "-m", "agent")
		s.ends(t, api.RunRequest{}, "stuck", "stuck-finding")
		spawns := s.events.of(api.RunAgent)
		if got := spawns[len(spawns)-1].Agent; string(got.Reason) != reason {
			t.Errorf("the critic ended with %s, and not %s", got.Reason, reason)
		}
	}
}
