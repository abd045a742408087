package spawner_test

import (
	"context"
	"io"
	"testing"

	"github.com/switchyard-dev/switchyard/internal/agent/fakeagent"
	"github.com/switchyard-dev/switchyard/internal/digest"
)

// TestTranscriptOfEachAttempt tests that the output of every attempt is offered once, also
// that of a failed one, and that its record names the digest.
func TestTranscriptOfEachAttempt(t *testing.T) {
	t.Parallel()
	silent := fakeagent.Scenario{Steps: []fakeagent.Step{{Kill: "KILL"}}}
	s := newScene(t, play("rate-limit"), silent, play("clean"))
	var digests []string
	s.Transcript = func(ctx context.Context, stdout io.Reader) string {
		text, err := io.ReadAll(stdout)
		if err != nil || ctx.Err() != nil {
			t.Errorf("%v, %v", err, ctx.Err())
		}
		digests = append(digests, digest.Of(text))
		return digests[len(digests)-1]
	}
	job := s.job(t)
	job.Retries = 2
	if out, err := s.run(t, job); err != nil || !out.Last().Verdict.Good() {
		t.Fatal(out.Last(), err)
	}
	trail := s.trail(t)
	if len(trail) != 3 || len(digests) != 2 {
		t.Fatalf("%d records, %d transcripts", len(trail), len(digests))
	}
	for i, want := range []string{digests[0], "", digests[1]} {
		if trail[i].Transcript != want || want != "" && want != digest.Prefix+trail[i].ResponseSHA256 {
			t.Errorf("attempt %d has the transcript %q of the output %s, want %q", i+1, trail[i].Transcript, trail[i].ResponseSHA256, want)
		}
	}
}
