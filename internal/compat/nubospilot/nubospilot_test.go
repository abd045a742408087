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
	"time"

	"github.com/switchyard-dev/switchyard/internal/compat/nubospilot"
	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/finding"
	"github.com/switchyard-dev/switchyard/internal/task"
)

const id = "M001-S001-T0001"

// folder creates a .nubos-pilot directory with files.
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

// read reads a single checkpoint.
func read(t *testing.T, text string) (nubospilot.Task, []nubospilot.Left) {
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

func place(s string) *string { return &s }

func line(n int) *int { return &n }

// open returns the finding that an entry becomes.
func open(report, category string, severity finding.Severity, file *string, line *int, remediation string) finding.Finding {
	return finding.Finding{
		Critic: nubospilot.Name, Category: category, Severity: severity, File: file, Line: line, Remediation: remediation,
		ConfirmedBy: []string{nubospilot.Name}, Sources: []finding.Source{{Critic: nubospilot.Name, Plugin: nubospilot.Name, Report: report}},
	}
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
			"forced_post_critics": true, "forced_preflight": false, "forced_commit_phase": "2026-01-01", "forced_x": null
		}
	}`
	got, left := read(t, text)
	digest := fmt.Sprintf("sha256:%x", sha256.Sum256([]byte(text)))
	want := nubospilot.Task{
		ID: id, Stuck: true, Reason: "max-rounds-user-stuck", Round: 3, MaxRounds: 8, Forced: 2, Digest: digest,
		Findings: []finding.Finding{
			open(digest, "style", finding.Nit, place("a.go"), line(7), "Rename it"),
			open(digest, "stuck-detected", finding.Fail, nil, nil, "Asked again"),
		},
		Violations: []task.Violation{
			{Agent: "np-build-fixer", Round: 2, Kind: task.SearchUnverified},
			{Agent: "np-build-fixer", Round: 3, Kind: task.NoSearch},
		},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got\n%+v, want\n%+v", got, want)
	}
	keys := "checkpoints: files_touched, phase, plan, skill_expect, stuck_at, verify_exit_code, verify_output_excerpt, wave"
	if len(left) != 1 || left[0].What != keys || !strings.Contains(left[0].Why, "verify, audit and review again") {
		t.Errorf("left are %v", left)
	}
}

func TestReadNewTask(t *testing.T) {
	for _, loop := range []string{"null", "{}", `{"cache_hit": null}`, `{"round": null}`} {
		got, left := read(t, checkpoint("in-progress", loop))
		got.Digest = ""
		if want := (nubospilot.Task{ID: id, Round: 1}); !reflect.DeepEqual(got, want) || len(left) > 0 {
			t.Errorf("%s: got %+v, left %v", loop, got, left)
		}
	}
	got, _ := read(t, `{"schema_version": 1, "task_id": "`+id+`", "status": "verifying"}`)
	if got.Round != 1 || got.Done || got.Stuck {
		t.Errorf("got %+v", got)
	}
	if got, _ := read(t, checkpoint("done", "{}")); !got.Done {
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
		"list":               {"[]", "damaged"},
		"name twice":         {strings.Replace(checkpoint("done", "{}"), "{", `{"status": "stuck", `, 1), "damaged"},
		"no UTF-8":           {strings.Replace(checkpoint("done", "{}"), "{", "{\"x\": \"\xff\", ", 1), "damaged"},
		"deep":               {strings.Repeat("[", 500_000), "damaged"},
		"deep inside":        {`{"a": ` + strings.Repeat("[", 400_000), "damaged"},
		"no version":         {strings.Replace(checkpoint("done", "{}"), "schema_version", "version", 1), "schema version 0"},
		"null version":       {strings.Replace(checkpoint("done", "{}"), ": 1,", ": null,", 1), "schema version 0"},
		"odd version":        {strings.Replace(checkpoint("done", "{}"), ": 1,", `: "1",`, 1), "schema_version"},
		"old version":        {strings.Replace(checkpoint("done", "{}"), ": 1,", ": 0,", 1), "schema version 0"},
		"newer version":      {strings.Replace(checkpoint("done", "{}"), ": 1,", ": 2,", 1), "schema version 2"},
		"another task":       {strings.Replace(checkpoint("done", "{}"), id, "M001-S001-T0002", 1), "another task"},
		"no task":            {strings.Replace(checkpoint("done", "{}"), "task_id", "id", 1), "another task"},
		"status":             {checkpoint("Done", "{}"), "status is not one of"},
		"loop":               {checkpoint("stuck", "[]"), "nubosloop"},
		"loop twice":         {checkpoint("stuck", `{"round": 1, "round": 2}`), "damaged"},
		"round 0":            {checkpoint("stuck", `{"round": 0}`), "round is not a whole number"},
		"round -1":           {checkpoint("stuck", `{"round": -1}`), "round is not a whole number"},
		"round 1.5":          {checkpoint("stuck", `{"round": 1.5}`), `it is damaged: the value at "/nubosloop/round" is not of the right type`},
		"round 1.0":          {checkpoint("stuck", `{"round": 1.0}`), "/nubosloop/round"},
		"round 1e0":          {checkpoint("stuck", `{"round": 1e0}`), "/nubosloop/round"},
		"round in text":      {checkpoint("stuck", `{"round": "1"}`), "/nubosloop/round"},
		"round without end":  {checkpoint("stuck", `{"round": 1e999}`), "/nubosloop/round"},
		"round true":         {checkpoint("stuck", `{"round": true}`), "/nubosloop/round"},
		"phase, no round":    {checkpoint("stuck", `{"last_phase": "post-critics"}`), "round is not a whole number"},
		"phase of its own":   {checkpoint("stuck", `{"round": 1, "last_phase": {}}`), "last_phase"},
		"cap too high":       {checkpoint("stuck", `{"round": 1, "max_rounds_override": 999}`), "max_rounds_override"},
		"cap 0":              {checkpoint("stuck", `{"round": 1, "max_rounds_override": 0}`), "max_rounds_override"},
		"cap in text":        {checkpoint("stuck", `{"round": 1, "max_rounds_override": "5"}`), "max_rounds_override"},
		"findings in words":  {checkpoint("stuck", `{"round": 1, "findings": "none"}`), "findings"},
		"finding in words":   {checkpoint("stuck", `{"round": 1, "findings": ["a"]}`), "findings"},
		"no category":        {checkpoint("stuck", `{"round": 1, "findings": [{}]}`), "no category"},
		"line 0":             {checkpoint("stuck", `{"round": 1, "findings": [{"category": "style", "line": 0}]}`), "line below 1"},
		"line 1.5":           {checkpoint("stuck", `{"round": 1, "findings": [{"category": "style", "line": 1.5}]}`), "line"},
		"file in a list":     {checkpoint("stuck", `{"round": 1, "findings": [{"category": "style", "file": ["a"]}]}`), "file"},
		"rounds in a list":   {checkpoint("stuck", `{"round": 1, "findings_per_round": []}`), "findings_per_round"},
		"a round in words":   {checkpoint("stuck", `{"round": 1, "findings_per_round": {"one": []}}`), "findings_per_round"},
		"a later round":      {checkpoint("stuck", `{"round": 1, "findings_per_round": {"2": []}}`), "findings of round 2"},
		"too many findings":  {checkpoint("stuck", `{"round": 1, "findings": [`+many()+`]}`), "more than 10000 findings"},
		"audit in words":     {checkpoint("stuck", `{"round": 1, "tool_use_audit": [3]}`), "tool_use_audit"},
		"audit without name": {checkpoint("stuck", `{"round": 1, "tool_use_audit": [{"violation": "x", "agent": "a b", "round": 1}]}`), "tool_use_audit"},
		"audit without kind": {checkpoint("stuck", `{"round": 1, "tool_use_audit": [{"violation": true, "agent": "a", "round": 1}]}`), "tool_use_audit"},
		"audit of round 2":   {checkpoint("stuck", `{"round": 1, "tool_use_audit": [{"violation": "x", "agent": "a", "round": 2}]}`), "tool_use_audit"},
		"audit of no round":  {checkpoint("stuck", `{"round": 1, "tool_use_audit": [{"violation": "x", "agent": "a"}]}`), "tool_use_audit"},
		"larger than a file": {`{"x": "` + strings.Repeat("x", 1<<20) + `"}`, "larger than 1048576 bytes"},
	} {
		t.Run(name, func(t *testing.T) {
			got := imported(t, map[string]string{"checkpoints/" + id + ".json": c.text, "checkpoints/M999-S001-T0001.json": good})
			if len(got.Tasks) != 1 || got.Tasks[0].ID != "M999-S001-T0001" || got.Tasks[0].Round != 2 {
				t.Errorf("got %+v", got.Tasks)
			}
			if len(got.Left) != 1 || got.Left[0].What != "checkpoints/"+id+".json" || !strings.Contains(got.Left[0].Why, c.why) {
				t.Errorf("left are %v", got.Left)
			}
		})
	}
}

// many returns more findings than a task can have.
func many() string {
	var all []string
	for i := range 10_001 {
		all = append(all, fmt.Sprintf(`{"category": "c%d"}`, i))
	}
	return strings.Join(all, ",")
}

// TestReadOpenFindings checks which findings of a checkpoint are open, and how strict they
// are.
func TestReadOpenFindings(t *testing.T) {
	for loop, want := range map[string][]finding.Finding{
		`{"round": 1, "findings": [{"category": "style", "severity": "high"}, {"category": "tests"}]}`: {
			open("", "style", finding.Fail, nil, nil, ""), open("", "tests", finding.Fail, nil, nil, "")},
		`{"round": 3, "findings_per_round": {"1": [{"category": "style"}], "2": [{"category": "tests"}], "3": []}}`: {
			open("", "tests", finding.Fail, nil, nil, "")},
		`{"round": 2, "findings_per_round": {"1": [{"category": "style"}]}, "findings": [{"category": "tests"}]}`: {
			open("", "tests", finding.Fail, nil, nil, "")},
		`{"round": 2, "findings_per_round": {"2": [{"critic": "critic", "findings": [{"category": "style", "severity": "risk"}]}, {"findings": []}]}}`: {
			open("", "style", finding.Risk, nil, nil, "")},
		`{"round": 2, "findings": null, "findings_per_round": null}`: nil,
	} {
		got, left := read(t, checkpoint("in-progress", loop))
		for i := range got.Findings {
			got.Findings[i].Sources[0].Report = ""
		}
		if !reflect.DeepEqual(got.Findings, want) || len(left) > 0 {
			t.Errorf("%s: got %+v, left %v", loop, got.Findings, left)
		}
	}
}

// TestReadOpenViolations checks which violations are not settled by the round that routed
// them.
// An agent may have written the checkpoint.
func TestReadManyReportsInLinearTime(t *testing.T) {
	reports := strings.Repeat(`{"findings":[]},`, 60_000) + `{"findings":[{"category":"style"}]}`
	began := time.Now()
	got, _ := read(t, checkpoint("stuck", `{"round": 1, "findings": [`+reports+`]}`))
	if took := time.Since(began); len(got.Findings) != 1 || took > 5*time.Second {
		t.Errorf("got %+v in %s", got.Findings, took)
	}
}

func TestReadOpenViolations(t *testing.T) {
	two := `"tool_use_audit": [{"violation": "x", "agent": "a", "round": 1, "routed_in_round": 1}, {"violation": "rule-9-search-tool-unverified", "agent": "a", "round": 2, "routed_in_round": 2}]`
	first := task.Violation{Agent: "a", Round: 1, Kind: task.NoSearch}
	second := task.Violation{Agent: "a", Round: 2, Kind: task.SearchUnverified}
	for loop, want := range map[string][]task.Violation{
		`{"round": 3, ` + two + `}`:                           nil,
		`{"round": 3, "last_action": "askuser", ` + two + `}`: {second},
		`{"round": 2, "last_action": "stuck", ` + two + `}`:   {second},
		`{"round": 2, "last_phase": "stuck", ` + two + `}`:    {second},
		`{"round": 2, "tool_use_audit": [{"violation": "x", "agent": "a", "round": 1}, {"violation": "y", "agent": "a", "round": 2}]}`: {first},
	} {
		if got, _ := read(t, checkpoint("in-progress", loop)); !reflect.DeepEqual(got.Violations, want) {
			t.Errorf("%s: got %+v, want %+v", loop, got.Violations, want)
		}
	}
	if got, _ := read(t, checkpoint("stuck", `{"round": 2, `+two+`}`)); !reflect.DeepEqual(got.Violations, []task.Violation{second}) {
		t.Errorf("stuck: got %+v", got.Violations)
	}
}

func TestReadSortsTasks(t *testing.T) {
	files := map[string]string{}
	for i := range 9 {
		name := fmt.Sprintf("M001-S001-T%04d", i)
		files["checkpoints/"+name+".json"] = strings.Replace(checkpoint("in-progress", `{"round": 1, "verify_exit_code": 0}`), id, name, 1)
	}
	got := imported(t, files)
	if len(got.Tasks) != 9 || len(got.Left) != 1 || got.Left[0].What != "checkpoints: verify_exit_code" {
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
		"checkpoints: " + id + ".json.lock, x.json": "they are not checkpoints",
		"learnings, run": "only config.json and checkpoints",
	} {
		if !says(got.Left, what, why) {
			t.Errorf("%s is not among what is left: %v", what, got.Left)
		}
	}
	// The directories may be links, too.
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
	if err != nil || len(got.Tasks) > 0 || len(got.Left) != 1 || !says(got.Left, "checkpoints", "more than 10000 files") {
		t.Errorf("got %v, %v", got.Left, err)
	}
}
