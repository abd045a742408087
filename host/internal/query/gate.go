package query

import (
	"context"
	"io"

	"github.com/switchyard-dev/switchyard/host/internal/gate"
	"github.com/switchyard-dev/switchyard/internal/api"
	"github.com/switchyard-dev/switchyard/internal/evidence"
	"github.com/switchyard-dev/switchyard/internal/policy/bundle"
)

// Gate says whether a commit, the files of the checkout or a range were reviewed and
// approved, by the ledger or by a proof.
func (q *Reader) Gate(ctx context.Context, req api.GateRequest) (api.GateResult, error) {
	repo, err := q.project.Repository(ctx)
	if err != nil {
		return api.GateResult{}, err
	}
	if req.Proof == nil {
		l, err := q.project.OpenLedger(ctx)
		if err != nil {
			return api.GateResult{}, err
		}
		defer l.Close()
		return gate.Gate{Repo: repo, Source: gate.NewLedger(l)}.Check(ctx, req)
	}
	var key *bundle.Key
	if req.KeyFile != "" {
		k := evidence.Key(req.Algorithm, req.Key, req.KeyFile)
		key = &k
	}
	statement, err := evidence.ReadProof(req.Proof, key, q.project.Now)
	if err != nil {
		return api.GateResult{}, err
	}
	result, err := gate.Gate{Repo: repo, Source: gate.Proof{Statement: statement}}.Check(ctx, req)
	result.Signed, result.Unsigned = key != nil, key == nil
	return result, err
}

// Prove writes a proof of a task from the ledger, signed with key unless it is nil.
//
// # Errors
//
// task-not-found, and errors of the ledger and of evidence.Write.
func (q *Reader) Prove(ctx context.Context, id string, key *bundle.Key, w io.Writer) error {
	r, err := q.project.ReadTask(ctx, id)
	if err != nil {
		return err
	}
	defer r.Close()
	record, err := gate.NewLedger(r.Ledger).Record(ctx, id)
	if err != nil {
		return err
	}
	return evidence.Write(w, record, key)
}
