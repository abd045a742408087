package release_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/switchyard-dev/switchyard/internal/policy/diff"
	"github.com/switchyard-dev/switchyard/internal/policy/release"
	"github.com/switchyard-dev/switchyard/policies"
)

// ownLine is a project's line of versions starting at number, after the program was
// replaced by one that has the same and later versions built in. supersedes is the
// version that the first one was made from, or "".
func ownLine(t *testing.T, number, supersedes string) release.Tree {
	t.Helper()
	folder := "policies/routing/" + number + "/"
	record := strings.Replace(smallRecord("ADR-0001", "Small", "routing@"+number), "policy: routing@"+number+"\n", "policy: routing@"+number+"\n"+supersedes, 1)
	tree := plant(t, files{
		folder + "routing.rego": strings.Replace(small, "0.1.0", number, 1), folder + "routing_test.rego": smallTests, firstRecord: record,
		// As the earlier program wrote it.
		lockFile: "# Ours.\n",
	})
	return tree
}

// lockIn adds a version of a tree to its lock without Release's checks.
func lockIn(t *testing.T, tree release.Tree, number string) {
	t.Helper()
	p, err := policies.Load(t.Context(), tree.Root+"/policies/routing/"+number)
	if err != nil {
		t.Fatal(err)
	}
	all := content(t, tree)
	all[lockFile] += "routing@" + number + " " + p.Identity().Digest + "\n"
	if err := write(tree.Root, all); err != nil {
		t.Fatal(err)
	}
}

// TestALaterProgramDoesNotBreakAReleasedVersion checks that a released version stays
// valid if the program has the same version built in by now.
func TestALaterProgramDoesNotBreakAReleasedVersion(t *testing.T) {
	tree := ownLine(t, "1.0.0", "")
	if got := rules(lint(t, tree, everything()).Findings); !slices.Contains(got, "routing@1.0.0 unchanged") {
		t.Errorf("a draft that begins the line with a number that is taken: %q", got)
	}
	if _, err := tree.Release(t.Context(), release.ReleaseOptions{Replay: replayed}); !slices.Contains(rules(refusals(err)), "routing@1.0.0 unchanged") {
		t.Errorf("it was released: %v", err)
	}
	lockIn(t, tree, "1.0.0")
	if _, err := tree.Release(t.Context(), release.ReleaseOptions{Version: "routing@1.0.0", Replay: replayed}); err != nil {
		t.Fatalf("%v: %+v", err, refusals(err))
	}
	o := everything()
	delete(o.Raised, "spelling")
	report := lint(t, tree, o)
	if !report.Clean() {
		t.Errorf("%+v", report.Findings)
	}
	if len(report.Versions) != 1 || report.Versions[0].BuiltIn {
		t.Errorf("ours is not theirs: %+v", report.Versions)
	}

	// The line continues with its own numbers, even if they are also built in.
	made, err := tree.New(t.Context(), release.NewOptions{Title: "More", Date: day()})
	if err != nil || made.Policy != "routing@1.1.0" || made.Before != "routing@1.0.0" || made.BeforeRef != "policies/routing/1.0.0" {
		t.Fatalf("%+v, %v", made, err)
	}
	argue(t, tree, "docs/adr/0002-more.md")
	done, err := tree.Release(t.Context(), release.ReleaseOptions{Accept: true, Replay: replayed, Raised: o.Raised})
	if err != nil || done.Record.Supersedes != "routing@1.0.0" {
		t.Fatalf("%+v, %v: %+v", done, err, refusals(err))
	}
	if report := lint(t, tree, o); !report.Clean() {
		t.Errorf("%+v", report.Findings)
	}
}

// TestALaterProgramDoesNotChangeWhatALineFollows checks that versions that are built in
// later, below the line's first one, are not part of its history.
func TestALaterProgramDoesNotChangeWhatALineFollows(t *testing.T) {
	whole(t)
	tree := ownLine(t, "2.0.0", "supersedes: routing@1.0.0\n")
	o := everything()
	delete(o.Raised, "spelling")
	done, err := tree.Release(t.Context(), release.ReleaseOptions{Version: "routing@2.0.0", Replay: replayed, Raised: o.Raised})
	if err != nil || done.Record.Supersedes != "routing@1.0.0" {
		t.Fatalf("%+v, %v: %+v", done, err, refusals(err))
	}
	report := lint(t, tree, o)
	if !report.Clean() || report.Versions[0].Step != diff.Major {
		t.Errorf("%+v", report)
	}
	if made, err := tree.New(t.Context(), release.NewOptions{Title: "More", From: "routing@1.1.0", Date: day()}); err == nil {
		t.Errorf("routing@1.1.0 is no part of the line: %+v", made)
	}
}

// argue fills in the reasons of a new record.
func argue(t *testing.T, tree release.Tree, record string) {
	t.Helper()
	all := content(t, tree)
	text := all[record]
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, "What ") {
			text = strings.Replace(text, line, "Because.\n", 1)
		}
	}
	if text == all[record] {
		t.Fatalf("%s asks for nothing:\n%s", record, text)
	}
	all[record] = text
	if err := write(tree.Root, all); err != nil {
		t.Fatal(err)
	}
}
