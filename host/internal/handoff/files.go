package handoff

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/switchyard-dev/switchyard/host/internal/core"
	"github.com/switchyard-dev/switchyard/host/internal/tasktx"
	"github.com/switchyard-dev/switchyard/internal/agent/outcome"
	"github.com/switchyard-dev/switchyard/internal/digest"
	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/project"
)

// VerificationFile is the name of the output of a verification in an attempt's directory.
const VerificationFile = "verification.log"

// Maximum sizes of a task's plan and of a file for an agent, in bytes.
const maxPlan, maxGiven = 1 << 20, 4 << 20

// GiveFile copies the end of a file, relative to the project's root, to a directory that every
// agent can read: some refuse files that version control ignores, or that are outside of
// their working tree. It returns the path of the copy, "" if the file is gone: a user may delete
// outputs and research.
func GiveFile(p *core.Project, path, folder, name string) (string, error) {
	data, err := p.ReadEnd(path, maxGiven)
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	copied := filepath.Join(folder, name)
	if err == nil {
		err = os.WriteFile(copied, data, 0o600)
	}
	if err != nil {
		return "", errs.New(errs.SpawnFolderFailed, "%s cannot be handed on: %w", path, err)
	}
	return copied, nil
}

const planFileName = "plan.md"

// Plan returns the path of the task's plan for an agent, "" if it has no plan. The revised
// plan, else the configured one, is copied to folder; an agent that works in the checkout
// reads the configured one itself.
func Plan(ctx context.Context, tx *tasktx.Tx, config project.Config, folder string) (string, error) {
	path := config.Spawn.PlanOf(tx.ID)
	revised, err := revisedPlan(ctx, tx)
	if err != nil {
		return "", err
	}
	data := []byte(revised)
	if revised == "" {
		if data, err = ConfiguredPlan(ctx, tx.Project, path); err != nil || path == "" {
			return "", err
		}
		if tx.Tree() == tx.Project.Root {
			return tx.Project.AtRoot().Abs(path), nil
		}
	}
	given := filepath.Join(folder, planFileName)
	if err := os.WriteFile(given, data, 0o600); err != nil {
		return "", errs.New(errs.SpawnFolderFailed, "the plan cannot be handed on: %w", err)
	}
	return given, nil
}

// ConfiguredPlan reads the plan of a task at the path that the configuration has for it, "" if
// there is none.
func ConfiguredPlan(ctx context.Context, p *core.Project, path string) ([]byte, error) {
	if path == "" {
		return nil, nil
	}
	data, err := p.AtRoot().Read(ctx, path, maxPlan)
	if err != nil {
		return nil, errs.New(errs.CodeOf(err), "spawn.plan in %s: %w", project.ConfigFile, err).With("path", path).
			WithHint("write the task's plan there, or leave spawn.plan out and say what the task is with --prompt")
	}
	return data, nil
}

// revisedPlan returns the plan of the latest plan-checker, or "".
func revisedPlan(ctx context.Context, tx *tasktx.Tx) (string, error) {
	p := tx.Status.Plan
	if p == nil {
		return "", nil
	}
	text, err := ReadReport(ctx, tx, p.Path, p.Digest)
	return string(text), err
}

// ReadReport returns the stored report of a run, or nil if the file is gone or changed.
func ReadReport(ctx context.Context, tx *tasktx.Tx, path, sum string) ([]byte, error) {
	data, err := tx.Project.AtRoot().Read(ctx, path, outcome.MaxReport)
	if err != nil {
		return nil, ctx.Err()
	}
	if digest.Of(data) != sum {
		return nil, nil
	}
	return data, nil
}
