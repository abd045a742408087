package release_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/policy/adr"
	"github.com/switchyard-dev/switchyard/internal/policy/release"
	"github.com/switchyard-dev/switchyard/policies"
)

func TestVersionsOfATreeAsTheyStand(t *testing.T) {
	all := files{
		"policies/routing/1.10.0/routing.rego": "package switchyard.routing\n\ndecision :=\n",
		"docs/adr/0001-other.md":               "---\nstatus: accepted\ndate: 2026-11-21\npolicy: routing@1.2.0\n---\n\n# ADR-0001: About another version\n",
		"docs/adr/0003-one.md":                 "---\nstatus: proposed\ndate: 2026-11-21\npolicy: routing@1.2.0\nsupersedes: routing@1.1.0\n---\n\n# ADR-0003: One\n",
	}
	lock := ""
	for _, version := range []string{"1.0.0", "1.1.0", "1.2.0"} {
		p, err := policies.Load(t.Context(), "routing@"+version)
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range p.Sources() {
			all["policies/routing/"+version+"/"+s.Name] = s.Text
		}
		switch version {
		case "1.0.0":
			lock = "routing@1.0.0 " + p.Identity().Digest + "\n"
		case "1.1.0":
			lock += "routing@1.1.0 sha256:" + strings.Repeat("0", 64) + "\n"
		}
	}
	all["policies/versions.lock"] = lock

	got, err := plant(t, all).Versions(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	want := []release.Listed{
		{Folder: "policies/routing/1.0.0", State: release.StateReleased},
		{Folder: "policies/routing/1.1.0", State: release.StateEdited},
		{Folder: "policies/routing/1.2.0", State: release.StateDraft, ADRStatus: adr.Proposed},
		{Folder: "policies/routing/1.10.0", State: release.StateDraft},
	}
	if len(got) != len(want) {
		t.Fatalf("%d versions, want %d", len(got), len(want))
	}
	for i, v := range got {
		if v.Folder != want[i].Folder || v.State != want[i].State || v.ADRStatus != want[i].ADRStatus {
			t.Errorf("got %s %s %q, want %s %s %q", v.Folder, v.State, v.ADRStatus, want[i].Folder, want[i].State, want[i].ADRStatus)
		}
		broken := v.Folder == "policies/routing/1.10.0"
		if (v.Policy == nil) != broken || (errs.CodeOf(v.Err) == errs.PolicyInvalid) != broken {
			t.Errorf("%s: policy %v, error %v", v.Folder, v.Policy, v.Err)
		}
	}
}

func TestVersionsOfNoTree(t *testing.T) {
	if all, err := (release.Tree{BuiltIn: policies.Files(), Root: t.TempDir()}).Versions(t.Context()); err != nil || len(all) != 0 {
		t.Errorf("without a tree: %v, %v", all, err)
	}
	if all, err := (release.Tree{Root: filepath.Join(t.TempDir(), "nowhere")}).Versions(t.Context()); errs.CodeOf(err) != errs.PolicyTreeUnreadable {
		t.Errorf("without a root: %v, %v", all, err)
	}
}
