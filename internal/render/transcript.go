package render

import (
	"io"
	"strings"

	"github.com/switchyard-dev/switchyard/internal/agent/adapter"
	"github.com/switchyard-dev/switchyard/internal/api"
	"github.com/switchyard-dev/switchyard/internal/textutil"
)

// transcriptCheck prints the result of a check of transcripts. If all is set, it lists the
// ones that are gone.
func (p *Printer) transcriptCheck(c api.TranscriptCheck, all bool) {
	p.lineIf(c.Sound > 0, "%s  %s", p.paint(green, "intact"), textutil.Count(c.Sound, "transcript"))
	for _, ref := range c.Altered {
		p.Line("%s  the transcript %s of run %s, task %s", p.paint(red, "altered"), shortDigest(ref.Digest), ref.Run, ref.Task)
	}
	p.lineIf(c.Gone > 0, "%s  %s, as old ones are removed", p.paint(dim, "gone"), textutil.Count(c.Gone, "transcript"))
	if !all {
		return
	}
	for _, ref := range c.GoneRuns {
		p.Line("      %s of run %s, task %s", shortDigest(ref.Digest), ref.Run, ref.Task)
	}
	p.lineIf(c.Gone > int64(len(c.GoneRuns)), "      and %d more", c.Gone-int64(len(c.GoneRuns)))
}

// transcripts lists the runs of a task that have a transcript.
func (p *Printer) transcripts(task string, all []api.TranscriptEntry) {
	if len(all) == 0 {
		return
	}
	rows := newTable("ROUND", "ROLE", "AGENT", "ADAPTER", "OUTCOME", "ENDED", "TRANSCRIPT OF RUN")
	for _, t := range all {
		rows.add(t.Round, string(t.Role), t.Agent, t.Adapter, string(t.Outcome), dimmed(eventTime(t.EndedAt)), t.Run)
	}
	p.list(rows)
	p.Line("switchyard explain %s --transcript RUN shows one", task)
}

// Raw returns a writer for the output of an agent's program. It writes hidden characters as
// \u escapes. The value of JSON does not change: only other lines can have control
// characters.
func Raw(w io.Writer) io.Writer { return rawWriter{textutil.JSONWriter(w)} }

type rawWriter struct{ w io.Writer }

func (r rawWriter) Write(p []byte) (int, error) {
	safe := make([]byte, 0, len(p))
	for _, b := range p {
		switch {
		case b == '\r': // It may be between JSON values, and would hide a line.
			safe = append(safe, ' ')
		case b < ' ' && b != '\n' && b != '\t' || b == 0x7f:
			safe = textutil.AppendJSON(safe, rune(b))
		default:
			safe = append(safe, b)
		}
	}
	if _, err := r.w.Write(safe); err != nil {
		return 0, err
	}
	return len(p), nil
}

// Maximum lengths of the parts of a transcript, in code points; JSON has all.
const (
	maxInput      = 200  // the input of a tool
	maxLine       = 2000 // a line of unknown meaning
	maxResultLine = 300  // a line of a tool's result
)

// Transcript prints the head of a transcript.
func (p *Printer) Transcript(t api.TranscriptEntry) {
	p.Line("%s  %s by %s, round %d, %s at %s", p.paint(bold, t.Run), t.Agent, t.Adapter, t.Round, t.Outcome, eventTime(t.EndedAt))
}

// TranscriptPart prints a part of a transcript: messages whole, and the rest clipped.
func (p *Printer) TranscriptPart(part adapter.Part) {
	switch text := strings.TrimSpace(part.Text); part.Kind {
	case adapter.PartText:
		p.Line("")
		for line := range strings.Lines(text) {
			p.Line("%s", strings.TrimRight(line, "\r\n"))
		}
	case adapter.PartTool:
		p.Line("")
		p.Line("%s %s", p.paint(cyan, "> "+part.Name), textutil.Fit(text, maxInput))
	case adapter.PartResult:
		if text == "" {
			return
		}
		lines := strings.Split(text, "\n")
		for i, line := range lines {
			lines[i] = textutil.Fit(line, maxResultLine)
		}
		p.block(strings.Join(lines, "\n"))
	case adapter.PartError:
		p.Line("%s %s", p.paint(yellow, "! error:"), text)
	default:
		p.Line("%s", textutil.Fit(strings.TrimRight(part.Text, " \t"), maxLine))
	}
}
