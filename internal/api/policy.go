package api

import (
	"time"

	"github.com/switchyard-dev/switchyard/internal/ledger"
	"github.com/switchyard-dev/switchyard/internal/policy/adr"
	"github.com/switchyard-dev/switchyard/internal/policy/check"
	"github.com/switchyard-dev/switchyard/internal/policy/diff"
	"github.com/switchyard-dev/switchyard/internal/policy/release"
	"github.com/switchyard-dev/switchyard/internal/policy/replay"
	"github.com/switchyard-dev/switchyard/internal/policy/routing"
)

// Adopted is the policy that a project adopted, with the time.
type Adopted struct {
	Ref    string           `json:"ref"`
	Policy routing.Identity `json:"policy"`
	// Signer is the id of the key that signed it, or "".
	Signer string   `json:"signer,omitzero"`
	By     string   `json:"by"`
	At     string   `json:"at"`
	Event  EventRef `json:"event"`
}

// AdoptRequest names the policy to adopt.
type AdoptRequest struct {
	// Policy is a reference, "" for the configured policy.
	Policy string
	// AllowRollback allows adopting an older policy than the adopted one.
	AllowRollback bool
	// DryRun reports the changes without recording them.
	DryRun bool
}

// Adoption is the result of adopting a policy.
type Adoption struct {
	Policy routing.Identity `json:"policy"`
	// From is the previously adopted policy, or nil.
	From *routing.Identity `json:"from"`
	// State is the state of the version in the project's workspace, "" if it is not there.
	State release.State `json:"state,omitzero"`
	// Changed reports whether the policy differs from the previous one.
	Changed bool `json:"changed"`
	// Diff is the change of meaning, nil if the policies could not be compared; Uncompared
	// then has the reason.
	Diff       *diff.Diff `json:"diff"`
	Uncompared string     `json:"uncompared,omitzero"`
	// Event is the event of the adoption, or nil if the adoption was not recorded.
	Event *EventRef `json:"event"`
}

// MaxPolicyUses is the number of policies listed per task. If there are more, the ones that
// decided last are listed.
const MaxPolicyUses = 16

// PolicyInventory lists the policies of a project.
type PolicyInventory struct {
	// Policies are the versions that are built in or in the project's workspace, oldest
	// first; then the configured and the adopted policy if they are not among them.
	Policies []KnownPolicy `json:"policies"`
	// Configured is the policy that the configuration names, or "".
	Configured string `json:"configured"`
	// Adopted is the adopted policy, nil before the first decision.
	Adopted *Adopted `json:"adopted"`
}

// KnownPolicy is a policy of an inventory.
type KnownPolicy struct {
	// Ref is a value for --policy: a built-in version, or a path relative to the project's
	// root.
	Ref string `json:"ref"`
	// Policy is nil if its files cannot be loaded.
	Policy *routing.Identity `json:"policy"`
	Title  string            `json:"title,omitzero"`
	// State is "" if the policy is not a version of the workspace.
	State release.State `json:"state,omitzero"`
	// ADRStatus is the status of its decision record, or "" without a record.
	ADRStatus adr.Status `json:"adr_status,omitzero"`
	BuiltIn   bool       `json:"built_in"`
	// Stored reports whether the ledger's copy is used, regardless of the files at Ref.
	Stored bool `json:"kept"`
	// Folder is its directory in the workspace, relative to the project's root, or "".
	Folder     string `json:"folder,omitzero"`
	Default    bool   `json:"default"`
	Configured bool   `json:"configured"`
	Adopted    bool   `json:"adopted"`
	// Problem says why it cannot be loaded, or why commands that decide cannot load it.
	Problem string `json:"problem,omitzero"`
}

// TestedPolicy is a policy with its tests.
type TestedPolicy struct {
	*routing.Policy
	// Files are its modules and its tests, under names that the user can open. A
	// bundle has no tests.
	Files []routing.Source
}

