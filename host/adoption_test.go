package host_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/switchyard-dev/switchyard/host"
	"github.com/switchyard-dev/switchyard/host/internal/policyset"
	"github.com/switchyard-dev/switchyard/host/internal/record"
	"github.com/switchyard-dev/switchyard/internal/api"
	"github.com/switchyard-dev/switchyard/internal/digest"
	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/ledger"
	"github.com/switchyard-dev/switchyard/internal/project"
	"github.com/switchyard-dev/switchyard/policies"
)

// withPolicy writes a project policy: routing 1.3.0 with some texts replaced.
func (s *summarized) withPolicy(dir string, replace ...string) {
	s.Helper()
	text, err := os.ReadFile(filepath.Join("..", "policies", "routing", "1.3.0", "routing.rego"))
	if err != nil {
		s.Fatal(err)
	}
	for i := 0; i < len(replace); i += 2 {
		if !strings.Contains(string(text), replace[i]) {
			s.Fatalf("routing.rego has no %q", replace[i])
		}
	}
	s.write(filepath.Join(dir, "routing.rego"), strings.NewReplacer(replace...).Replace(string(text)))
}

func (s *summarized) write(path, text string) {
	s.Helper()
	full := filepath.Join(s.root, path)
	if err := os.MkdirAll(filepath.Dir(full), 0o755); err != nil {
		s.Fatal(err)
	}
	if err := os.WriteFile(full, []byte(text), 0o644); err != nil {
		s.Fatal(err)
	}
}

func (s *summarized) adopted() *api.Adopted {
	s.Helper()
	a, err := s.Policies().Adopted(s.Context())
	if err != nil {
		s.Fatal(err)
	}
	return a
}

// styleToUser routes style to the user.
var styleToUser = []string{`"style": "executor"`, `"style": "askuser"`}

func TestFirstRoundAdoptsItsPolicy(t *testing.T) {
	s := newSummarized(t)
	if a := s.adopted(); a != nil {
		t.Fatalf("before the first decision %+v is adopted", a)
	}
	s.review("A", "style")
	a := s.adopted()
	if a == nil || a.Ref != policies.Default || a.By != "tess" || a.Policy.Version != "1.3.0" || a.Event.N != 2 {
		t.Fatalf("adopted is %+v", a)
	}
	s.review("B", "style")
	if again := s.adopted(); *again != *a {
		t.Errorf("the second round changed it to %+v", again)
	}
}

func TestAnotherPolicyNeedsAnAct(t *testing.T) {
	sequential(t)
	s := newSummarized(t)
	s.withPolicy("mine")
	s.write("switchyard.yaml", "policy: mine\n")
	s.review("A", "style")
	before := s.adopted()

	s.withPolicy("mine", styleToUser...)
	_, err := s.Review(t.Context(), "A", s.report("style"))
	if errs.CodeOf(err) != errs.PolicyChanged {
		t.Fatalf("an edited policy gives %v", err)
	}
	if d, err := s.Task(t.Context(), "A"); err != nil || d.Round != 2 {
		t.Errorf("the refused round left the task in round %d, %v", d.Round, err)
	}
	if _, err := s.Draft(t.Context(), "A", api.DraftRequest{Verify: host.VerifyRequest{ExitCode: new(int)}, Force: s.force}); errs.CodeOf(err) != errs.PolicyChanged {
		t.Errorf("a draft gives %v", err)
	}

	look, err := s.Policies().Adopt(t.Context(), api.AdoptRequest{DryRun: true})
	if err != nil || !look.Changed || look.Event != nil || look.Diff.Empty() {
		t.Errorf("a dry run gives %+v, %v", look, err)
	}
	if again := s.adopted(); *again != *before {
		t.Errorf("a dry run adopted %+v", again)
	}
	done, err := s.Policies().Adopt(t.Context(), api.AdoptRequest{})
	if err != nil || !done.Changed || done.Event == nil || done.From.Digest != before.Policy.Digest {
		t.Fatalf("adopting gives %+v, %v", done, err)
	}
	d, err := s.Review(t.Context(), "A", s.report("style"))
	if err != nil || d.NextAction != "askuser" {
		t.Errorf("after it the round goes to %s, %v", d.NextAction, err)
	}
	detail, err := s.Task(t.Context(), "A")
	if err != nil || len(detail.Policies) != 2 || detail.Policies[0].Policy.Digest != before.Policy.Digest ||
		detail.Policies[1].Policy.Digest != done.Policy.Digest || detail.Policies[1].FirstRound != 2 {
		t.Errorf("the task was decided by %+v, %v", detail.Policies, err)
	}
	if done, err := s.Policies().Adopt(t.Context(), api.AdoptRequest{}); err != nil || done.Changed || done.Event != nil {
		t.Errorf("adopting it once more gives %+v, %v", done, err)
	}
}

// TestNamedPolicyDecidesOnce checks that naming a policy counts for one decision only.
func TestNamedPolicyDecidesOnce(t *testing.T) {
	s := newSummarized(t)
	s.review("A", "over-engineering")
	req := s.report("over-engineering")
	req.Policy = "routing@1.0.0"
	d, err := s.Review(t.Context(), "B", req)
	if err != nil || d.Policy.Version != "1.0.0" || d.NextAction != "stuck" {
		t.Fatalf("%+v, %v", d.Policy, err)
	}
	if a := s.adopted(); a.Policy.Version != "1.3.0" {
		t.Errorf("it was adopted: %+v", a)
	}
	x, err := s.Explain(t.Context(), "B", 0)
	if err != nil || x.Why == nil || x.Why.Decision.Reason != "stuck-finding" {
		t.Errorf("it is explained by %+v, %v", x.Why, err)
	}
}

