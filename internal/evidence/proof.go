package evidence

import (
	"fmt"
	"io"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/ledger"
	"github.com/switchyard-dev/switchyard/internal/policy/bundle"
	"github.com/switchyard-dev/switchyard/internal/task"
	"github.com/switchyard-dev/switchyard/internal/textutil"
)

// MaxProof is the maximum size of a proof, in bytes.
const MaxProof = 64 << 20

const format = "switchyard.proof.v1"

// Statement is the content of a proof.
type Statement struct {
	Format string `json:"format"`
	Task   string `json:"task"`
	// Head is the hash of the task's last event.
	Head string `json:"head"`
	// Events are the task's events from the first one on, and Policies the events of the
	// chain of policies.
	Events   []ledger.Event `json:"events"`
	Policies []ledger.Event `json:"policies"`
}

// Proof is a proof with its statement as the signed text or, decoded, as a Statement.
type Proof[S jsontext.Value | Statement] struct {
	Statement S `json:"statement"`
	// Signature signs the bytes of the statement, as .signatures.json of a bundle signs
	// files. It is nil for an unsigned proof.
	Signature jsontext.Value `json:"signature,omitzero"`
}

// The name of the signed statement, and the scope and the key id of its signature. A
// signature with another scope was made for another purpose.
const (
	statementName = "statement"
	scope         = "switchyard-proof"
	keyID         = "proof"
)

// Key returns a key for proofs from its PEM, which was read from file.
func Key(algorithm, material, file string) bundle.Key {
	return bundle.Key{ID: keyID, Algorithm: algorithm, Material: material, File: file, Scope: scope}
}

// verbatim keeps the text of bodies, because hashes and the signature cover their bytes.
var verbatim = json.JoinOptions(jsontext.AllowInvalidUTF8(true), jsontext.PreserveRawStrings(true))

// Write writes a proof, signed with key unless it is nil. The same statement and key give the
// same bytes.
//
// # Errors
//
// policy-key-invalid, ledger-tampered, file-too-large if it would have more than MaxProof bytes, and
// errors of w.
func Write(w io.Writer, r Statement, key *bundle.Key) error {
	r.Format = format
	text, err := json.Marshal(r, json.Deterministic(true), verbatim)
	if err != nil { // Only the body of an event can be no JSON.
		return errs.New(errs.LedgerTampered, "the events of task %s cannot be printed: %w", r.Task, err).With("task", r.Task)
	}
	f := Proof[jsontext.Value]{Statement: text}
	if key != nil {
		signed, err := bundle.Signing{Key: *key}.Sign([]bundle.File{{Name: statementName, Data: text}})
		if err != nil {
			return err
		}
		f.Signature = signed
	}
	proof, err := json.Marshal(f, verbatim)
	if err != nil {
		return err
	}
	proof = append(proof, '\n')
	if len(proof) > MaxProof {
		return errs.New(errs.FileTooLarge, "the proof of task %s has %d bytes, and gate reads at most %d", r.Task, len(proof), MaxProof).With("limit", MaxProof).
			WithHint("run switchyard gate where the ledger is, without --proof; or do the work in smaller tasks")
	}
	_, err = w.Write(proof)
	return err
}

// ReadProof reads a proof and checks its signature with a public key. A nil key accepts any
// proof, also one of an unknown author.
//
// # Errors
//
// proof-invalid, proof-unsigned, proof-signature-invalid, and policy-key-invalid.
func ReadProof(text []byte, key *bundle.Key, now func() time.Time) (Statement, error) {
	var f Proof[jsontext.Value]
	if err := json.Unmarshal(text, &f, json.RejectUnknownMembers(true), jsontext.AllowInvalidUTF8(true)); err != nil {
		return Statement{}, errInvalid("it cannot be read: %w", textutil.JSONReason(err))
	}
	if key != nil {
		if f.Signature == nil {
			return Statement{}, errs.New(errs.ProofUnsigned, "the proof is not signed")
		}
		trust := &bundle.Trust{Keys: []bundle.Key{*key}, Now: now}
		if err := trust.Check(); err != nil {
			return Statement{}, err
		}
		if err := trust.Verify([]bundle.File{{Name: statementName, Data: f.Statement}}, f.Signature); err != nil {
			return Statement{}, errs.New(errs.ProofSignatureInvalid, "the proof is not signed by this key, or was changed since").Because(err)
		}
	}
	var r Statement
	if err := json.Unmarshal(f.Statement, &r, json.RejectUnknownMembers(true), jsontext.AllowInvalidUTF8(true)); err != nil {
		return Statement{}, errInvalid("its statement cannot be read: %w", textutil.JSONReason(err))
	}
	switch {
	case r.Format != format:
		return Statement{}, errInvalid("its form is %.80q and not %s", r.Format, format)
	case task.CheckID(r.Task) != nil || len(r.Events) == 0:
		return Statement{}, errInvalid("it has no events of a task")
	}
	for _, c := range []struct {
		name   string
		events []ledger.Event
	}{{r.Task, r.Events}, {PolicyChain, r.Policies}} {
		chain := newChain(c.name)
		for _, e := range c.events {
			if err := chain.follow(e); err != nil {
				return Statement{}, errInvalid("%w", err)
			}
		}
	}
	if last := r.Events[len(r.Events)-1]; last.Hash != r.Head {
		return Statement{}, errInvalid("it was cut: its last event is number %d, which is not its head", last.N)
	}
	return r, nil
}

// PolicyChain is the name of the chain of policies.
const PolicyChain = "_policies"

func errInvalid(cause string, args ...any) error {
	return errs.New(errs.ProofInvalid, "the proof is not valid: %w", fmt.Errorf(cause, args...))
}
