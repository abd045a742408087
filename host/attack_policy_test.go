package host_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"database/sql"
	"encoding/pem"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	_ "modernc.org/sqlite" // to edit a ledger as an attacker would

	"github.com/switchyard-dev/switchyard/host"
	"github.com/switchyard-dev/switchyard/internal/api"
	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/ledger"
	"github.com/switchyard-dev/switchyard/internal/policy/bundle"
	"github.com/switchyard-dev/switchyard/internal/policy/routing"
	"github.com/switchyard-dev/switchyard/internal/project"
	"github.com/switchyard-dev/switchyard/plugins"
	"github.com/switchyard-dev/switchyard/policies"
)

// key creates a key pair, writes the public key to a project file and returns the private
// key.
func (s *summarized) key(file string) string {
	s.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		s.Fatal(err)
	}
	public, err := x509.MarshalPKIXPublicKey(&private.PublicKey)
	if err != nil {
		s.Fatal(err)
	}
	secret, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		s.Fatal(err)
	}
	s.write(file, string(pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: public})))
	return string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: secret}))
}

// trust configures a key that policies must be signed with.
func (s *summarized) trust(id, file string) {
	s.Helper()
	s.write("switchyard.yaml", fmt.Sprintf("policy_trust:\n  keys:\n    - {id: %s, algorithm: ES256, file: %s}\n", id, file))
}

// signed packs the policy of a directory and signs it.
func (s *summarized) signed(dir, file, id, key string) {
	s.Helper()
	p, err := policies.Load(s.Context(), filepath.Join(s.root, dir))
	if err != nil {
		s.Fatal(err)
	}
	packed, err := p.Pack(s.Context(), routing.PackOptions{Sign: &bundle.Signing{Key: bundle.Key{ID: id, Algorithm: "ES256", Material: key}}})
	if err != nil {
		s.Fatal(err)
	}
	s.write(file, string(packed))
}

func (s *summarized) adopt(ref string) api.Adoption {
	s.Helper()
	a, err := s.Policies().Adopt(s.Context(), api.AdoptRequest{Policy: ref})
	if err != nil {
		s.Fatal(err)
	}
	return a
}

// TestKeysHoldForTheAdoptedPolicy checks that keys also apply to a policy adopted before
// them: the ledger's unsigned copy must not decide.
func TestKeysHoldForTheAdoptedPolicy(t *testing.T) {
	sequential(t)
	s := newSummarized(t)
	s.withPolicy("mine", styleToUser...)
	s.adopt("mine")
	s.review("A", "style")
	key := s.key("key.pem")
	s.trust("k", "key.pem")

	if _, err := s.Review(t.Context(), "B", s.report("style")); errs.CodeOf(err) != errs.PolicyUnsigned {
		t.Errorf("a round by what nobody signed gives %v", err)
	}
	failed := 1
	draft := api.DraftRequest{Verify: host.VerifyRequest{ExitCode: &failed}, Force: s.force}
	if _, err := s.Draft(t.Context(), "B", draft); errs.CodeOf(err) != errs.PolicyUnsigned {
		t.Errorf("a red draft gives %v", err)
	}
	if _, err := s.Policies().Load(t.Context(), "", false); errs.CodeOf(err) != errs.PolicyUnsigned {
		t.Errorf("looking at it gives %v", err)
	}
	if p, err := s.Policies().Load(t.Context(), "", true); err != nil || p.Identity() != s.adopted().Policy {
		t.Errorf("its authors see %v, %v", p, err)
	}
	if _, err := s.Task(t.Context(), "B"); errs.CodeOf(err) != errs.TaskNotFound {
		t.Errorf("a refused round leaves %v", err)
	}
	// Its earlier decisions can still be explained and checked.
	if x, err := s.Explain(t.Context(), "A", 0); err != nil || x.Why == nil {
		t.Errorf("it is explained by %+v, %v", x.Why, err)
	}
	if report, err := s.Policies().VerifyDecisions(t.Context(), nil); err != nil || !report.Sound() {
		t.Errorf("verifying gives %+v, %v", report, err)
	}

	// A signed policy decides again, as long as the key is trusted and the bundle is
	// unchanged.
	s.signed("mine", "mine.tar.gz", "k", key)
	if a := s.adopt("mine.tar.gz"); a.Changed || a.Event == nil {
		t.Errorf("the same policy in a bundle is another, or not recorded: %+v", a)
	}
	if a := s.adopt("mine.tar.gz"); a.Event != nil {
		t.Errorf("adopting it again is recorded: %+v", a)
	}
	s.review("B", "style")
	s.withPolicy("other", append(styleToUser, `"missing-test": "executor"`, `"missing-test": "askuser"`)...)
	s.signed("other", "other.tar.gz", "k", key)
	s.adopt("other.tar.gz")
	d, err := s.Review(t.Context(), "C", s.report("missing-test"))
	if err != nil || d.NextAction != "askuser" {
		t.Errorf("the signed policy sends it to %s, %v", d.NextAction, err)
	}
	s.signed("mine", "other.tar.gz", "k", key)
	if _, err := s.Review(t.Context(), "D", s.report("style")); errs.CodeOf(err) != errs.PolicyChanged {
		t.Errorf("another signed policy in its place gives %v", err)
	}
	s.signed("other", "other.tar.gz", "k", key)
	s.key("new.pem")
	s.trust("n", "new.pem")
	if _, err := s.Review(t.Context(), "D", s.report("style")); errs.CodeOf(err) != errs.PolicyKeyUnknown {
		t.Errorf("a key that is trusted no more gives %v", err)
	}
	if err := os.Remove(filepath.Join(s.root, "other.tar.gz")); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Review(t.Context(), "D", s.report("style")); errs.CodeOf(err) != errs.PolicyNotFound {
		t.Errorf("a bundle that is gone gives %v", err)
	}
}

