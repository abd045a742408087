package host_test

import (
	"io"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/switchyard-dev/switchyard/internal/agent/adapter"
	"github.com/switchyard-dev/switchyard/internal/agent/fakeagent"
	"github.com/switchyard-dev/switchyard/internal/digest"
	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/task"
)

// TestTranscripts has a round with a critic that is retried and three researchers: each
// run has its own transcript, and the latest of a role is found by the role.
func TestTranscripts(t *testing.T) {
	sequential(t)
	t.Parallel()
	researcher := fakeagent.Presets()["researcher"]
	s := newSite(t, "spawn: {retries: 1}\n", fakeagent.Presets()["rate-limit"], fakeagent.Finds(missing()), researcher, researcher, researcher)
	if d, err := s.round(t); err != nil || d.NextAction != "researcher" {
		t.Fatal(d.NextAction, err)
	}
	e := s.engine(t, time.Now)
	x, err := e.Explain(t.Context(), "T", 0)
	if err != nil {
		t.Fatal(err)
	}
	var roles []task.Role
	for _, entry := range x.Transcripts {
		roles = append(roles, entry.Role)
		for _, run := range []string{entry.Run, entry.Run[:20]} {
			got, err := e.Transcript(t.Context(), "T", run)
			if err != nil {
				t.Fatal(err)
			}
			if text, err := io.ReadAll(got); err != nil || digest.Of(text) != entry.Digest || len(text) == 0 || got.TranscriptEntry != entry {
				t.Errorf("%s is %q, %v; want %+v", run, text, err, entry)
			}
			if err := got.Close(); err != nil {
				t.Error(err)
			}
		}
	}
	if !slices.Equal(roles, []task.Role{"critic", "critic", "researcher", "researcher", "researcher"}) {
		t.Fatalf("transcripts of %v", roles)
	}
	for role, want := range map[string]string{"critic": x.Transcripts[1].Run, "researcher": x.Transcripts[4].Run} {
		got, err := e.Transcript(t.Context(), "T", role)
		if err != nil || got.Run != want {
			t.Fatalf("the latest %s is %s, %v; want %s", role, got.Run, err, want)
		}
		var parts []string
		if err := got.EachPart(func(part adapter.Part) { parts = append(parts, string(part.Kind)) }); err != nil || !slices.Contains(parts, string(adapter.PartText)) {
			t.Errorf("%s said %v, %v", role, parts, err)
		}
		got.Close()
	}
	v, err := e.Verify(t.Context())
	if err != nil || !v.Sound() || v.Transcripts.Sound != 5 || v.Transcripts.Gone != 0 || len(v.Transcripts.Altered) != 0 {
		t.Errorf("%+v, %v", v.Transcripts, err)
	}
	if err := os.Remove(s.path(".switchyard/transcripts/" + digest.Bare(x.Transcripts[2].Digest) + ".gz")); err != nil {
		t.Fatal(err)
	}
	left, err := e.Explain(t.Context(), "T", 0)
	if want := slices.Delete(slices.Clone(x.Transcripts), 2, 3); err != nil || !slices.Equal(left.Transcripts, want) {
		t.Errorf("without a file: %v, %v; want %v", left.Transcripts, err, want)
	}
}

// TestTranscriptIsGone tests what is said about a transcript that was removed: when it
// was due, if it was.
func TestTranscriptIsGone(t *testing.T) {
	t.Parallel()
	s := newSite(t, once, fakeagent.Clean())
	if _, err := s.round(t); err != nil {
		t.Fatal(err)
	}
	if err := os.RemoveAll(s.path(".switchyard/transcripts")); err != nil {
		t.Fatal(err)
	}
	later := func() time.Time { return time.Now().AddDate(0, 0, 40) }
	due := time.Now().UTC().AddDate(0, 0, 30).Format(time.DateOnly)
	for want, now := range map[string]func() time.Time{"by hand": time.Now, "it was due to be removed on " + due: later} {
		if _, err := s.engine(t, now).Transcript(t.Context(), "T", "critic"); errs.CodeOf(err) != errs.TranscriptGone || !strings.Contains(err.Error(), want) {
			t.Errorf("%v; want %s", err, want)
		}
	}
	v, err := s.engine(t, time.Now).Verify(t.Context())
	if err != nil || v.Transcripts.Gone != 1 || len(v.Transcripts.GoneRuns) != 1 || v.Transcripts.GoneRuns[0].Task != "T" {
		t.Errorf("%+v, %v", v.Transcripts, err)
	}
}
