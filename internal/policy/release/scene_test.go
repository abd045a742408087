package release_test

import (
	"context"
	"errors"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/policy/adr"
	"github.com/switchyard-dev/switchyard/internal/policy/release"
	"github.com/switchyard-dev/switchyard/internal/policy/replay"
	"github.com/switchyard-dev/switchyard/internal/policy/routing"
	"github.com/switchyard-dev/switchyard/policies"
)

// small is a minimal policy, which is checked quickly. It is older than every built-in
// version.
const small = `# METADATA
# title: Small
# custom:
#   version: 0.1.0
#   adr: ADR-0001
package switchyard.routing

# METADATA
# title: Destinations
destinations := {
	"commit": {"kind": "terminal", "advances_round": false},
	"fixer": {"kind": "agent", "advances_round": true},
	"stuck": {"kind": "terminal", "advances_round": false},
}

# METADATA
# title: Route table
route_table := {
	"broken": "stuck",
	"style": "fixer",
}

# METADATA
# title: Precedence
precedence := ["stuck", "fixer"]

# METADATA
# title: Decision
decision := {"next_action": "stuck", "reason": "stuck-finding"} if {
	input.routes.stuck > 0
} else := {"next_action": "stuck", "reason": "max-rounds"} if {
	_open
	input.round >= input.max_rounds
} else := {"next_action": "fixer", "reason": "routed"} if {
	_open
} else := {"next_action": "commit", "reason": "no-findings"} if {
	input.finding_count == 0
}

_open if input.finding_count > 0

_open if input.verify == "red"
`

const smallTests = `package switchyard.routing_test

import data.switchyard.routing

test_success_tables if {
	routing.destinations[routing.route_table.style].kind == "agent"
	routing.precedence[0] == "stuck"
}

test_success_decisions if {
	cases := {
		"stuck-finding": {"round": 1, "max_rounds": 3, "finding_count": 1, "routes": {"stuck": 1}, "verify": "green"},
		"max-rounds": {"round": 3, "max_rounds": 3, "finding_count": 0, "routes": {}, "verify": "red"},
		"routed": {"round": 1, "max_rounds": 3, "finding_count": 1, "routes": {"fixer": 1}, "verify": "green"},
		"no-findings": {"round": 3, "max_rounds": 3, "finding_count": 0, "routes": {}, "verify": "green"},
	}
	failed := {reason | some reason, round in cases; not routing.decision.reason == reason with input as round}
	failed == set()
}
`

// smallRecord returns a record without figures.
func smallRecord(name, title, policy string) string {
	return "---\nstatus: accepted\ndate: 2026-11-21\npolicy: " + policy + "\n---\n\n# " + name + ": " + title +
		"\n\nText.\n\n<!-- switchyard:diff -->\n<!-- /switchyard:diff -->\n\nMore.\n"
}

// The paths of the small tree's files.
const (
	first       = "policies/routing/0.1.0/"
	second      = "policies/routing/0.2.0/"
	firstRecord = "docs/adr/0001-small.md"
	typoRecord  = "docs/adr/0002-typos.md"
	lockFile    = "policies/versions.lock"
)

// files are a tree's files, by path.
type files map[string]string

// drafts returns two small versions without figures. The second one has one more
// category.
func drafts() files {
	next := strings.NewReplacer("0.1.0", "0.2.0", "ADR-0001", "ADR-0002", "\t\"style\"", "\t\"spelling\": \"fixer\",\n\t\"style\"")
	return files{
		first + "routing.rego": small, first + "routing_test.rego": smallTests,
		second + "routing.rego": next.Replace(small), second + "routing_test.rego": smallTests,
		firstRecord: smallRecord("ADR-0001", "Small", "routing@0.1.0"),
		typoRecord:  smallRecord("ADR-0002", "Typos", "routing@0.2.0"),
	}
}

// released returns the small tree with both versions released. The caller owns it.
func released(t *testing.T) files {
	t.Helper()
	all, err := releasedOnce()
	if err != nil {
		t.Fatalf("%v: %+v", err, refusals(err))
	}
	return maps.Clone(all)
}

// releasedOnce caches the starting point of all tests: checking it again for each would
// take longer than everything else.
var releasedOnce = sync.OnceValues(func() (files, error) {
	root, err := os.MkdirTemp("", "released")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(root)
	tree := release.Tree{BuiltIn: policies.Files(), Root: root}
	if err := write(root, drafts()); err != nil {
		return nil, err
	}
	for _, ref := range []string{"routing@0.1.0", "routing@0.2.0"} {
		if _, err := tree.Release(context.Background(), release.ReleaseOptions{Version: ref, Replay: replayed}); err != nil {
			return nil, err
		}
	}
	return read(root)
})

