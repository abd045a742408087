//go:build unix

package gate_test

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/switchyard-dev/switchyard/host/internal/gate"
	"github.com/switchyard-dev/switchyard/internal/api"
	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/evidence"
	"github.com/switchyard-dev/switchyard/internal/gitrepo"
	"github.com/switchyard-dev/switchyard/internal/ledger"
	"github.com/switchyard-dev/switchyard/internal/policy/routing"
	"github.com/switchyard-dev/switchyard/internal/supervise"
	"github.com/switchyard-dev/switchyard/internal/task"
)

// recorded is a source with fixed evidence. The policy "adopted" is always adopted.
type recorded struct {
	found evidence.Found
	err   error
}

func (r recorded) Find(context.Context, []string, string) (evidence.Found, error) {
	return r.found, r.err
}

func (recorded) AdoptedAt(context.Context, int64) (string, error) { return "adopted", nil }

// withPolicies is a source with fixed evidence and a chain of policies.
type withPolicies struct {
	recorded
	policies []ledger.Event
}

func (s withPolicies) AdoptedAt(ctx context.Context, seq int64) (string, error) {
	return gate.Proof{Statement: evidence.Statement{Policies: s.policies}}.AdoptedAt(ctx, seq)
}

// scene is a repository with two commits.
type scene struct {
	*testing.T
	dir       string
	repo      *gitrepo.Repo
	base, tip string
	baseTree  string
	tree      string // the tree of the tip
}

func newScene(t *testing.T) *scene {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not installed")
	}
	s := &scene{T: t, dir: t.TempDir()}
	s.git("init", "-q", "-b", "main")
	s.base = s.commit("a.txt", "one\n")
	s.tip = s.commit("b.txt", "two\n")
	s.baseTree, s.tree = s.git("rev-parse", s.base+"^{tree}"), s.git("rev-parse", s.tip+"^{tree}")
	s.repo = s.open(s.dir)
	return s
}

func (s *scene) open(dir string) *gitrepo.Repo {
	s.Helper()
	var repo *gitrepo.Repo
	keeper, err := supervise.New()
	if err == nil {
		repo, err = gitrepo.Open(s.Context(), dir, gitrepo.Options{Supervisor: keeper, Environ: os.Environ()})
	}
	if err != nil {
		s.Fatal(err)
	}
	return repo
}

func (s *scene) git(args ...string) string {
	s.Helper()
	cmd := exec.CommandContext(s.Context(), "git", append([]string{"-c", "user.name=a", "-c", "user.email=a@example.com"}, args...)...)
	cmd.Dir = s.dir
	out, err := cmd.CombinedOutput()
	if err != nil {
		s.Fatalf("git %v: %v: %s", args, err, out)
	}
	return strings.TrimSpace(string(out))
}

func (s *scene) commit(name, text string) string {
	s.Helper()
	if err := os.WriteFile(filepath.Join(s.dir, name), []byte(text), 0o600); err != nil {
		s.Fatal(err)
	}
	s.git("add", "-A")
	s.git("commit", "-q", "--allow-empty", "-m", name)
	return s.git("rev-parse", "HEAD")
}

// review is an approved review of the tip.
func (s *scene) review(changes ...func(*evidence.Review)) evidence.Review {
	r := evidence.Review{
		Task: "T", Round: 2, Seq: 7, Trees: []string{s.tree}, Base: s.base, Policy: routing.Identity{Name: "routing", Version: "1.3.0", Digest: "adopted"},
		Decision: routing.Decision{NextAction: "commit", Reason: "no-findings"}, Reviewed: true, Verify: "green",
	}
	for _, change := range changes {
		change(&r)
	}
	return r
}

