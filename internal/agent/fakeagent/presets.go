package fakeagent

// researchAnswer is the final message of the preset researcher.
var researchAnswer = `{"decisions":[{"text":"Use the standard library","confidence":0.9,"provenance":"[VERIFIED]"}],
"risks":[{"text":"It is slow on large files","severity":"low"}],"questions":[],
"sources":[{"url":"https://example.com/doc","title":"The documentation","credibility":"high"}],"patterns":[]}`

// Presets returns the scenarios that scripts can name.
func Presets() map[string]Scenario {
	return map[string]Scenario{
		"clean":           Clean(),
		"findings":        Finds(Finding{Category: "missing-test", Severity: "fail", File: "a.go", Line: 7, Remediation: "Test the empty list"}),
		"usage-limit":     Fails(Failure{Status: 429, Kind: "limit", RetryAfter: 3600}),
		"rate-limit":      Fails(Failure{Status: 429}),
		"overloaded":      Fails(Failure{Status: 529}),
		"auth":            Fails(Failure{Status: 401}),
		"not-found":       Fails(Failure{Status: 404}),
		"too-long":        Fails(Failure{Status: 413}),
		"refused":         Fails(Failure{Kind: "refusal"}),
		"usage":           Fails(Failure{Kind: "usage"}),
		"hang":            Plays(Step{Read: &Read{}}, Step{Hang: true}),
		"crash":           Plays(Step{Read: &Read{}}, Step{Kill: "KILL"}),
		"empty":           Plays(Step{Read: &Read{}}),
		"no-report":       Plays(Step{Read: &Read{}}, Step{Final: &Final{}}),
		"cannot-write":    CannotWrite(),
		"researcher":      Plays(Step{Read: &Read{}}, Step{Tool: &Tool{Search: true, Input: map[string]any{"query": "x"}}}, Step{Final: &Final{Text: &researchAnswer}}),
		"researcher-mute": Plays(Step{Read: &Read{}}, Step{Exit: new(1)}),

		"executor":            Edits(),
		"executor-idle":       Executes(),
		"executor-crash":      Plays(Step{Read: &Read{}}, Step{Write: edit(draftFile)}, Step{Kill: "KILL"}),
		"executor-commits":    Edits(git("add", "-A"), git("-c", "user.name=agent", "-c", "user.email=agent@example.org", "-c", "commit.gpgSign=false", "commit", "-q", "-m", "mine")),
		"executor-stages":     Edits(git("add", "-A")),
		"executor-branches":   Edits(git("checkout", "-q", "-b", "mine")),
		"executor-remote":     Edits(git("remote", "add", "mine", "https://example.org/mine.git")),
		"executor-hook":       Edits(Step{Hook: "pre-commit"}),
		"executor-submodules": Edits(Step{Append: edit(".gitmodules")}),
		"executor-settings":   Edits(Step{Append: edit("switchyard.yaml")}),
		"executor-gone":       Edits(Step{Remove: "."}),
	}
}

// draftFile is the file that the presets of executors edit.
const draftFile = "draft.txt"

// edit returns a file that is different in each round.
func edit(path string) *File { return &File{Path: path, Text: "# round {round}\n"} }

func git(args ...string) Step { return Step{Run: &Run{Argv: append([]string{"git"}, args...)}} }

// Executes returns an executor that takes these steps, and then reports that.
func Executes(steps ...Step) Scenario {
	text := "Do the task of round {round}"
	steps = append([]Step{{Read: &Read{}}}, steps...)
	return Plays(append(steps, Step{Final: &Final{Text: &text}})...)
}

// Edits returns an executor that edits draft.txt before it takes these steps.
func Edits(steps ...Step) Scenario {
	return Executes(append([]Step{{Tool: &Tool{Name: "Edit"}}, {Append: edit(draftFile)}}, steps...)...)
}

// Plays returns a scenario of these steps, with a model, a usage and a cost.
func Plays(steps ...Step) Scenario {
	return Scenario{Model: "fake-model", Usage: &Usage{In: 200, Out: 40}, Cost: "0.0016", Steps: steps}
}

// Clean returns a critic without findings.
func Clean() Scenario { return Finds() }

// Finds returns a critic that reports these findings correctly.
func Finds(findings ...Finding) Scenario {
	return Plays(Step{Read: &Read{}}, Step{Tool: &Tool{Name: "Read"}}, Step{Report: &Report{Findings: findings}},
		Step{Tool: &Tool{Name: "Write"}}, Step{Final: &Final{}})
}

// Fails returns an agent that ends with an error.
func Fails(f Failure) Scenario { return Plays(Step{Read: &Read{}}, Step{Fail: &f}) }

// CannotWrite returns a critic that was not allowed to write its report, and reports that.
func CannotWrite() Scenario {
	return Plays(Step{Read: &Read{}}, Step{Tool: &Tool{Name: "Write", Denied: true}}, Step{Final: &Final{Object: Object{Set: map[string]any{
		"report_path": nil, "verdict": "issues_found", "blockers_count": 1, "error": "the report cannot be written"}}}})
}
