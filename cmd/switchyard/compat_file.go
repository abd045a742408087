package main

import (
	"context"
	"os"
	"path/filepath"

	"github.com/switchyard-dev/switchyard/host"
	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/plugin/document"
	"github.com/switchyard-dev/switchyard/internal/project"
)

// maxVerifyOutput is the longest output of a verification that is read, in bytes.
const maxVerifyOutput = 64 << 20

// confined reads a file that lies in the project or in the folder for temporary
// files. It is opened through the root of whichever it is, by its name within, so
// that no symbolic link leads out of it, also not one that is put there meanwhile.
func (a *app) confined(ctx context.Context, path string, limit int64, outside, unreadable errs.Code) ([]byte, error) {
	p, err := a.project()
	if err != nil {
		return nil, err
	}
	temp, err := filepath.Abs(os.TempDir())
	if err != nil {
		return nil, err
	}
	for _, root := range []string{p.Root, temp} {
		in := project.Project{Root: root, Dir: p.Dir}
		rel, inside := in.Rel(path)
		if !inside {
			continue
		}
		data, err := in.Read(ctx, filepath.Join(root, filepath.FromSlash(rel)), limit)
		switch errs.CodeOf(err) {
		case "", errs.FileTooLarge:
			return data, err
		case errs.PathEscapesProject:
			return nil, errs.New(outside, "%w", err).With("path", path)
		default:
			return nil, errs.New(unreadable, "%w", err).With("path", path)
		}
	}
	return nil, errs.New(outside, "%s lies neither in the project nor in the folder for temporary files", path).With("path", path)
}

// confinedReport reads a critic's report, which may be as long as any report.
func (a *app) confinedReport(ctx context.Context, path string) ([]byte, error) {
	limit, err := ask(ctx, a, func(e *host.Engine) (int64, error) {
		config, err := e.Config(ctx)
		return document.Limits{Bytes: config.Limits.Report}.WithDefaults().Bytes, err
	})
	if err != nil {
		return nil, err
	}
	text, err := a.confined(ctx, path, limit, errs.LoopRunRoundCriticOutputsPathTraversal, errs.LoopRunRoundCriticOutputsPathUnreadable)
	if errs.CodeOf(err) == errs.FileTooLarge {
		err = document.TooLarge(limit)
	}
	return text, err
}