func TestVerdicts(t *testing.T) {
	s := newScene(t)
	reviews := func(all ...evidence.Review) recorded { return recorded{found: evidence.Found{Reviews: all}} }
	executor := func(r *evidence.Review) { r.Decision = routing.Decision{NextAction: "executor", Reason: "routed"} }
	for name, c := range map[string]struct {
		source recorded
		want   string
		says   string
	}{
		"approved":                       {reviews(s.review()), api.GatePassed, "round 2 of task T reviewed exactly these files"},
		"nothing":                        {recorded{}, api.GateNotReviewed, "no review of exactly these files"},
		"other files":                    {reviews(s.review(func(r *evidence.Review) { r.Trees = []string{s.baseTree} })), api.GateNotReviewed, "no review of exactly these files"},
		"the files on disk":              {reviews(s.review(func(r *evidence.Review) { r.Trees = []string{s.baseTree, s.tree} })), api.GatePassed, ""},
		"red alone":                      {reviews(s.review(executor, func(r *evidence.Review) { r.Reviewed = false })), api.GateNotReviewed, "decided on a red verification alone"},
		"another decision":               {reviews(s.review(executor)), "executor", "decided executor (routed)"},
		"stuck":                          {reviews(s.review(func(r *evidence.Review) { r.Decision.NextAction = "stuck" })), "stuck", "decided stuck"},
		"an action named passed":         {reviews(s.review(func(r *evidence.Review) { r.Decision.NextAction = "passed" })), api.GateRefused, "which is an outcome of the gate"},
		"an action named not-reviewed":   {reviews(s.review(), s.review(func(r *evidence.Review) { r.Task, r.Seq, r.Decision.NextAction = "U", 9, "not-reviewed" })), api.GateRefused, "which is an outcome of the gate"},
		"the later one counts":           {reviews(s.review(), s.review(executor, func(r *evidence.Review) { r.Seq = 9 })), "executor", ""},
		"a later one of another task":    {reviews(s.review(), s.review(executor, func(r *evidence.Review) { r.Task, r.Seq = "U", 9 })), "executor", "task U"},
		"an earlier one of another task": {reviews(s.review(), s.review(executor, func(r *evidence.Review) { r.Task, r.Seq = "U", 5 })), api.GatePassed, "task T"},
		"a later one of a part":          {reviews(s.review(), s.review(func(r *evidence.Review) { r.Task, r.Seq, r.Base = "U", 9, s.tip })), api.GatePassed, "task T"},
		"a later one of a part by it":    {reviews(s.review(), s.review(func(r *evidence.Review) { r.Seq, r.Base = 9, s.tip })), api.GatePassed, "task T"},
		"a rejection before a part":      {reviews(s.review(), s.review(executor, func(r *evidence.Review) { r.Seq = 8 }), s.review(func(r *evidence.Review) { r.Seq, r.Base = 9, s.tip })), "executor", "task T"},
		"a later red one":                {reviews(s.review(), s.review(executor, func(r *evidence.Review) { r.Task, r.Seq, r.Reviewed = "U", 9, false })), api.GateNotReviewed, "task U decided on a red verification alone"},
		"a later forced one":             {reviews(s.review(), s.review(func(r *evidence.Review) { r.Task, r.Seq, r.Force = "U", 9, &task.Force{By: "ann", Reason: "x"} })), api.GateRefused, "task U was forced by ann"},
		"a later one of another policy":  {reviews(s.review(), s.review(func(r *evidence.Review) { r.Task, r.Seq, r.Policy.Digest = "U", 9, "sha256:other" })), api.GateRefused, "task U was decided by policy"},
		"forced":                         {reviews(s.review(func(r *evidence.Review) { r.Force = &task.Force{By: "ann", Reason: "in a hurry"} })), api.GateRefused, "forced by ann: in a hurry"},
		"another policy":                 {reviews(s.review(func(r *evidence.Review) { r.Policy.Digest = "sha256:other" })), api.GateRefused, "policy routing@1.3.0 (other), which the project had not adopted"},
		"an unknown base":                {reviews(s.review(func(r *evidence.Review) { r.Base = strings.Repeat("1", 40) })), api.GateNotReviewed, "not known here"},
		"no base":                        {reviews(s.review(func(r *evidence.Review) { r.Base = "" })), api.GateNotReviewed, "not known here"},
		"the same files before":          {reviews(s.review(func(r *evidence.Review) { r.Base = s.baseTree })), api.GatePassed, ""},
		"a part of it":                   {reviews(s.review(func(r *evidence.Review) { r.Base = s.tip })), api.GateNotReviewed, "which is not before"},
		"a changed record":               {recorded{err: errors.New("event 3 is forged")}, api.GateRefused, "the record was changed: event 3 is forged"},
		"a fast-forward":                 {recorded{found: evidence.Found{Merges: []evidence.Merge{{Task: "M", Commit: s.tip, Tip: s.tip, Into: "main"}}}}, api.GateNotReviewed, "no review of exactly these files"},
	} {
		got, err := gate.Gate{Repo: s.repo, Source: c.source}.Check(t.Context(), api.GateRequest{Commit: "HEAD"})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if got.Outcome != c.want || !strings.Contains(got.Reason, c.says) || (got.Outcome == api.GatePassed) != (len(got.Missing) == 0) {
			t.Errorf("%s: %+v, want %s and %q", name, got, c.want, c.says)
		}
	}
}

