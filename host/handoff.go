package host

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"github.com/switchyard-dev/switchyard/internal/agent/definition"
	"github.com/switchyard-dev/switchyard/internal/agent/prompt"
	"github.com/switchyard-dev/switchyard/internal/project"
	"github.com/switchyard-dev/switchyard/internal/safefile"
	"github.com/switchyard-dev/switchyard/policies"
	"github.com/switchyard-dev/switchyard/spawner"
)

// ActionHandBack is the next action of a round whose agent the caller is to run
// (design section 7), and ReasonHandBack why.
const (
	ActionHandBack = "spawn-agent-tool"
	ReasonHandBack = "spawn-failed"
)

// handBack writes the prompt for whoever runs the critic instead.
func (c *conductor) handBack(ctx context.Context, agentDef definition.Definition, o spawner.Outcome, modules []prompt.Module, v Verification) (*ManualFallback, error) {
	h := &ManualFallback{Agent: agentDef.Name, ReportPath: project.StateDir + "/" + handoffFolder + "/" + c.file("critic.json")}
	for _, err := range o.Skipped {
		h.Failures = append(h.Failures, err.Error())
	}
	for _, res := range o.Results {
		words := fmt.Sprintf("%s: %s", res.Record.Adapter, res.Verdict.Reason)
		if said := said(res.Record); len(said) > 0 {
			words += " (" + said[len(said)-1] + ")"
		}
		h.Failures = append(h.Failures, words)
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
	h.PromptPath, err = c.keep(handoffFolder, c.file("critic.md"), []byte(definition.Compose(agentDef, rendered)))
	return h, err
}

// file is the name of a file that the round keeps.
func (c *conductor) file(name string) string {
	return fmt.Sprintf("%s-r%d-%s", c.id, c.round.Number, name)
}

// handOff writes what the next executor is to do. The ledger has the findings too, so
// the file need not survive a loss of power, and the round does not wait for the disk.
func (s *session) handOff(config project.Config, d Decision) (string, error) {
	h := prompt.Handoff{
		Task: s.id, Prompt: s.words(), Round: d.Round, NextRound: d.NextRound, MaxRounds: d.MaxRounds, Findings: d.Findings,
		VerificationOutcome: string(policies.Absent), Economy: prompt.Economy(config.Economy),
	}
	if d.Verification != nil {
		h.VerificationOutcome, h.Excerpt, h.Output = string(d.Verification.Outcome), d.Verification.Excerpt, d.Verification.Output
	}
	if d.StillOpen != nil {
		h.StillOpen, h.Reviewed = d.StillOpen.Findings, d.StillOpen.Round
	}
	if plan := config.Spawn.PlanOf(s.id); plan != "" && s.rooted().Exists(plan) {
		h.Files = append(h.Files, plan)
	}
	for _, round := range slices.Compact([]int{d.Round, d.NextRound}) {
		research := project.StateDir + "/" + handoffFolder + "/" + researchFile(s.id, round, "research.md")
		if s.rooted().Exists(research) {
			h.Files = append(h.Files, research)
		}
	}
	path := handoffPath(s.id, d.NextRound)
	state, err := s.openState()
	if err != nil {
		return "", err
	}
	defer state.Close()
	if err := state.Mkdir(handoffFolder, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return "", unkept(path, err)
	}
	dir, err := safefile.MakeDirIn(state, handoffFolder)
	if err != nil {
		return "", unkept(path, err)
	}
	defer dir.Close()
	if err := safefile.ReplaceWith(dir, filepath.Base(path), strings.NewReader(h.Markdown()), safefile.Options{Mode: 0o600, NoSync: true}); err != nil {
		return "", unkept(path, err)
	}
	return path, nil
}

// handoffPath is where the work of a round stands for its executor, relative to the
// project's root.
func handoffPath(id string, round int) string {
	return fmt.Sprintf("%s/%s/%s-r%d-findings.md", project.StateDir, handoffFolder, id, round)
}
