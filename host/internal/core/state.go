package core

import (
	"context"
	"io"
	"os"
	"path/filepath"

	"github.com/switchyard-dev/switchyard/internal/agent/lease"
	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/project"
	"github.com/switchyard-dev/switchyard/internal/safefile"
	"github.com/switchyard-dev/switchyard/internal/transcript"
)

// OpenState opens the state directory and creates it if needed.
//
// # Errors
//
// state-unsafe if it is not a directory or belongs to another user, and
// state-file-unwritable.
func (p *Project) OpenState() (*os.Root, error) {
	state, err := safefile.OpenState(p.State())
	switch {
	case safefile.Unsafe(err):
		return nil, errs.New(errs.StateUnsafe, "%s cannot be used: %w", p.State(), err).With("path", p.State())
	case err != nil:
		return nil, ErrStateWrite(project.StateDir, err)
	}
	return state, nil
}

// StateFolder opens a subdirectory of the state directory and creates it if needed.
func (p *Project) StateFolder(name string) (*os.Root, error) {
	state, err := p.OpenState()
	if err != nil {
		return nil, err
	}
	defer state.Close()
	dir, err := safefile.MakeDirIn(state, name)
	if err != nil {
		return nil, ErrStateWrite(project.StateDir+"/"+name, err)
	}
	return dir, nil
}

// WriteStateFile writes a file of such a subdirectory atomically and durably. It
// returns the file's path relative to the project's root, with slashes.
func (p *Project) WriteStateFile(in, name string, data []byte) (path string, err error) {
	path = project.StateDir + "/" + in + "/" + name
	dir, err := p.StateFolder(in)
	if err != nil {
		return "", err
	}
	defer dir.Close()
	if err := safefile.Replace(dir, name, data, 0o600); err != nil {
		return "", ErrStateWrite(path, err)
	}
	return path, nil
}

// ReadEnd returns the end of a file of the project, at most limit bytes. It follows no links and
// does not wait for a pipe: code of a draft may have replaced the file.
func (p *Project) ReadEnd(path string, limit int64) ([]byte, error) {
	root, err := os.OpenRoot(p.Root)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	f, err := safefile.OpenFile(root, filepath.FromSlash(path), os.O_RDONLY)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	return io.ReadAll(io.NewSectionReader(f, info.Size()-min(info.Size(), limit), limit))
}

// ErrStateWrite returns the error of a file of the state directory that cannot be written.
func ErrStateWrite(path string, err error) error {
	return errs.New(errs.StateFileUnwritable, "%s cannot be kept: %w", path, safefile.Reason(err)).With("path", path)
}

// Leases returns the project's leases: for agents, verifications, merges, running rounds and
// the home of a fleet.
func (p *Project) Leases() (*lease.Pool, error) {
	keeper, err := p.Supervisor()
	if err != nil {
		return nil, err
	}
	state, err := p.OpenState()
	if err != nil {
		return nil, err
	}
	defer state.Close()
	return lease.Open(p.LeaseFolder(), os.TempDir(), keeper)
}

// LeaseFolder returns the path of the directory of Leases, which need not exist.
func (p *Project) LeaseFolder() string { return filepath.Join(p.State(), lease.Folder) }

// Release ends a lease. An error is only a warning: the next process that takes the lease
// cleans up.
func (p *Project) Release(held *lease.Lease) {
	if err := held.Release(); err != nil {
		p.Warn(err)
	}
}

// KeepTranscripts returns the function that saves transcripts of agents, nil if transcripts
// are off. If it cannot save one, it only warns: the agent's work is done.
func (p *Project) KeepTranscripts(limits transcript.Limits) func(context.Context, io.Reader) string {
	if limits == (transcript.Limits{}) {
		return nil
	}
	return func(ctx context.Context, stdout io.Reader) string {
		p.saving.Lock()
		defer p.saving.Unlock()
		dir, err := p.StateFolder(transcript.Folder)
		if err != nil {
			p.Warn(err)
			return ""
		}
		defer dir.Close()
		sum, err := transcript.Save(ctx, dir, stdout, limits)
		if err != nil {
			p.Warn(ErrStateWrite(project.StateDir+"/"+transcript.Folder, err))
		}
		return sum
	}
}
