package round

import (
	"context"
	"io"

	"github.com/switchyard-dev/switchyard/internal/project"
	"github.com/switchyard-dev/switchyard/internal/transcript"
)

// keepTranscripts returns the function that keeps what agents said, nil if transcripts are
// off. A transcript that cannot be kept is a warning: the agent's work is done.
func (e *Engine) keepTranscripts(limits transcript.Limits) func(context.Context, io.Reader) string {
	if limits == (transcript.Limits{}) {
		return nil
	}
	return func(ctx context.Context, stdout io.Reader) string {
		dir, err := e.stateFolder(transcript.Folder)
		if err != nil {
			e.warn(err)
			return ""
		}
		defer dir.Close()
		sum, err := transcript.Save(ctx, dir, stdout, limits)
		if err != nil {
			e.warn(errStateWrite(project.StateDir+"/"+transcript.Folder, err))
		}
		return sum
	}
}
