package task_test

import (
	"cmp"
	"slices"

	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/task"
)

// This file is the part of the model that only tasks with a branch of their own need.

// branch returns the task's latest branch, nil for none.
func (m model) branch() *task.Branch {
	var b *task.Branch
	for _, h := range m {
		switch w := h.what.(type) {
		case task.StartWork:
			if w.Branch != nil {
				fresh := *w.Branch
				b = &fresh
			}
		case task.CreateBranch:
			b.Created = true
		case task.RecordCommit:
			b.Tip = w.SHA
		}
	}
	return b
}

// commit returns the commit of this round, nil for none.
func (m model) commit() *task.GitCommit {
	for _, h := range slices.Backward(m.thisRound()) {
		if c, ok := h.what.(task.RecordCommit); ok {
			return &c.GitCommit
		}
	}
	return nil
}

// merge returns this round's latest merge, nil for none and for one that was stopped.
func (m model) merge() *task.Merge {
	var merge *task.Merge
	for _, h := range m.thisRound() {
		switch w := h.what.(type) {
		case task.BeginMerge:
			merge = &task.Merge{Into: w.Into}
		case task.EndMerge:
			merge = &task.Merge{Into: merge.Into, Outcome: w.Outcome, Commit: w.Commit, Verified: w.Verified}
		case task.StopTask:
			if merge != nil && merge.Outcome == "" {
				merge = nil
			}
		}
	}
	return merge
}

// mergeFailed reports whether a failed merge is why the task is stuck.
func (m model) mergeFailed() bool {
	for _, h := range slices.Backward(m) {
		switch w := h.what.(type) {
		case task.RecordReceipt:
		case task.AttestAgent, task.RecordSearch:
		case task.EndMerge:
			return w.Outcome != "merged"
		default:
			return false
		}
	}
	return false
}

// decided returns the tree of this round's decision to commit, "" for none.
func (m model) decided() string {
	for _, h := range slices.Backward(m) {
		if d, ok := h.what.(decision); ok {
			if d.outcome.NextAction == "commit" && h.round == m.round() && !h.grew {
				return d.outcome.Tree
			}
			return ""
		}
	}
	return ""
}

// plan returns the path of the latest revised plan that still applies, "" for none.
func (m model) plan() string {
	plan := ""
	for i, h := range m {
		r, resumed := h.what.(task.ResumeTask)
		_, began := h.what.(task.StartWork)
		if h.grew && (began || resumed && (r.Mode == task.Replan || r.Mode == task.Reset)) {
			plan = ""
		}
		c, ok := h.what.(task.RecordReceipt)
		if !ok || c.Path == "" {
			continue
		}
		for _, run := range m[:i+1].listed() {
			if run.Run == c.Run && run.Role == "plan-checker" && !run.stale {
				plan = c.Path
			}
		}
	}
	return plan
}

// raised returns what the user added to one part of the budgets; 3 is the rounds.
func (m model) raised(n int) int64 {
	sum := int64(0)
	for i, h := range m {
		w, ok := h.what.(task.AnswerQuestion)
		if !ok {
			continue
		}
		if open, _ := m[:i].questions().meant(w); open.Budget != "" {
			raise := raiseOf(open.Budget, open.said(w))
			sum += []int64{raise.Millis, raise.Tokens, raise.MicroDollars, int64(raise.Rounds)}[n]
		}
	}
	return sum
}

// raiseOf returns what the answers of the walks mean, the zero Raise for those that mean
// nothing.
func raiseOf(unit, answer string) task.Raise {
	return map[string]task.Raise{
		"task-time 2ms":             {Amount: task.Amount{Millis: 2}},
		"round-tokens 5 tokens":     {Amount: task.Amount{Tokens: 5}},
		"task-dollars $0.000003":    {Amount: task.Amount{MicroDollars: 3}},
		"task-rounds 1":             {Rounds: 1},
		"task-rounds raise by 2":    {Rounds: 2},
		"round-tokens raise by 2":   {Amount: task.Amount{Tokens: 2}},
		"task-dollars raise by 2":   {Amount: task.Amount{MicroDollars: 2_000_000}},
		"round-tokens 1":            {Amount: task.Amount{Tokens: 1}},
		"task-dollars 1":            {Amount: task.Amount{MicroDollars: 1_000_000}},
		"task-time raise by 40ms":   {Amount: task.Amount{Millis: 40}},
		"task-dollars raise by 2.5": {Amount: task.Amount{MicroDollars: 2_500_000}},
	}[unit+" "+answer]
}

// exists returns the code for a task that has no event, and else that of its status.
func (m model) exists(open errs.Code) errs.Code {
	if m.status() == task.NoTask {
		return errs.TaskNotFound
	}
	return cmp.Or(m.mayDecide(), open)
}

func (m model) createBranch() verdict {
	if code := m.exists(""); code != "" {
		return refused(code)
	}
	if m.branch() == nil {
		return refused(errs.TaskNoBranch)
	}
	return verdict{idle: m.branch().Created}
}

func (m model) ask() verdict { return verdict{code: m.exists("")} }

func (m model) park() verdict { return verdict{code: m.exists("")} }

func (m model) unpark(c task.EndParking) verdict {
	parked := m.status() == task.Parked
	if c.By == "" {
		return verdict{idle: !parked || c.Now < m[m.parkedAt()].what.(task.ParkTask).Until}
	}
	if parked {
		return verdict{}
	}
	return refused(m.exists(errs.TaskNotParked))
}

func (m model) parkedAt() int {
	for i, h := range slices.Backward(m) {
		if _, ok := h.what.(task.ParkTask); ok {
			return i
		}
	}
	return -1
}

func (m model) record(c task.RecordCommit) verdict {
	switch {
	case m.status() != task.Committed:
		return refused(m.exists(errs.TaskNotCommitted))
	case m.branch() == nil:
		return refused(errs.TaskNoBranch)
	case m.commit() != nil:
		same := *m.commit() == c.GitCommit
		return verdict{idle: same, impossible: !same}
	default:
		return verdict{impossible: c.Tree == "" || c.Tree != m.decided()}
	}
}

func (m model) beginMerge() verdict {
	switch {
	case m.status() == task.Stuck && m.mergeFailed():
		return verdict{}
	case m.status() != task.Committed:
		return refused(m.exists(errs.TaskNotCommitted))
	case m.commit() == nil:
		return refused(errs.TaskNoBranch)
	default:
		return verdict{}
	}
}

func (m model) endMerge(c task.EndMerge) verdict {
	switch {
	case m.status() != task.Merging:
		return refused(m.exists(errs.TaskNotCommitted))
	case c.Outcome == task.Merged && !c.Verified && m.verifies():
		return refused(errs.CommitUnverified)
	default:
		return verdict{}
	}
}
