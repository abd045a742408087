package cli

import (
	"cmp"

	"github.com/switchyard-dev/switchyard/internal/api"
	"github.com/switchyard-dev/switchyard/internal/project"
)

// RunTask returns the request for a task of a tasks file: what the flags say, unless its
// entry says something else.
func RunTask(t project.Task, flags api.RunRequest) api.RunTask {
	req := flags
	req.Prompt, req.Budget = t.Prompt, t.Budget
	req.Base, req.Verify = cmp.Or(t.Base, req.Base), cmp.Or(t.Verify, req.Verify)
	return api.RunTask{ID: t.ID, DependsOn: t.DependsOn, RunRequest: req}
}