// TestAdoptedPolicyStaysTheDefault checks that a newer program's default does not replace
// the adopted policy.
func TestAdoptedPolicyStaysTheDefault(t *testing.T) {
	s := newSummarized(t)
	if _, err := s.Policies().Adopt(t.Context(), api.AdoptRequest{Policy: "routing@1.0.0"}); err != nil {
		t.Fatal(err)
	}
	d, err := s.Review(t.Context(), "A", s.report("over-engineering"))
	if err != nil || d.Policy.Version != "1.0.0" {
		t.Errorf("the round was decided by %+v, %v", d.Policy, err)
	}
	s.write("switchyard.yaml", "policy: routing@1.1.0\n")
	if _, err := s.Policies().Adopt(t.Context(), api.AdoptRequest{Policy: "routing@1.3.0"}); errs.CodeOf(err) != errs.PolicyNotConfigured {
		t.Errorf("adopting what the configuration does not name gives %v", err)
	}
}

// TestPoliciesAreStored checks that decisions can be explained after the policy's files
// are gone.
func TestPoliciesAreStored(t *testing.T) {
	s := newSummarized(t)
	s.withPolicy("mine", styleToUser...)
	s.write("switchyard.yaml", "policy: mine\n")
	s.review("A", "style")
	if err := os.RemoveAll(filepath.Join(s.root, "mine")); err != nil {
		t.Fatal(err)
	}
	x, err := s.Explain(t.Context(), "A", 0)
	if err != nil || x.Why == nil || x.Why.Decision.NextAction != "askuser" {
		t.Errorf("it is explained by %+v, %v", x.Why, err)
	}
	report, err := s.Verify(t.Context())
	if err != nil || !report.Sound() {
		t.Errorf("the ledger is %+v, %v", report.Problems, err)
	}
}

// TestFirstRoundsAtOnce checks that first rounds of many tasks adopt one policy once.
func TestFirstRoundsAtOnce(t *testing.T) {
	s := newSummarized(t)
	var rounds sync.WaitGroup
	for _, id := range strings.Split("ABCDEFGH", "") {
		rounds.Go(func() {
			if _, err := s.Review(t.Context(), id, s.report("style")); err != nil {
				t.Error(err)
			}
		})
	}
	rounds.Wait()
	if a := s.adopted(); a.Event.N != 2 {
		t.Errorf("adopted is %+v", a)
	}
	tasks, err := s.Tasks(t.Context())
	if err != nil || len(tasks) != 8 {
		t.Errorf("there are %d tasks, %v", len(tasks), err)
	}
}

// TestPolicyThatCannotBeComparedCanBeReplaced checks that a policy that cannot be compared with
// others can be replaced.
func TestPolicyThatCannotBeComparedCanBeReplaced(t *testing.T) {
	s := newSummarized(t)
	s.withPolicy("mine", `input.stalled_rounds >= 2`, `input.stalled_rounds >= 2
	count([n | some n in input.routes; n in {2, 4, 6, 8, 10, 12, 14, 16}]) >= 0`)
	s.write("switchyard.yaml", "policy: mine\n")
	s.review("A", "style")
	s.write("switchyard.yaml", "policy: routing@1.3.0\n")
	done, err := s.Policies().Adopt(t.Context(), api.AdoptRequest{})
	if err != nil || !done.Changed || done.Event == nil {
		t.Fatalf("adopting gives %+v, %v", done, err)
	}
	if done.Diff != nil || !strings.Contains(done.Uncompared, "classes") {
		t.Errorf("it was compared: %+v, %q", done.Diff, done.Uncompared)
	}
}

// TestPolicyThatCannotBeLoadedCanBeReplaced checks that a stored policy that this program
// refuses is not called tampered with.
func TestPolicyThatCannotBeLoadedCanBeReplaced(t *testing.T) {
	s := newSummarized(t)
	l, err := ledger.Open(t.Context(), filepath.Join(s.root, project.StateDir), record.Fold)
	if err != nil {
		t.Fatal(err)
	}
	const text = "package routing"
	id := fmt.Sprintf(`"ref": "old", "policy": {"name": "routing", "version": "0.9.0", "adr": "", "digest": %q}`, digest.Of(digest.Hex(text)+"\n"))
	for n, e := range []ledger.NewEvent{
		{Kind: "policy-kept", Body: fmt.Appendf(nil, `{%s, "sources": [{"name": "routing.rego", "text": %q}]}`, id, text)},
		{Kind: "policy-adopted", Body: fmt.Appendf(nil, `{%s}`, id)},
	} {
		if _, err := l.AppendAll(t.Context(), noon(), ledger.Batch{Task: policyset.Chain, After: int64(n), Events: []ledger.NewEvent{e}}); err != nil {
			t.Fatal(err)
		}
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Review(t.Context(), "A", s.report("style")); errs.CodeOf(err) != errs.PolicyInvalid {
		t.Errorf("a round gives %v", err)
	}
	done, err := s.Policies().Adopt(t.Context(), api.AdoptRequest{Policy: "routing@1.3.0"})
	if err != nil || done.Event == nil || done.Diff != nil || done.Uncompared == "" {
		t.Errorf("adopting gives %+v, %v", done, err)
	}
}