// A chain of policies that cannot be read is refused: it was changed.
func TestPoliciesThatCannotBeRead(t *testing.T) {
	s := newScene(t)
	for body, want := range map[string]string{
		`{"by":"ann","policy":{"digest":"adopted"}}`: api.GatePassed,
		`{"by":5,"policy":{"digest":"adopted"}}`:     api.GateRefused,
		`{"by":"ann","policy":[]}`:                   api.GateRefused,
		`[]`:                                         api.GateRefused,
	} {
		source := withPolicies{
			recorded: recorded{found: evidence.Found{Reviews: []evidence.Review{s.review()}}},
			policies: []ledger.Event{{Seq: 1, Task: evidence.PolicyChain, N: 1, Kind: "policy-adopted", Body: []byte(body)}},
		}
		got, err := gate.Gate{Repo: s.repo, Source: source}.Check(t.Context(), api.GateRequest{Commit: "HEAD"})
		if err != nil || got.Outcome != want || want == api.GateRefused && !strings.Contains(got.Reason, "the record was changed: event 1 of _policies cannot be read") {
			t.Errorf("%s: %+v, %v", body, got, err)
		}
	}
}

// A review that compared the files with an earlier commit counts only if the commits since
// then left every file alone that the commit changes.
func TestEarlierBase(t *testing.T) {
	s := newScene(t)
	s.git("update-index", "--chmod=+x", "b.txt")
	mode := s.git("commit-tree", "-p", s.tip, "-m", "m", s.git("write-tree"))
	s.git("reset", "-q", "--hard")
	from := s.commit("b.txt", "two, fixed\n\n\n\n\n\n\n\nend\n")
	other := s.commit("a.txt", "changed\n")
	s.git("reset", "-q", "--hard", s.tip)
	undoes := s.commit("b.txt", "two\n\n\n\n\n\n\n\nnew end\n") + "^{tree}"
	for name, c := range map[string]struct{ from, tree, want string }{
		"other files changed":             {from, other + "^{tree}", api.GatePassed},
		"it undoes a change of its file":  {from, undoes, api.GateNotReviewed},
		"it undoes a new mode":            {mode, undoes, api.GateNotReviewed},
		"it undoes a change of any file":  {other, from + "^{tree}", api.GateNotReviewed},
		"it is compared with that commit": {s.tip, undoes, api.GatePassed},
	} {
		tree := s.git("rev-parse", c.tree)
		commit := s.git("commit-tree", "-p", c.from, "-m", name, tree)
		source := recorded{found: evidence.Found{Reviews: []evidence.Review{s.review(func(r *evidence.Review) { r.Trees, r.Base = []string{tree}, s.tip })}}}
		got, err := gate.Gate{Repo: s.repo, Source: source}.Check(t.Context(), api.GateRequest{Commit: commit})
		if err != nil || got.Outcome != c.want {
			t.Errorf("%s: %+v, %v, want %s", name, got, err, c.want)
		}
	}
}

// TestMerges: the merge of a task passes for what the task's review covers, and for nothing
// else that came to the branch.
func TestMerges(t *testing.T) {
	s := newScene(t)
	evil := s.commit("evil.txt", "x\n")
	s.git("switch", "-q", "-c", "task", s.tip)
	tip := s.commit("task.txt", "x\n")
	s.git("switch", "-q", "main")
	s.git("merge", "-q", "--no-ff", "-m", "merge", "task")
	merge := s.git("rev-parse", "HEAD")
	ofTip := func(changes ...func(*evidence.Review)) evidence.Review {
		r := s.review(changes...)
		r.Trees = []string{s.git("rev-parse", tip+"^{tree}")}
		return r
	}
	fromTip := func(r *evidence.Review) { r.Base = s.tip }
	with := func(m evidence.Merge, reviews ...evidence.Review) recorded {
		m.Task, m.Into = "T", "main"
		return recorded{found: evidence.Found{Reviews: reviews, Merges: []evidence.Merge{m}}}
	}
	of := evidence.Merge{Commit: merge, Tip: tip}
	for name, c := range map[string]struct {
		req    api.GateRequest
		source recorded
		want   string
		says   string
	}{
		"reviewed":                      {api.GateRequest{Commit: merge}, with(of, ofTip(fromTip)), api.GatePassed, "it is the merge of task T into main"},
		"with the other commits":        {api.GateRequest{From: s.tip, To: merge}, with(of, ofTip(fromTip)), api.GateNotReviewed, "no review"},
		"not reviewed":                  {api.GateRequest{Commit: merge}, with(of), api.GateNotReviewed, "of what it brings no review"},
		"forced":                        {api.GateRequest{Commit: merge}, with(of, ofTip(fromTip, func(r *evidence.Review) { r.Force = &task.Force{By: "ann", Reason: "x"} })), api.GateRefused, "forced by ann"},
		"another policy":                {api.GateRequest{Commit: merge}, with(of, ofTip(fromTip, func(r *evidence.Review) { r.Policy.Digest = "sha256:other" })), api.GateRefused, "had not adopted"},
		"commits before the review":     {api.GateRequest{Commit: merge}, with(of, ofTip(func(r *evidence.Review) { r.Base = tip })), api.GateNotReviewed, "not the whole difference"},
		"a commit that is no merge":     {api.GateRequest{Commit: evil}, with(evidence.Merge{Commit: evil, Tip: tip}, ofTip(fromTip)), api.GateNotReviewed, "no review"},
		"a merge of other commits":      {api.GateRequest{Commit: merge}, with(evidence.Merge{Commit: merge, Tip: s.tip}, ofTip(fromTip)), api.GateNotReviewed, "no review"},
		"a range that ends with a task": {api.GateRequest{From: s.base, To: tip}, with(evidence.Merge{Commit: tip, Tip: tip}, ofTip(fromTip)), api.GateNotReviewed, "not the whole difference"},
	} {
		got, err := gate.Gate{Repo: s.repo, Source: c.source}.Check(t.Context(), c.req)
		if err != nil || got.Outcome != c.want || !strings.Contains(got.Reason, c.says) || (got.Outcome == api.GatePassed) != (len(got.Missing) == 0) {
			t.Errorf("%s: %+v, %v, want %s and %q", name, got, err, c.want, c.says)
		}
	}
}

