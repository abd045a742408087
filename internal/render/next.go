package render

import (
	"fmt"
	"strings"

	"github.com/switchyard-dev/switchyard/internal/api"
	"github.com/switchyard-dev/switchyard/internal/policy/routing"
	"github.com/switchyard-dev/switchyard/internal/project"
	"github.com/switchyard-dev/switchyard/internal/task"
)

// step is an action for the user and the command that follows it. Each may be "".
type step struct{ now, then string }

// next ends a page with a step. It is plain text because people copy it.
func (p *Printer) next(s step) {
	if s.now == "" {
		return
	}
	p.Line("")
	p.Line("next: %s", s.now)
	p.lineIf(s.then != "", "then: %s", s.then)
}

// NextStep is the next step of a task.
type NextStep struct {
	TaskID string      `json:"task_id"`
	Status task.Status `json:"status"`
	Round  int         `json:"round"`
	// Next is the next action or command, and Then the command after it. Each may be "".
	Next string `json:"next"`
	Then string `json:"then"`
	// Handoff is the file with the executor's instructions, relative to the project's root,
	// or nil. HandoffText is its content.
	Handoff     *string `json:"handoff"`
	HandoffText string  `json:"handoff_text,omitzero"`
	// Answers are the user's answers to the questions of the last decision.
	Answers []task.Answer `json:"answers,omitzero"`
}

// NextOf returns the next step of a task, without the text of the handoff.
func NextOf(t api.TaskDetail) NextStep {
	s := afterStatus(t.TaskStatus, t.Handoff)
	next := NextStep{TaskID: t.TaskID, Status: t.Status, Round: t.Round, Next: s.now, Then: s.then, Handoff: t.Handoff}
	if t.Questions != nil {
		next.Answers = t.Questions.Answers
	}
	return next
}

// Next prints the next step of a task.
func (p *Printer) Next(n NextStep) {
	p.Line("%s  %s, round %d", n.Status, n.TaskID, n.Round)
	p.answers(n.Answers)
	p.next(step{n.Next, n.Then})
	p.lineIf(n.HandoffText != "", "")
	for line := range strings.Lines(n.HandoffText) {
		p.Line("%s", strings.TrimSuffix(line, "\n"))
	}
}

func afterDecision(d api.Decision) step {
	again := continuing(d.TaskID, d.Driven)
	switch {
	case d.Budget != "":
		return step{"raise the budget in " + project.ConfigFile, fmt.Sprintf("switchyard resume %s --rounds +1", d.TaskID)}
	case len(d.Missing) > 0:
		return whenUnverified(d.TaskID)
	case d.Missing != nil:
		return step{now: "switchyard phase commit " + d.TaskID}
	case d.Stuck:
		return whenStuck(d.TaskID)
	case len(d.Questions) > 0:
		return whenAsked(d.TaskID, d.Questions, again)
	case d.Driven:
		return step{now: again}
	case d.NextAction == routing.Commit:
		return step{now: "git commit: the task is done"}
	default:
		return toAgent(d.TaskID, d.NextAction, d.Handoff)
	}
}

// continuing returns the command that continues a task. driven is set if it has its own branch.
func continuing(id string, driven bool) string {
	if driven {
		return "switchyard run " + id
	}
	return "switchyard round " + id
}

// whenUnverified returns the step if a review decided to commit a draft that is not verified. A
// verification ends the review, because the draft may have changed.
func whenUnverified(id string) step {
	return step{"verify the draft: switchyard phase draft " + id, "have it reviewed again: switchyard phase review " + id}
}

// afterStatus returns the step for a task in its current state.
func afterStatus(t api.TaskStatus, handoff *string) step {
	last := t.Last
	again := continuing(t.TaskID, t.Branch != nil)
	switch {
	case t.MergeFailed():
		return whenUnmerged(again, t.Branch, *t.Merge)
	case t.Status == task.Stuck:
		return whenStuck(t.TaskID)
	case t.Status == task.Waiting && t.Questions != nil:
		return whenAsked(t.TaskID, t.Questions.Open, again)
	case t.Status == task.Parked:
		return step{again + " --wait waits and continues", "switchyard resume " + t.TaskID + " continues at once"}
	case t.Status == task.Merging, lacksCommit(t), t.Status == task.Open && t.Branch != nil:
		return step{now: again}
	case t.Status != task.Open, t.Phase != "" && t.Phase != task.Review:
		return step{} // The user chooses the next phase.
	case last == nil:
		return step{"make the draft", again}
	case last.NextAction == routing.Commit && len(t.MissingForCommit(false)) > 0:
		return whenUnverified(t.TaskID)
	case last.NextAction == routing.Commit:
		return step{now: "switchyard phase commit " + t.TaskID}
	case last.NextRound != t.Round, task.IsStuckDestination(last.NextAction, last.DestinationKind):
		return step{"change the draft", again}
	case t.Questions != nil && len(t.Questions.Answers) > 0:
		s := step{"give the answer to the executor", again}
		if last.FindingCount > len(t.Questions.Answers) {
			s.now += ", with the open findings of switchyard findings " + t.TaskID
		}
		return s
	default:
		return toAgent(t.TaskID, last.NextAction, handoff)
	}
}

func whenStuck(id string) step {
	return step{"switchyard explain " + id + " shows why", "switchyard resume " + id + " --rounds +N, or --replan, --manual or --reset"}
}

// whenAsked returns the step for open questions. then is the command after the answer.
func whenAsked(id string, questions []task.Question, then string) step {
	what := "question"
	if len(questions) > 1 {
		what = "questions"
	}
	return step{"answer the " + what + ": " + answerCommand("switchyard", id, questions), then}
}

// answerCommand returns the command of a program that answers open questions.
func answerCommand(program, id string, questions []task.Question) string {
	command := program + " answer " + id
	if len(questions) > 1 {
		command += " --question ID"
	}
	if len(questions) > 0 && len(questions[0].Choices) > 0 {
		return command + " --choice N"
	}
	return command + " --text TEXT"
}

// toAgent returns the step for an agent's destination, with its file if there is one.
func toAgent(id, destination string, handoff *string) step {
	s := step{"give the findings to the " + destination, "switchyard round " + id}
	switch {
	case handoff != nil:
		s.now = fmt.Sprintf("give %s to the executor", *handoff)
	case destination == "researcher":
		s.now = "find out what the findings lack, and give it to the executor"
	case destination == "plan-checker":
		s.now = "correct the plan: the findings say what is wrong with it"
	}
	return s
}
