package api

import "github.com/switchyard-dev/switchyard/internal/policy/routing"

// GateRequest selects the files that must have been reviewed by one of Commit, Tree, and
// From with To.
type GateRequest struct {
	// Commit is a revision.
	Commit string
	// Tree selects the files of the checkout, as git would commit them.
	Tree bool
	// From and To are the revisions of a range: the commits that To has and From does not.
	From, To string
	// Proof is the text of a proof to use in place of the ledger, or nil.
	Proof []byte
	// KeyFile is the file of the public key that must have signed the proof, or "" to accept
	// every proof. Key is its content in PEM, and Algorithm is ES256, EdDSA or RS256.
	KeyFile, Key, Algorithm string
}

// The outcomes of a gate. Any other outcome is the next action of the decision about the
// tree.
const (
	GatePassed      = "passed"
	GateNotReviewed = "not-reviewed"
	GateRefused     = "refused"
)

// GateResult says whether the files of a GateRequest were reviewed and approved.
type GateResult struct {
	GateVerdict
	// Commits are the verdicts on each commit of a range that no single review covers.
	Commits []GateVerdict `json:"commits,omitzero"`
	// Signed is set if a proof was used and its signature was checked, Unsigned if it was
	// used without a check.
	Signed   bool `json:"signed,omitzero"`
	Unsigned bool `json:"unsigned,omitzero"`
}

// GateVerdict says whether files were reviewed and approved.
type GateVerdict struct {
	Outcome string `json:"outcome"`
	// Commit is "" for the files of a checkout. Tree is the tree of the files, and From the
	// commit or tree that they are compared with.
	Commit string `json:"commit,omitzero"`
	Tree   string `json:"tree"`
	From   string `json:"from"`
	// Reason explains the outcome in a sentence. Missing lists the evidence that a pass
	// lacks.
	Reason  string   `json:"reason"`
	Missing []string `json:"missing"`
	// Review is the decision that Outcome follows from, or nil. Merge is the task that
	// recorded the commit as its merge, or "".
	Review *GateReview `json:"review,omitzero"`
	Merge  string      `json:"merge,omitzero"`
}

// GateReview is a decision about a tree.
type GateReview struct {
	Task  string   `json:"task"`
	Round int      `json:"round"`
	At    string   `json:"at"`
	Event EventRef `json:"event"`
	// Base is the commit that the review compared the tree with.
	Base string `json:"base"`
	routing.Decision
	Policy routing.Identity `json:"policy"`
	Verify string           `json:"verify"`
}