// plant creates a tree of files.
func plant(t *testing.T, all files) release.Tree {
	t.Helper()
	root := t.TempDir()
	if err := write(root, all); err != nil {
		t.Fatal(err)
	}
	return release.Tree{BuiltIn: policies.Files(), Root: root}
}

func write(root string, all files) error {
	for name, text := range all {
		file := filepath.Join(root, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			return err
		}
	}
	return nil
}

// content returns all files in a tree. The names of empty directories end in a slash.
func content(t *testing.T, tree release.Tree) files {
	t.Helper()
	all, err := read(tree.Root)
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func read(root string) (files, error) {
	all := files{}
	err := fs.WalkDir(os.DirFS(root), ".", func(name string, e fs.DirEntry, err error) error {
		if err != nil || name == "." {
			return err
		}
		delete(all, path.Dir(name)+"/")
		if e.IsDir() {
			all[name+"/"] = ""
			return nil
		}
		text, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(name)))
		all[name] = string(text)
		return err
	})
	return all, err
}

// replace replaces a text, which must exist.
func (all files) replace(t *testing.T, name, old, new string) {
	t.Helper()
	if !strings.Contains(all[name], old) {
		t.Fatalf("%s has no %q:\n%s", name, old, all[name])
	}
	all[name] = strings.Replace(all[name], old, new, 1)
}

// move renames the files with a path prefix.
func (all files) move(from, to string) {
	for _, name := range slices.Sorted(maps.Keys(all)) {
		if rest, ok := strings.CutPrefix(name, from); ok {
			all[to+rest] = all[name]
			delete(all, name)
		}
	}
}

// edit changes a record's front matter.
func (all files) edit(t *testing.T, name string, change func(*adr.Record)) {
	t.Helper()
	text, err := adr.Update(name, []byte(all[name]), change)
	if err != nil {
		t.Fatal(err)
	}
	all[name] = string(text)
}

// lockLine replaces the lock's line of a version.
func (all files) lockLine(t *testing.T, ref, line string) {
	t.Helper()
	for old := range strings.Lines(all[lockFile]) {
		if strings.HasPrefix(old, ref+" ") {
			all.replace(t, lockFile, old, line)
			return
		}
	}
	t.Fatalf("%s is not locked", ref)
}

// ledger returns a few rounds recorded with the first version.
func ledger() []replay.Recorded {
	by := routing.Identity{Name: "routing", Version: "0.1.0", Digest: "sha256:" + strings.Repeat("0", 64), ADR: "ADR-0001"}
	round := func(seq int64, category, route string, d routing.Decision) replay.Recorded {
		return replay.Recorded{
			Seq: seq, N: seq, Task: "T-1", Round: 1, At: "2026-11-21T10:00:00Z", Decision: d, Policy: by,
			Input: routing.Input{
				Round: 1, MaxRounds: 3, FindingCount: 1, Routes: map[string]int{route: 1}, Verify: routing.Green, NewCount: 1,
			},
			Categories: []replay.Category{{Name: category, Route: route, Unknown: category == "spelling", Count: 1}},
		}
	}
	return []replay.Recorded{
		round(2, "style", "fixer", routing.Decision{NextAction: "fixer", Reason: "routed"}),
		round(4, "spelling", "stuck", routing.Decision{NextAction: "stuck", Reason: "stuck-finding"}),
		round(7, "broken", "stuck", routing.Decision{NextAction: "stuck", Reason: "stuck-finding"}),
	}
}

// replayed replays the ledger.
func replayed(ctx context.Context, p *routing.Policy, through int64) (replay.Report, error) {
	return replayedOf(ledger())(ctx, p, through)
}

func replayedOf(rounds []replay.Recorded) release.Replayer {
	return func(ctx context.Context, p *routing.Policy, through int64) (replay.Report, error) {
		again := replay.New(p, replay.Options{})
		for _, r := range rounds {
			if through > 0 && r.Seq > through {
				break
			}
			if err := again.Add(ctx, r); err != nil {
				return replay.Report{}, err
			}
		}
		return again.Report(), nil
	}
}

// refusals returns the findings of an error.
func refusals(err error) []release.Finding {
	f, ok := errors.AsType[*errs.Error](err)
	if !ok {
		return nil
	}
	found, _ := f.Details["findings"].([]release.Finding)
	return found
}

// rules returns the broken rules, with the versions that break them.
func rules(found []release.Finding) []string {
	all := []string{}
	for _, f := range found {
		all = append(all, strings.TrimSpace(f.Policy+" "+string(f.Rule)))
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// whole is for tests that check complete policies, which takes half a minute with the
// race detector.
func whole(t *testing.T) {
	t.Helper()
	if testing.Short() {
		t.Skip("short mode proves small policies only")
	}
}

func day() time.Time { return time.Date(2026, 12, 24, 23, 0, 0, 0, time.UTC) }
