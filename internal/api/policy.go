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

// Adopted is the policy that a project adopted, and when.
type Adopted struct {
	Ref    string           `json:"ref"`
	Policy routing.Identity `json:"policy"`
	// Signer is the id of the key that signed it, "" for none.
	Signer string   `json:"signer,omitzero"`
	By     string   `json:"by"`
	At     string   `json:"at"`
	Event  EventRef `json:"event"`
}

// AdoptRequest names the policy that a project is to adopt.
type AdoptRequest struct {
	// Policy is a reference, "" for the configured policy.
	Policy string
	// AllowRollback lets an older policy follow a newer one.
	AllowRollback bool
	// DryRun only reports what would change.
	DryRun bool
}

// Adoption is the result of adopting a policy.
type Adoption struct {
	Policy routing.Identity `json:"policy"`
	// From is the policy adopted before, nil for none.
	From *routing.Identity `json:"from"`
	// State is that of the version in the project's workspace, "" if it is not there.
	State release.State `json:"state,omitzero"`
	// Changed says that the policy differs from the one before.
	Changed bool `json:"changed"`
	// Diff is the change in meaning, nil if the two could not be compared; Uncompared
	// then has the reason.
	Diff       *diff.Diff `json:"diff"`
	Uncompared string     `json:"uncompared,omitzero"`
	// Event is where it is recorded, nil if nothing was.
	Event *EventRef `json:"event"`
}

// MaxPolicyUses is how many policies of a task are listed. If there are more, the
// ones that decided last are.
const MaxPolicyUses = 16

// PolicyInventory lists the policies of a project.
type PolicyInventory struct {
	// Policies are the versions that are built in or in the project's workspace, oldest
	// first; then the configured and the adopted policy, if they are others.
	Policies []KnownPolicy `json:"policies"`
	// Configured is the policy that the configuration names, "" for none.
	Configured string `json:"configured"`
	// Adopted is the adopted policy, nil before the first decision.
	Adopted *Adopted `json:"adopted"`
}

// KnownPolicy is a policy of an inventory.
type KnownPolicy struct {
	// Ref is what --policy takes: a built-in version, or a path relative to the
	// project's root.
	Ref string `json:"ref"`
	// Policy is nil if its files cannot be loaded.
	Policy *routing.Identity `json:"policy"`
	Title  string            `json:"title,omitzero"`
	// State is "" if the policy is not a version of the workspace.
	State release.State `json:"state,omitzero"`
	// ADRStatus is that of its decision record, "" if the project has none.
	ADRStatus adr.Status `json:"adr_status,omitzero"`
	BuiltIn   bool       `json:"built_in"`
	// Stored says that the ledger's copy is in use, whatever the files at Ref hold by now.
	Stored bool `json:"kept"`
	// Folder is its folder in the workspace, relative to the project's root; "" if it
	// has none.
	Folder     string `json:"folder,omitzero"`
	Default    bool   `json:"default"`
	Configured bool   `json:"configured"`
	Adopted    bool   `json:"adopted"`
	// Problem is why it cannot be loaded, or not by the commands that decide.
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
	// Policies are references, "" for the active policy. All means every version that
	// is built in or in the workspace instead.
	Policies []string
	All      bool
	// AllowUnsigned accepts policies without a good signature, although the project
	// has keys.
	AllowUnsigned bool
	// Observe is called before each policy; it may be nil. It returns a function that
	// receives the progress, and one that is called at the end.
	Observe func(routing.Identity) (progress func(done, total int), end func())
}

// PolicyCheck is the result of checking one policy.
type PolicyCheck struct {
	// Ref is how the user can name the policy.
	Ref    string
	Report check.Report
}

// AnyAction stands for every next action in ReplayRequest.FailOn.
const AnyAction = "*"

// ReplayRequest says which decisions to replay.
type ReplayRequest struct {
	// Policy is the candidate.
	Policy *routing.Policy
	// Since skips decisions recorded earlier; the zero time skips none.
	Since time.Time
	// Through is the number in the ledger of the last event that counts, 0 for all.
	Through int64
	// Ledger is another ledger: a database, or the output of ledger export. A path
	// is relative to the user's folder. "" is the project's own.
	Ledger string
	// FailOn are the changes of decisions, from and to, that fail the replay. Each is
	// a next action, replay.Undecided or AnyAction.
	FailOn [][2]string
	// Progress receives the number of the latest replayed event, and that of the
	// ledger's last one, 0 if it is not known; it may be nil. The caller's goroutine
	// calls it.
	Progress func(done, total int64)
}

// The kinds of problems that are found in recorded decisions.
const (
	// ProblemRecord: the record of a decision cannot be read, or contradicts itself.
	ProblemRecord ledger.ProblemKind = "record"
	// ProblemPolicy: a decision names its policy by other attributes than the policy
	// has, or the stored copy of the policy was changed.
	ProblemPolicy ledger.ProblemKind = "policy"
	// ProblemRoute: the policy routes a category elsewhere than was recorded.
	ProblemRoute ledger.ProblemKind = "route"
	// ProblemDecision: the policy decides otherwise than was recorded.
	ProblemDecision ledger.ProblemKind = "decision"
)

// MaxDecisionProblems is how many problems, and how many lost policies, a
// DecisionsReport lists.
const MaxDecisionProblems = 1000

// DecisionsReport is the result of verifying recorded decisions.
type DecisionsReport struct {
	// Decisions is how many the ledger has.
	Decisions int64 `json:"decisions"`
	// Lost are the policies that are neither built in nor stored, in the order of their
	// first decision, at most MaxDecisionProblems of them. Their decisions cannot be
	// verified; Unchecked counts those.
	Lost      []replay.Used `json:"lost"`
	Unchecked int64         `json:"unchecked,omitzero"`
	// Problems are the signs of tampering, at most MaxDecisionProblems of them, in the
	// order of recording. Omitted counts the others.
	Problems []ledger.Problem `json:"problems"`
	Omitted  int64            `json:"omitted,omitzero"`
}

// Sound reports whether every decision was verified and is what its policy decides.
func (r DecisionsReport) Sound() bool { return len(r.Problems) == 0 && r.Unchecked == 0 }
