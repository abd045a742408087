package host

import (
	"context"
	"strings"

	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/policy/bundle"
	"github.com/switchyard-dev/switchyard/internal/project"
)

// maxKey is the largest file of a key, in bytes.
const maxKey = 64 << 10

// trust reads the project's keys; nil where it has none.
//
// # Errors
//
// policy-key-invalid for a key that is not there, and those of reading its
// file.
func (e *Engine) trust(ctx context.Context, t project.Trust) (*bundle.Trust, error) {
	if len(t.Keys) == 0 {
		return nil, nil
	}
	trust := &bundle.Trust{Now: e.now}
	for _, k := range t.Keys {
		material, err := e.keyMaterial(ctx, k)
		if err != nil {
			return nil, err
		}
		trust.Keys = append(trust.Keys, bundle.Key{ID: k.ID, Algorithm: k.Algorithm, Material: material, Scope: k.Scope})
	}
	return trust, nil
}

func (e *Engine) keyMaterial(ctx context.Context, k project.TrustKey) (string, error) {
	if k.Env != "" {
		for _, variable := range e.environ {
			if value, ok := strings.CutPrefix(variable, k.Env+"="); ok && value != "" {
				return value, nil
			}
		}
		return "", errs.New(errs.PolicyKeyInvalid, "key %s: the environment has no %s", k.ID, k.Env).With("key_id", k.ID)
	}
	text, err := e.rooted().Read(ctx, k.File, maxKey)
	if err != nil {
		return "", errs.New(errs.PolicyKeyInvalid, "key %s: %w", k.ID, err).With("key_id", k.ID)
	}
	return string(text), nil
}