// CheckRequest names the policies to check against the invariants.
type CheckRequest struct {
	// Policies are references, "" for the active policy. If All is set, every version that
	// is built in or in the workspace is checked instead.
	Policies []string
	All      bool
	// AllowUnsigned accepts policies without a valid signature although the project has
	// keys.
	AllowUnsigned bool
	// Observe is called before each policy; it may be nil. It returns a function that
	// receives the progress, and one that is called at the end.
	Observe func(routing.Identity) (progress func(done, total int), end func())
}

// PolicyChecks is the result of checking policies against the invariants.
type PolicyChecks struct {
	// Proven reports whether every policy satisfies all invariants that its decision record
	// does not waive.
	Proven  bool           `json:"proven"`
	Reports []check.Report `json:"reports"`
	// Counterexample is the simplest input that violates an invariant, or nil.
	Counterexample *Counterexample `json:"counterexample,omitzero"`
}

// Counterexample is an input that violates an invariant.
type Counterexample struct {
	// Policy is a reference that the user can give for the policy.
	Policy    string          `json:"policy"`
	Invariant check.Invariant `json:"invariant"`
	Input     routing.Input   `json:"input"`
	// File contains the input, "" if it was not written.
	File string `json:"file,omitzero"`
}

// AnyAction stands for every next action in ReplayRequest.FailOn.
const AnyAction = "*"

// ReplayRequest selects the decisions to replay.
type ReplayRequest struct {
	// Policy is the candidate policy.
	Policy *routing.Policy
	// Since skips earlier decisions, unless it is the zero time.
	Since time.Time
	// Through is the number in the ledger of the last event to include, 0 for all.
	Through int64
	// Ledger is another ledger: a database, or the output of ledger export. A path is
	// relative to the user's current directory. "" means the project's ledger.
	Ledger string
	// PlayOn also follows each task by the candidate's decisions.
	PlayOn bool
	// FailOn are the changed decisions, from and to, that fail the replay. Each side is a
	// next action, routing.Undecided or AnyAction.
	FailOn [][2]string
	// Progress receives the number of the latest replayed event, and the number of the
	// ledger's last event, 0 if unknown. It may be nil, and is called in the caller's
	// goroutine.
	Progress func(done, total int64)
}

// Kinds of problems in recorded decisions.
const (
	// ProblemRecord means that the record of a decision is unreadable or contradicts
	// itself.
	ProblemRecord ledger.ProblemKind = "record"
	// ProblemPolicy means that a decision describes its policy wrongly, or that the stored
	// copy of the policy was changed.
	ProblemPolicy ledger.ProblemKind = "policy"
	// ProblemRoute means that the policy routes a category to another destination.
	ProblemRoute ledger.ProblemKind = "route"
	// ProblemDecision means that the policy makes another decision.
	ProblemDecision ledger.ProblemKind = "decision"
)

// MaxDecisionProblems is the maximum number of problems, and of lost policies, that a
// DecisionsReport lists.
const MaxDecisionProblems = 1000

// DecisionsReport is the result of verifying recorded decisions.
type DecisionsReport struct {
	// Decisions is the number of decisions in the ledger.
	Decisions int64 `json:"decisions"`
	// Lost are the policies that are neither built in nor stored, or that this program
	// refuses, in the order of their first decision, at most MaxDecisionProblems. Their
	// decisions cannot be verified; Unchecked counts them.
	Lost      []replay.Used `json:"lost"`
	Unchecked int64         `json:"unchecked,omitzero"`
	// Problems are the signs of tampering in the order of recording, at most
	// MaxDecisionProblems. Omitted counts the others.
	Problems []ledger.Problem `json:"problems"`
	Omitted  int64            `json:"omitted,omitzero"`
}

// Sound reports whether every decision was verified and matches its policy.
func (r DecisionsReport) Sound() bool { return len(r.Problems) == 0 && r.Unchecked == 0 }
