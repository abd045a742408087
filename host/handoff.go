package host

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"

	"github.com/switchyard-dev/switchyard/host/project"
	"github.com/switchyard-dev/switchyard/host/prompt"
	"github.com/switchyard-dev/switchyard/policies"
	"github.com/switchyard-dev/switchyard/spawner"
	"github.com/switchyard-dev/switchyard/spawner/agent"
)

// HandBack asks the caller to run an agent in some other way, and to give its
// report to the round.
type HandBack struct {
	Agent string `json:"agent"`
	// PromptPath is the whole prompt, and ReportPath where the agent is to write:
	// both relative to the project's root.
	PromptPath string `json:"prompt_path"`
	ReportPath string `json:"report_path"`
	// Failures say why nothing else helped: of adapters that could not be started,
	// then of attempts.
	Failures []string `json:"failures"`
}

// ActionHandBack is the next action of a round whose agent the caller is to run
// (design section 7), and ReasonHandBack why.
const (
	ActionHandBack = "spawn-agent-tool"
	ReasonHandBack = "spawn-failed"
)

// handBack writes the prompt for whoever runs the critic instead.
func (c *conductor) handBack(ctx context.Context, definition agent.Definition, o spawner.Outcome, modules []prompt.Module, v Verification) (*HandBack, error) {
	h := &HandBack{Agent: definition.Name, ReportPath: project.StateDir + "/" + handoffFolder + "/" + c.file("critic.json")}
	for _, err := range o.Skipped {
		h.Failures = append(h.Failures, err.Error())
	}
	for _, res := range o.Results {
		h.Failures = append(h.Failures, fmt.Sprintf("%s: %s", res.Record.Adapter, res.Verdict.Reason))
	}
	dir, err := c.keepFolder(handoffFolder)
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	// What an earlier hand-back left is of another draft, a report above all.
	given := c.file("critic")
	for _, name := range []string{given, c.file("critic.json")} {
		if err := dir.RemoveAll(name); err != nil {
			return nil, unkept(name, err)
		}
	}
	if err := dir.Mkdir(given, 0o700); err != nil {
		return nil, unkept(given, err)
	}
	rendered, err := c.criticPrompt(ctx, spawner.Attempt{
		Run: spawner.NewRun(), Folder: filepath.Join(dir.Name(), given), ReportPath: c.absolute(h.ReportPath),
	}, modules, v)
	if err != nil {
		return nil, err
	}
	h.PromptPath, err = c.keep(handoffFolder, c.file("critic.md"), []byte(agent.Compose(definition, rendered)))
	return h, err
}

// file is the name of a file that the round keeps.
func (c *conductor) file(name string) string {
	return fmt.Sprintf("%s-r%d-%s", c.id, c.round.Number, name)
}

// handOff writes what the next executor is to do.
func (c *conductor) handOff(d Decision) (string, error) {
	h := prompt.Handoff{
		Task: c.id, Round: d.Round, NextRound: d.NextRound, MaxRounds: d.MaxRounds, Findings: d.Findings,
		VerificationOutcome: string(policies.Absent), Economy: prompt.Economy(c.config.Economy),
	}
	if d.Verification != nil {
		h.VerificationOutcome, h.Excerpt = string(d.Verification.Outcome), d.Verification.Excerpt
	}
	for _, round := range slices.Compact([]int{d.Round, d.NextRound}) {
		research := project.StateDir + "/" + handoffFolder + "/" + c.researchFile(round, "research.md")
		if c.rooted().Exists(research) {
			h.Files = append(h.Files, research)
		}
	}
	return c.keep(handoffFolder, fmt.Sprintf("%s-r%d-findings.md", c.id, d.NextRound), []byte(h.Markdown()))
}