// TestAMergeOfTwoCommits: a task that started over after its commit brings both of its commits,
// each with its own review.
func TestAMergeOfTwoCommits(t *testing.T) {
	s := newScene(t)
	s.commit("other.txt", "x\n")
	s.git("switch", "-q", "-c", "task", s.tip)
	first := s.commit("task.txt", "x\n")
	tip := s.commit("task.txt", "y\n")
	s.git("switch", "-q", "main")
	s.git("merge", "-q", "--no-ff", "-m", "merge", "task")
	of := func(commit, base string) evidence.Review {
		return s.review(func(r *evidence.Review) { r.Trees, r.Base = []string{s.git("rev-parse", commit+"^{tree}")}, base })
	}
	for want, reviews := range map[string][]evidence.Review{
		api.GatePassed:      {of(first, s.tip), of(tip, first)},
		api.GateNotReviewed: {of(tip, first)},
	} {
		merges := []evidence.Merge{{Task: "T", Commit: s.git("rev-parse", "HEAD"), Tip: tip, Into: "main"}}
		source := recorded{found: evidence.Found{Reviews: reviews, Merges: merges}}
		got, err := gate.Gate{Repo: s.repo, Source: source}.Check(t.Context(), api.GateRequest{Commit: "HEAD"})
		if err != nil || got.Outcome != want || (want == api.GatePassed) != (len(got.Missing) == 0) {
			t.Errorf("%+v, %v, want %s", got, err, want)
		}
	}
}

// TestMergesThatUndo: a merge passes by a review of its files if its difference with the first
// parent shows all in which it is not as git would merge.
func TestMergesThatUndo(t *testing.T) {
	s := newScene(t)
	first := s.commit("c.txt", "first\n")
	s.git("switch", "-q", "-c", "other", s.tip)
	s.commit("a.txt", "mended\n")
	other := s.commit("c.txt", "other\n")
	s.git("switch", "-q", "main")
	s.git("switch", "-q", "--orphan", "unrelated")
	unrelated := s.commit("d.txt", "x\n")
	s.git("switch", "-q", "main")
	tree := func(a, c string) string {
		s.commit("a.txt", a)
		s.commit("c.txt", c)
		defer s.git("reset", "-q", "--hard", first)
		return s.git("rev-parse", "HEAD^{tree}")
	}
	merge := func(tree string, others ...string) string {
		args := []string{"commit-tree", "-m", "merge", "-p", first}
		for _, other := range others {
			args = append(args, "-p", other)
		}
		return s.git(append(args, tree)...)
	}
	all := tree("mended\n", "both\n")
	for name, c := range map[string]struct{ commit, want, says string }{
		"all":                 {merge(all, other), api.GatePassed, "reviewed exactly these files"},
		"another resolution":  {merge(tree("mended\n", "other\n"), other), api.GatePassed, "reviewed exactly these files"},
		"a change of a.txt":   {merge(tree("changed\n", "both\n"), other), api.GatePassed, "reviewed exactly these files"},
		"without the mending": {merge(tree("one\n", "both\n"), other), api.GateNotReviewed, "merges " + other[:12] + ", but without its changes of a.txt"},
		"one side":            {merge(tree("mended\n", "first\n"), other), api.GateNotReviewed, "without its changes of c.txt"},
		"nothing of it":       {merge(s.git("rev-parse", first+"^{tree}"), other), api.GateNotReviewed, "without its changes of a.txt (and 1 more)"},
		"an octopus":          {merge(all, s.tip, other), api.GatePassed, "reviewed exactly these files"},
		"nothing of the last": {merge(s.git("rev-parse", first+"^{tree}"), s.tip, other), api.GateNotReviewed, "without its changes of a.txt"},
		"unrelated":           {merge(all, other, unrelated), api.GateNotReviewed, "merges " + unrelated[:12] + ", but without its changes of d.txt"},
	} {
		reviewed := s.review(func(r *evidence.Review) { r.Trees, r.Base = []string{s.git("rev-parse", c.commit+"^{tree}")}, first })
		g := gate.Gate{Repo: s.repo, Source: recorded{found: evidence.Found{Reviews: []evidence.Review{reviewed}}}}
		got, err := g.Check(t.Context(), api.GateRequest{Commit: c.commit})
		if err != nil || got.Outcome != c.want || !strings.Contains(got.Reason, c.says) {
			t.Errorf("%s: %+v, %v, want %s and %q", name, got, err, c.want, c.says)
		}
	}
}

