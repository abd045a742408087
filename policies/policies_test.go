package policies_test

import (
	"io/fs"
	"maps"
	"testing"

	"github.com/switchyard-dev/switchyard/internal/policy/routing"
	"github.com/switchyard-dev/switchyard/policies"
)

// A released version never changes.
func TestLockHasTheDigestsOfAllVersions(t *testing.T) {
	text, err := fs.ReadFile(policies.Files(), routing.LockFile)
	if err != nil {
		t.Fatal(err)
	}
	locked, err := routing.ParseLock(string(text))
	if err != nil {
		t.Fatal(err)
	}
	actual := make(map[string]string)
	for _, ref := range policies.Versions() {
		p, err := routing.Loader{Released: policies.Files()}.Load(t.Context(), ref)
		if err != nil {
			t.Fatal(err)
		}
		actual[p.String()] = p.Identity().Digest
	}
	if len(actual) == 0 || !maps.Equal(locked, actual) {
		t.Errorf("the lock has %v, the versions are %v", locked, actual)
	}
}
