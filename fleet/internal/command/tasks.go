package command

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/serviceerror"
	workflowpb "go.temporal.io/api/workflow/v1"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/converter"

	"github.com/switchyard-dev/switchyard/fleet/internal/flow"
	"github.com/switchyard-dev/switchyard/internal/api"
	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/task"
)

// fleetTask is a task as the server shows it.
type fleetTask struct {
	id    string
	at    flow.Position
	state enumspb.WorkflowExecutionStatus
}

// readTask reads a task from the memo of its workflow. Unlike a query, this does not need a
// worker.
func readTask(project string, info *workflowpb.WorkflowExecutionInfo) (fleetTask, error) {
	t := fleetTask{id: strings.TrimPrefix(info.GetExecution().GetWorkflowId(), flow.WorkflowID(project, "")), state: info.GetStatus()}
	if memo := info.GetMemo().GetFields()[flow.MemoPosition]; memo != nil {
		if err := converter.GetDefaultDataConverter().FromPayload(memo, &t.at); err != nil {
			return t, errs.New(errs.Internal, "the memo of %s cannot be read: %w", t.id, err)
		}
	}
	return t, nil
}

// ended reports whether the task's workflow has ended.
func (t fleetTask) ended() bool { return t.state != enumspb.WORKFLOW_EXECUTION_STATUS_RUNNING }

// result returns the task as the result of a run. If the task has not ended, the next action
// is its status.
func (t fleetTask) result() api.RunResult {
	p := t.at
	r := api.RunResult{
		TaskID: t.id, Status: p.Status, NextAction: cmp.Or(p.NextAction, flow.StatusOf(p)), Reason: p.Reason, Round: p.Round, MaxRounds: p.MaxRounds,
		Commit: p.Commit, Subject: p.Subject, Spent: p.Spent,
	}
	if p.Status == task.Parked {
		r.Until = p.Until
	}
	if q := p.Question; q != nil && !t.ended() {
		r.Questions = []task.Question{{Fingerprint: q.Fingerprint, Text: q.Text, Choices: q.Choices, Default: q.Default, ExpiresAt: p.Until}}
	}
	if f := p.Failure; f != nil {
		r.Error = errs.New(f.Code, "%s", f.Message).WithHint(f.Hint)
	}
	if t.ended() && p.NextAction == "" {
		r.NextAction = api.ActionFailed
		r.Error = errs.New(errs.FleetTaskTerminated, "the workflow of %s was ended from outside: %s", t.id, strings.ToLower(t.state.String())).With("task", t.id)
	}
	return r
}

// readTasks returns the latest runs of a project's tasks by their ids: of the tasks with these
// ids or, without ids, of all. The server may need a moment to show changes.
func readTasks(ctx context.Context, c client.Client, project string, ids ...string) (map[string]fleetTask, error) {
	tasks := make(map[string]fleetTask)
	if len(ids) == 0 {
		return tasks, listTasks(ctx, c, project, "", tasks)
	}
	for some := range slices.Chunk(ids, maxListed) {
		quoted := make([]string, len(some))
		for i, id := range some {
			quoted[i] = "'" + flow.WorkflowID(project, id) + "'"
		}
		if err := listTasks(ctx, c, project, " AND WorkflowId IN ("+strings.Join(quoted, ", ")+")", tasks); err != nil {
			return nil, err
		}
	}
	return tasks, nil
}

// maxListed is the number of ids in one query.
const maxListed = 50

func listTasks(ctx context.Context, c client.Client, project, filter string, tasks map[string]fleetTask) error {
	query := fmt.Sprintf("%s = '%s' AND WorkflowType = '%s' AND ExecutionStatus != 'ContinuedAsNew'%s", flow.ProjectAttribute().GetName(), project, flow.Workflow, filter)
	latest := make(map[string]int64)
	req := &workflowservice.ListWorkflowExecutionsRequest{Query: query, PageSize: 1000}
	for {
		page, err := c.ListWorkflow(ctx, req)
		if err != nil {
			return serverError(ctx, err)
		}
		for _, info := range page.Executions {
			t, err := readTask(project, info)
			if err != nil {
				continue // Another program or a later version started it; status TASK says why it cannot be read.
			}
			if start := info.GetStartTime().AsTime().UnixNano(); start >= latest[t.id] {
				latest[t.id], tasks[t.id] = start, t
			}
		}
		if req.NextPageToken = page.NextPageToken; len(req.NextPageToken) == 0 {
			return nil
		}
	}
}

// describe returns a task as it is now.
//
// # Errors
//
// fleet-task-unknown.
func describe(ctx context.Context, c client.Client, project, id string) (fleetTask, error) {
	if err := task.CheckID(id); err != nil {
		return fleetTask{}, err
	}
	d, err := c.DescribeWorkflowExecution(ctx, flow.WorkflowID(project, id), "")
	if is[*serviceerror.NotFound](err) {
		return fleetTask{}, errs.New(errs.FleetTaskUnknown, "the fleet has no task %s of project %s", id, project).With("task", id)
	}
	if err != nil {
		return fleetTask{}, serverError(ctx, err)
	}
	return readTask(project, d.WorkflowExecutionInfo)
}
