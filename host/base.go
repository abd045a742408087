package host

import (
	"context"
	"slices"

	"github.com/switchyard-dev/switchyard/host/fault"
	"github.com/switchyard-dev/switchyard/host/task"
	"github.com/switchyard-dev/switchyard/spawner/tree"
)

// CodeDraftEmpty: a critic would review nothing. Detail: base.
const CodeDraftEmpty fault.Code = "draft-empty"

// base is the commit that the task's draft is compared with: the one that the command
// names, else the recorded one, and for a task that begins the one that it begins at.
// It is "" without git, and for a task of which none was recorded: that is compared
// with HEAD.
func (s *session) base(ctx context.Context) (string, error) {
	if s.found != "" {
		return s.found, nil
	}
	if s.rev == "" && !s.begins() {
		return s.status.Base, nil
	}
	config, err := s.UncheckedConfig(ctx)
	if err != nil {
		return "", err
	}
	keeper, err := s.keeper()
	if err != nil {
		return "", err
	}
	s.found, err = tree.Base(ctx, keeper, s.project.Root, s.rev, config.Base)
	if fault.CodeOf(err) == tree.CodeNoGit && s.rev == "" {
		err = nil // Nothing can be compared, and the caller named no commit.
	}
	return s.found, s.about(err)
}

// begins reports whether the command begins the task, or its work anew.
func (s *session) begins() bool {
	return s.head.N == 0 || slices.ContainsFunc(s.pending, func(r record) bool { return r.Event.Kind() == task.KindStarted })
}