// TestAdoptedVersionNeedsNoKey checks that an adopted older built-in version needs no
// signature.
func TestAdoptedVersionNeedsNoKey(t *testing.T) {
	s := newSummarized(t)
	s.adopt("routing@1.0.0")
	s.key("key.pem")
	s.trust("k", "key.pem")
	d, err := s.Review(t.Context(), "A", s.report("style"))
	if err != nil || d.Policy.Version != "1.0.0" {
		t.Errorf("the round was decided by %+v, %v", d.Policy, err)
	}
}

// TestPolicyWithANameThatIsNotUTF8 checks that a path of any bytes is recorded as valid
// text.
func TestPolicyWithANameThatIsNotUTF8(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skipf("skipped: file names of %s are text", runtime.GOOS)
	}
	s := newSummarized(t)
	s.withPolicy("mine\xff", styleToUser...)
	a := s.adopt("mine\xff")
	if got := s.adopted(); got.Ref != "mine\ufffd" {
		t.Errorf("it is recorded as %q", got.Ref)
	}
	d, err := s.Review(t.Context(), "A", s.report("style"))
	if err != nil || d.NextAction != "askuser" || d.Policy != a.Policy {
		t.Errorf("it decides %+v, %v", d, err)
	}
	if err := os.RemoveAll(filepath.Join(s.root, "mine\xff")); err != nil {
		t.Fatal(err)
	}
	if report, err := s.Policies().VerifyDecisions(t.Context(), nil); err != nil || !report.Sound() {
		t.Errorf("verifying gives %+v, %v", report, err)
	}
}

// TestReferencesAreRecordedFromTheRoot checks that references are recorded relative to the
// project's root.
func TestReferencesAreRecordedFromTheRoot(t *testing.T) {
	sequential(t)
	s := newSummarized(t)
	s.withPolicy("mine", styleToUser...)
	s.withPolicy("a@b", `"style": "executor"`, `"style": "researcher"`)
	outside := t.TempDir()
	if err := os.CopyFS(filepath.Join(outside, "theirs"), os.DirFS(filepath.Join(s.root, "mine"))); err != nil {
		t.Fatal(err)
	}
	s.write("sub/x", "")
	e := host.New(host.Options{
		Project: project.Project{Root: s.root, Dir: filepath.Join(s.root, "sub")}, Plugins: plugins.Config{}, Now: noon, By: "tess",
		Warn: func(err error) { t.Error(err) },
	})
	t.Cleanup(func() {
		if err := e.Close(t.Context()); err != nil {
			t.Error(err)
		}
	})
	for _, c := range []struct{ given, want string }{
		{filepath.Join("..", "a@b"), "./a@b"},
		{filepath.Join("..", "mine"), "mine"},
		{"routing@1.1.0", "routing@1.1.0"},
		{filepath.Join(s.root, "mine"), "mine"},
		{"routing@1.2.0", "routing@1.2.0"},
		{filepath.Join(outside, "theirs"), filepath.Join(outside, "theirs")},
	} {
		if _, err := e.Policies().Adopt(t.Context(), api.AdoptRequest{Policy: c.given}); err != nil {
			t.Fatal(err)
		}
		if got := s.adopted(); got.Ref != c.want {
			t.Errorf("%s is recorded as %s, want %s", c.given, got.Ref, c.want)
		}
	}
}