// TestAShallowMerge: a clone without the commit at which the parents of a merge part does not
// say what the merge undoes.
func TestAShallowMerge(t *testing.T) {
	s := newScene(t)
	s.git("switch", "-q", "-c", "other", s.base)
	s.commit("other.txt", "x\n")
	s.git("switch", "-q", "main")
	s.commit("a.txt", "mended\n")
	s.git("merge", "-q", "--no-ff", "-m", "merge", "other")
	reviewed := s.review(func(r *evidence.Review) {
		r.Trees, r.Base = []string{s.git("rev-parse", "HEAD^{tree}")}, s.git("rev-parse", "HEAD~1")
	})
	for depth, want := range map[string]errs.Code{"2": errs.CommitShallow, "4": ""} {
		clone := filepath.Join(t.TempDir(), "clone")
		s.git("clone", "-q", "--depth", depth, "file://"+s.dir, clone)
		g := gate.Gate{Repo: s.open(clone), Source: recorded{found: evidence.Found{Reviews: []evidence.Review{reviewed}}}}
		got, err := g.Check(t.Context(), api.GateRequest{Commit: "HEAD"})
		if errs.CodeOf(err) != want || err == nil && got.Outcome != api.GatePassed {
			t.Errorf("depth %s: %+v, %v", depth, got, err)
		}
	}
}

// TestSeveralMergeBases: if two branches were merged into each other, a review of the whole
// from one of the commits at which they part does not show what it undoes of the other.
func TestSeveralMergeBases(t *testing.T) {
	s := newScene(t)
	s.git("switch", "-q", "-c", "task", s.base)
	begun := s.commit("task.txt", "x\n")
	s.git("switch", "-q", "main")
	s.git("merge", "-q", "--no-ff", "-m", "merge", "task")
	s.git("switch", "-q", "task")
	s.git("merge", "-q", "-s", "ours", "-m", "merge", s.tip)
	of := func(base string) evidence.Review {
		return s.review(func(r *evidence.Review) { r.Trees, r.Base = []string{s.git("rev-parse", "task^{tree}")}, base })
	}
	for want, bases := range map[string][][]string{
		api.GateNotReviewed: {{begun}, {s.tip}},
		api.GatePassed:      {{begun, s.tip}},
	} {
		for _, from := range bases {
			var reviews []evidence.Review
			for _, base := range from {
				reviews = append(reviews, of(base))
			}
			g := gate.Gate{Repo: s.repo, Source: recorded{found: evidence.Found{Reviews: reviews}}}
			got, err := g.Check(t.Context(), api.GateRequest{From: "main", To: "task"})
			if err != nil || got.Outcome != want {
				t.Errorf("reviews from %v: %+v, %v, want %s", from, got, err, want)
			}
		}
	}
}

// A source that cannot be read is no verdict.
func TestASourceThatFails(t *testing.T) {
	s := newScene(t)
	ctx, cancel := context.WithCancel(t.Context())
	g := gate.Gate{Repo: s.repo, Source: recorded{err: context.Canceled}}
	cancel()
	if got, err := g.Check(ctx, api.GateRequest{Commit: "HEAD"}); err == nil {
		t.Errorf("%+v", got)
	}
}
