package policies_test

import (
	"testing"

	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/policy/routing"
	"github.com/switchyard-dev/switchyard/policies"
)

func TestLockHoldsTheRealDigests(t *testing.T) {
	if err := (routing.Loader{Released: policies.Files()}).VerifyLock(t.Context()); err != nil {
		t.Fatalf("%v: %v", err, err.(*errs.Error).Details)
	}
}