// TestVeryManyPoliciesOfATask checks that a task lists the policies that decided last,
// each with all of its decisions.
func TestVeryManyPoliciesOfATask(t *testing.T) {
	sequential(t)
	s := newSummarized(t)
	round := func(extra int) {
		t.Helper()
		dir := fmt.Sprintf("p%d", extra)
		s.withPolicy(dir, `"style": "executor"`, fmt.Sprintf(`"style": "executor", "extra-%d": "executor"`, extra))
		req := s.report("style", fmt.Sprintf("extra-%d", extra))
		req.Policy, req.MaxRounds = dir, 100
		if _, err := s.Review(t.Context(), "A", req); err != nil {
			t.Fatal(err)
		}
	}
	// The first policy decides every other round, 20 others one each.
	for i := 1; i <= 20; i++ {
		round(0)
		round(i)
	}
	detail, err := s.Task(t.Context(), "A")
	if err != nil {
		t.Fatal(err)
	}
	uses := detail.Policies
	if len(uses) != 16 || uses[0].Decisions != 20 || uses[0].FirstRound != 1 || uses[0].LastRound != 39 {
		t.Fatalf("%d policies are named, the first %+v", len(uses), uses[0])
	}
	for i, u := range uses[1:] {
		// Those of the rounds 12, 14, ... 40.
		if want := 12 + 2*i; u.Decisions != 1 || u.FirstRound != want || u.LastRound != want {
			t.Errorf("number %d is %+v, want that of round %d", i+1, u, want)
		}
	}
}

// TestEditedAdoptionIsDetected checks that the chain reveals an edited adoption, also
// after the next adoption has rewritten the state.
func TestEditedAdoptionIsDetected(t *testing.T) {
	sequential(t)
	s := newSummarized(t)
	s.adopt("routing@1.0.0")
	s.adopt("routing@1.1.0")
	db, err := sql.Open("sqlite", filepath.Join(s.root, ".switchyard", "ledger.db"))
	if err != nil {
		t.Fatal(err)
	}
	was, now := s.adopted().Policy, policyOf(t, "routing@1.0.0")
	result, err := db.Exec(`UPDATE tasks SET state = replace(replace(state, ?, ?), '1.1.0', '1.0.0') WHERE task = '_policies'`, was.Digest, now.Digest)
	if err != nil {
		t.Fatal(err)
	}
	if n, err := result.RowsAffected(); err != nil || n != 1 {
		t.Fatalf("%d rows, %v", n, err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	if got := s.adopted().Policy.Digest; got != now.Digest {
		t.Fatalf("the attack did not work: %s is adopted", got)
	}
	s.adopt(policies.Default)
	report, err := s.Verify(t.Context())
	if err != nil || report.Sound() {
		t.Fatalf("the ledger is sound: %+v, %v", report, err)
	}
	for _, p := range report.Problems {
		if p.Task != "_policies" || p.Kind != ledger.ProblemFold || !strings.Contains(p.Message, "adopted to replace") {
			t.Errorf("it tells %+v", p)
		}
	}
}

func policyOf(t *testing.T, ref string) policies.Identity {
	t.Helper()
	p, err := policies.Load(t.Context(), ref)
	if err != nil {
		t.Fatal(err)
	}
	return p.Identity()
}

// TestAdoptionWithUnrelatedFilesInTheWorkspace checks that unrelated files in place of the workspace do
// not prevent an adoption.
func TestAdoptionWithUnrelatedFilesInTheWorkspace(t *testing.T) {
	for name, spoil := range map[string]func(s *summarized){
		"a file":            func(s *summarized) { s.write("policies/routing", "") },
		"a lock of its own": func(s *summarized) { s.write("policies/versions.lock/x", ""); s.write("policies/routing/1.0.0/x", "") },
		"a link that leads out": func(s *summarized) {
			if err := os.Symlink(t.TempDir(), filepath.Join(s.root, "policies")); err != nil {
				s.Skipf("skipped: %v", err)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := newSummarized(t)
			spoil(s)
			if a := s.adopt("routing@1.1.0"); !a.Changed || a.State != "" {
				t.Errorf("got %+v", a)
			}
		})
	}
}
