package release_test

import (
	"maps"
	"testing"

	"github.com/switchyard-dev/switchyard/host/fault"
	"github.com/switchyard-dev/switchyard/policies"
	"github.com/switchyard-dev/switchyard/policies/adr"
	"github.com/switchyard-dev/switchyard/policies/release"
)

func TestVersions(t *testing.T) {
	f := released(t)
	f.replace(t, first+"routing.rego", "# title: Small", "# title: Little")
	f.replace(t, typoRecord, "accepted", "superseded")
	f["policies/routing/0.3.0/routing.rego"] = small
	f["policies/routing/0.10.0/routing.rego"] = "package"
	all, err := plant(t, f).Versions(t.Context())
	if err != nil || len(all) != 4 {
		t.Fatalf("%+v, %v", all, err)
	}
	for i, want := range []release.Listed{
		{Folder: "policies/routing/0.1.0", State: release.StateEdited, ADRStatus: adr.Accepted},
		{Folder: "policies/routing/0.2.0", State: release.StateReleased, ADRStatus: adr.Superseded},
		{Folder: "policies/routing/0.3.0", State: release.StateDraft}, // its METADATA still says 0.1.0
		{Folder: "policies/routing/0.10.0", State: release.StateDraft},
	} {
		got := all[i]
		if got.Folder != want.Folder || got.State != want.State || got.ADRStatus != want.ADRStatus {
			t.Errorf("%+v, want %+v", got, want)
		}
		if broken := i == 3; (got.Policy == nil) != broken || (fault.CodeOf(got.Err) == policies.CodeInvalid) != broken {
			t.Errorf("%+v", got)
		}
	}
	empty := release.Tree{Root: t.TempDir()}
	if all, err := empty.Versions(t.Context()); err != nil || len(all) != 0 {
		t.Errorf("a tree that is not there: %+v, %v", all, err)
	}
	f = maps.Clone(released(t))
	delete(f, lockFile)
	all, err = plant(t, f).Versions(t.Context())
	if err != nil || len(all) != 2 || all[0].State != release.StateDraft {
		t.Errorf("without a lock: %+v, %v", all, err)
	}
}
