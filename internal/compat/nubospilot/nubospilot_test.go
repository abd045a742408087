package nubospilot_test

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/switchyard-dev/switchyard/internal/compat/nubospilot"
	"github.com/switchyard-dev/switchyard/internal/errs"
)

const id = "M001-S001-T0001"

// folder creates a .nubos-pilot folder with files.
func folder(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), nubospilot.Folder)
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	for name, text := range files {
		full := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(full), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(full, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func imported(t *testing.T, files map[string]string) nubospilot.Import {
	t.Helper()
	got, err := nubospilot.Read(t.Context(), folder(t, files))
	if err != nil {
		t.Fatal(err)
	}
	return got
}

// checkpoint returns a checkpoint of the task id with a status and a loop.
func checkpoint(status, loop string) string {
	return `{"schema_version": 1, "task_id": "` + id + `", "status": "` + status + `", "nubosloop": ` + loop + `}`
}

// task reads a single checkpoint.
func task(t *testing.T, text string) (nubospilot.Task, []nubospilot.Left) {
	t.Helper()
	got := imported(t, map[string]string{"checkpoints/" + id + ".json": text})
	if len(got.Tasks) != 1 {
		t.Fatalf("%s: got %+v", text, got)
	}
	return got.Tasks[0], got.Left
}

// says reports whether Left has an entry with this What and Why.
func says(left []nubospilot.Left, what, why string) bool {
	return slices.ContainsFunc(left, func(l nubospilot.Left) bool {
		return strings.Contains(l.What, what) && strings.Contains(l.Why, why)
	})
}

func TestReadCheckpoint(t *testing.T) {
	text := `{
		"schema_version": 1, "task_id": "M001-S001-T0001", "phase": 1, "plan": "01", "wave": 2, "status": "stuck",
		"started_at": "2026-03-01T10:00:00.000Z", "last_update": "2026-03-01T11:30:00.5Z", "files_touched": ["a.go"], "resume_hint": null,
		"nubosloop": {
			"round": 3, "last_phase": "post-critics", "last_action": "stuck", "max_rounds_override": 8,
			"cache_hit": null, "bypass_swarm": false, "tdd_tests": [],
			"verify_exit_code": 0, "verify_output_excerpt": "ok", "skill_expect": [{"round": 1}],
			"findings": [
				{"critic": "critic", "category": "style", "severity": "nit", "file": "a.go", "line": 7, "remediation": "Rename it", "route": "executor", "confirmed_by": ["critic"]},
				{"category": "stuck-detected", "severity": "fail", "file": null, "line": null, "remediation": "Asked again"}
			],
			"findings_per_round": {
				"10": [{"category": "style"}],
				"2": [],
				"1": [{"category": "missing-test", "severity": "risk", "file": "-", "line": null, "remediation": "Test it"}],
				"3": [{"category": "style", "severity": "nit", "file": "a.go", "line": 7, "remediation": "Rename it"}]
			},
			"tool_use_audit": [
				{"agent": "np-executor", "round": 1, "violation": "rule-9-no-search-tool-invoked", "routed_in_round": 1},
				{"agent": "np-build-fixer", "round": 2, "violation": "rule-9-search-tool-unverified"},
				{"agent": "np-build-fixer", "round": 3, "violation": "rule-9-no-search-tool-invoked", "routed_in_round": 3},
				{"agent": "np-critic", "round": 3, "violation": null}
			],
			"stuck": true, "stuck_reason": "max-rounds-user-stuck", "stuck_at": "2026-03-01T11:30:00Z",
			"forced_post_critics": true, "forced_preflight": false, "forced_commit_phase": true
		}
	}`
	got, left := task(t, text)
	want := nubospilot.Task{
		ID: id, Status: "stuck", Round: 3, Phase: "post-critics", MaxRounds: 8,
		Findings: []nubospilot.Finding{
			{Round: 1, Category: "missing-test", Severity: "risk", File: "-", Remediation: "Test it"},
			{Round: 3, Category: "style", Severity: "nit", File: "a.go", Line: 7, Remediation: "Rename it"},
			{Round: 3, Category: "stuck-detected", Severity: "fail", Remediation: "Asked again"},
		},
		Violations: []nubospilot.Violation{
			{Agent: "np-build-fixer", Round: 2, Kind: "rule-9-search-tool-unverified"},
			{Agent: "np-build-fixer", Round: 3, Kind: "rule-9-no-search-tool-invoked"},
		},
		Forced:      []string{"commit-phase", "post-critics"},
		StuckReason: "max-rounds-user-stuck",
		Digest:      fmt.Sprintf("sha256:%x", sha256.Sum256([]byte(text))),
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got\n%+v, want\n%+v", got, want)
	}
	for what, why := range map[string]string{
		"verify_exit_code, verify_output_excerpt of " + id: "verify again",
		"tool_use_audit of " + id:                          "attest the current round again",
		"skill_expect of " + id:                            "skills",
		"stuck_at of " + id:                                "stay",
		"phase, plan, wave, files_touched of " + id:        "plan",
		id + ".json: findings":                             "rounds that the task was not in: 1",
	} {
		if !says(left, what, why) {
			t.Errorf("%s is not among what is left: %v", what, left)
		}
	}
	if len(left) != 6 {
		t.Errorf("left are %v", left)
	}
}

func TestReadNewTask(t *testing.T) {
	for _, loop := range []string{"null", "{}", `{"cache_hit": null}`} {
		got, left := task(t, checkpoint("in-progress", loop))
		got.Digest = ""
		if want := (nubospilot.Task{ID: id, Status: "in-progress", Round: 1}); !reflect.DeepEqual(got, want) || len(left) > 0 {
			t.Errorf("%s: got %+v, left %v", loop, got, left)
		}
	}
	got, _ := task(t, `{"schema_version": 1, "task_id": "`+id+`", "status": "verifying"}`)
	if got.Round != 1 || got.Phase != "" {
		t.Errorf("got %+v", got)
	}
}

// TestReadRejectsDamagedCheckpoints checks that a bad checkpoint never hides a good one.
func TestReadRejectsDamagedCheckpoints(t *testing.T) {
	good := strings.Replace(checkpoint("in-progress", `{"round": 2, "last_phase": "preflight"}`), id, "M999-S001-T0001", 1)
	for name, c := range map[string]struct{ text, why string }{
		"empty":              {"", "damaged"},
		"cut":                {checkpoint("done", "{}")[:50], "damaged"},
		"two":                {checkpoint("done", "{}") + "{}", "damaged"},
		"list":               {"[]", "not a JSON object"},
		"name twice":         {strings.Replace(checkpoint("done", "{}"), "{", `{"status": "stuck", `, 1), "damaged"},
		"no UTF-8":           {strings.Replace(checkpoint("done", "{}"), "{", "{\"x\": \"\xff\", ", 1), "damaged"},
		"deep":               {strings.Repeat("[", 500_000), "not a JSON object"},
		"deep inside":        {`{"a": ` + strings.Repeat("[", 400_000), "damaged"},
		"no version":         {strings.Replace(checkpoint("done", "{}"), "schema_version", "version", 1), "no schema version"},
		"null version":       {strings.Replace(checkpoint("done", "{}"), ": 1,", ": null,", 1), "no schema version"},
		"odd version":        {strings.Replace(checkpoint("done", "{}"), ": 1,", `: "1",`, 1), "schema version is damaged"},
		"old version":        {strings.Replace(checkpoint("done", "{}"), ": 1,", ": 0,", 1), "schema version is damaged"},
		"newer version":      {strings.Replace(checkpoint("done", "{}"), ": 1,", ": 2,", 1), "schema version 2, which is newer"},
		"another task":       {strings.Replace(checkpoint("done", "{}"), id, "M001-S001-T0002", 1), "another task"},
		"no task":            {strings.Replace(checkpoint("done", "{}"), "task_id", "id", 1), "another task"},
		"status":             {checkpoint("Done", "{}"), "status is not one of"},
		"loop":               {checkpoint("stuck", "[]"), "nubosloop is not an object"},
		"loop twice":         {checkpoint("stuck", `{"round": 1, "round": 2}`), "damaged"},
		"round 0":            {checkpoint("stuck", `{"round": 0}`), "round is not a whole number"},
		"round -1":           {checkpoint("stuck", `{"round": -1}`), "round is not a whole number"},
		"round 1.5":          {checkpoint("stuck", `{"round": 1.5}`), "round is not a whole number"},
		"round 1.0":          {checkpoint("stuck", `{"round": 1.0}`), "round is not a whole number"},
		"round 1e0":          {checkpoint("stuck", `{"round": 1e0}`), "round is not a whole number"},
		"round in text":      {checkpoint("stuck", `{"round": "1"}`), "round is not a whole number"},
		"round without end":  {checkpoint("stuck", `{"round": 1e999}`), "round is not a whole number"},
		"round far away":     {checkpoint("stuck", `{"round": 9007199254740993}`), "round is not a whole number"},
		"round true":         {checkpoint("stuck", `{"round": true}`), "round is not a whole number"},
		"phase, no round":    {checkpoint("stuck", `{"last_phase": "post-critics"}`), "a last phase and no round"},
		"unknown phase":      {checkpoint("stuck", `{"round": 1, "last_phase": "post-mortem"}`), "last phase"},
		"phase of its own":   {checkpoint("stuck", `{"round": 1, "last_phase": {}}`), "last phase"},
		"larger than a file": {`{"x": "` + strings.Repeat("x", 1<<20) + `"}`, "larger than 1048576 bytes"},
	} {
		t.Run(name, func(t *testing.T) {
			got := imported(t, map[string]string{"checkpoints/" + id + ".json": c.text, "checkpoints/M999-S001-T0001.json": good})
			if len(got.Tasks) != 1 || got.Tasks[0].ID != "M999-S001-T0001" || got.Tasks[0].Round != 2 || got.Tasks[0].Phase != "preflight" {
				t.Errorf("got %+v", got.Tasks)
			}
			if len(got.Left) != 1 || got.Left[0].What != "checkpoints/"+id+".json" || !strings.Contains(got.Left[0].Why, c.why) {
				t.Errorf("left are %v", got.Left)
			}
		})
	}
}

func TestReadRepairsDamagedFields(t *testing.T) {
	for name, c := range map[string]struct {
		status, loop string
		want         nubospilot.Task
		what, why    string
	}{
		"cap too high": {"in-progress", `{"round": 1, "max_rounds_override": 999}`, nubospilot.Task{Round: 1, MaxRounds: 100}, "max_rounds_override", "999, which is taken as 100"},
		"cap 0":        {"in-progress", `{"round": 1, "max_rounds_override": 0}`, nubospilot.Task{Round: 1}, "max_rounds_override", "no whole number"},
		"cap in text":  {"in-progress", `{"round": 1, "max_rounds_override": "5"}`, nubospilot.Task{Round: 1}, "max_rounds_override", "no whole number"},
		"stale flag":   {"in-progress", `{"round": 1, "stuck": true, "stuck_reason": "x"}`, nubospilot.Task{Round: 1}, "stuck_reason", "of an earlier time"},
		"unknown keys": {"in-progress", `{"round": 1, "colour": 1, "forced_X": 1}`, nubospilot.Task{Round: 1}, "nubosloop: colour, forced_X", "unknown"},
		"forced by anything": {"in-progress", `{"round": 1, "forced_post_executor": "2026-01-01", "forced_new_gate": 0, "forced_preflight": null}`,
			nubospilot.Task{Round: 1, Forced: []string{"new-gate", "post-executor"}}, "", ""},
		"findings in words": {"in-progress", `{"round": 1, "findings": "none"}`, nubospilot.Task{Round: 1}, "findings", "no list"},
		"rounds in a list":  {"in-progress", `{"round": 1, "findings_per_round": []}`, nubospilot.Task{Round: 1}, "findings", "no list"},
		"a round in words":  {"in-progress", `{"round": 1, "findings_per_round": {"one": []}}`, nubospilot.Task{Round: 1}, "findings", "rounds that the task was not in: 1"},
		"no findings":       {"in-progress", `{"round": 1, "findings": ["a", null, 3]}`, nubospilot.Task{Round: 1}, "findings", "3 are no objects"},
		"damaged findings": {"in-progress", `{"round": 1, "findings": [{"category": 3}, {"category": "style", "severity": "high"},
			{"category": "style", "line": 0}, {"category": "style", "line": 1.5}, {"category": "style", "file": ["a"]}]}`,
			nubospilot.Task{Round: 1, Findings: []nubospilot.Finding{
				{Round: 1, Category: "unknown", Severity: "fail"}, {Round: 1, Category: "style", Severity: "fail"}, {Round: 1, Category: "style", Severity: "fail"},
				{Round: 1, Category: "style", Severity: "fail"}, {Round: 1, Category: "style", Severity: "fail"},
			}}, "findings", "5 have a damaged field"},
		"reports as findings": {"stuck", `{"round": 2, "findings_per_round": {"2": [{"critic": "critic", "findings": [{"category": "style", "severity": "risk"}, {"findings": []}]}]}}`,
			nubospilot.Task{Round: 2, Findings: []nubospilot.Finding{{Round: 2, Category: "style", Severity: "risk"}, {Round: 2, Category: "unknown", Severity: "fail"}}},
			"findings", "1 have a damaged field"},
		"damaged audits": {"in-progress", `{"round": 1, "tool_use_audit": [3, {"violation": "x", "agent": "a b", "round": 1}, {"violation": true, "agent": "a", "round": 1},
			{"violation": "x", "agent": "a", "round": 2}, {"violation": "x", "agent": "a"}]}`, nubospilot.Task{Round: 1}, "tool_use_audit", "5 damaged entries"},
		"audits in words": {"in-progress", `{"round": 1, "tool_use_audit": {}}`, nubospilot.Task{Round: 1}, "tool_use_audit", "1 damaged"},
		"routed nowhere": {"in-progress", `{"round": 3, "tool_use_audit": [{"violation": "x", "agent": "a", "round": 1, "routed_in_round": "1"}]}`,
			nubospilot.Task{Round: 3, Violations: []nubospilot.Violation{{Agent: "a", Round: 1, Kind: "x"}}}, "", ""},
		"routed into a question": {"in-progress", `{"round": 3, "last_action": "askuser", "tool_use_audit": [
			{"violation": "x", "agent": "a", "round": 1, "routed_in_round": 1}, {"violation": "y", "agent": "a", "round": 2, "routed_in_round": 2}]}`,
			nubospilot.Task{Round: 3, Violations: []nubospilot.Violation{{Agent: "a", Round: 2, Kind: "y"}}}, "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			got, left := task(t, checkpoint(c.status, c.loop))
			c.want.ID, c.want.Status, c.want.Digest = id, c.status, got.Digest
			if !reflect.DeepEqual(got, c.want) {
				t.Errorf("got\n%+v, want\n%+v", got, c.want)
			}
			if c.what != "" && !says(left, c.what, c.why) {
				t.Errorf("left are %v", left)
			}
		})
	}
}

func TestReadGroupsEqualMessages(t *testing.T) {
	files := map[string]string{}
	for i := range 9 {
		name := fmt.Sprintf("M001-S001-T%04d", i)
		files["checkpoints/"+name+".json"] = strings.Replace(checkpoint("in-progress", `{"round": 1, "verify_exit_code": 0}`), id, name, 1)
	}
	got := imported(t, files)
	want := "verify_exit_code of M001-S001-T0000, M001-S001-T0001, M001-S001-T0002, M001-S001-T0003, M001-S001-T0004 and 4 more"
	if len(got.Tasks) != 9 || len(got.Left) != 1 || got.Left[0].What != want {
		t.Errorf("got %d tasks, left %v", len(got.Tasks), got.Left)
	}
	if !slices.IsSortedFunc(got.Tasks, func(a, b nubospilot.Task) int { return strings.Compare(a.ID, b.ID) }) {
		t.Errorf("got %+v", got.Tasks)
	}
}

func TestReadStaysInTheFolder(t *testing.T) {
	outside := t.TempDir()
	secret := filepath.Join(outside, "secret.json")
	if err := os.WriteFile(secret, []byte(checkpoint("done", "{}")), 0o600); err != nil {
		t.Fatal(err)
	}
	dir := folder(t, map[string]string{
		"config.json": `{}`, "checkpoints/M001-S001-T0002.json": strings.Replace(checkpoint("done", "{}"), id, "M001-S001-T0002", 1),
		"checkpoints/x.json": "{}", "checkpoints/" + id + ".json.lock": "1", "learnings/a.json": "{}", "run/x": "",
	})
	at := func(name string) string { return filepath.Join(dir, "checkpoints", name) }
	if err := errors.Join(os.Symlink(secret, at(id+".json")), os.Symlink("M001-S001-T0002.json", at("M001-S001-T0003.json")),
		os.Mkdir(at("M001-S001-T0004.json"), 0o755)); err != nil {
		t.Fatal(err)
	}
	got, err := nubospilot.Read(t.Context(), dir)
	if err != nil || len(got.Tasks) != 1 || got.Tasks[0].ID != "M001-S001-T0002" {
		t.Fatalf("got %+v, %v", got.Tasks, err)
	}
	for what, why := range map[string]string{
		id + ".json": "not a regular file", "M001-S001-T0003.json": "not a regular file", "M001-S001-T0004.json": "not a regular file",
		"checkpoints/x.json": "no task id", id + ".json.lock": "no checkpoints",
		"learnings, run": "only config.json and checkpoints",
	} {
		if !says(got.Left, what, why) {
			t.Errorf("%s is not among what is left: %v", what, got.Left)
		}
	}
	// The folders may be links, too.
	for name, target := range map[string]string{"checkpoints": filepath.Dir(at("")), "config.json": secret} {
		dir := folder(t, nil)
		if err := os.Symlink(target, filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
		if got, err := nubospilot.Read(t.Context(), dir); err != nil || len(got.Tasks) > 0 || len(got.Left) != 1 || got.Left[0].What != name {
			t.Errorf("%s: got %+v, %v", name, got, err)
		}
	}
}

func TestReadWithoutFolder(t *testing.T) {
	for dir, want := range map[string]errs.Code{
		filepath.Join(t.TempDir(), "none"):       errs.ImportUnreadable,
		folder(t, nil):                           errs.ImportNothing,
		folder(t, map[string]string{"x/y": "z"}): errs.ImportNothing,
	} {
		if got, err := nubospilot.Read(t.Context(), dir); errs.CodeOf(err) != want || !reflect.DeepEqual(got, nubospilot.Import{}) {
			t.Errorf("%s: got %+v, %v", dir, got, err)
		}
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	stop := errors.New("stop")
	cancel(stop)
	if _, err := nubospilot.Read(ctx, folder(t, map[string]string{"checkpoints/" + id + ".json": "{}"})); !errors.Is(err, stop) {
		t.Errorf("got %v", err)
	}
}

func TestReadLimitsFiles(t *testing.T) {
	if testing.Short() {
		t.Skip("ten thousand files take their time")
	}
	dir := folder(t, map[string]string{"checkpoints/" + id + ".json": checkpoint("done", "{}")})
	for i := range 10_000 {
		if err := os.WriteFile(filepath.Join(dir, "checkpoints", fmt.Sprint(i)), nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := nubospilot.Read(t.Context(), dir)
	if err != nil || !says(got.Left, "checkpoints", "more than 10000 files") || len(got.Left) != 2 {
		t.Errorf("got %v, %v", got.Left, err)
	}
}
