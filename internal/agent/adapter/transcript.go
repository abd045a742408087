package adapter

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/switchyard-dev/switchyard/internal/redact"
)

// Part is a part of a transcript, for a person to read. Its texts may contain anything.
type Part struct {
	Kind PartKind
	// Name is the name of a tool.
	Name string
	// Text is the message, the input or output of the tool, the error, or the line.
	Text string
}

// PartKind is the kind of a Part.
type PartKind string

// The kinds.
const (
	PartText   PartKind = "text"
	PartTool   PartKind = "tool"
	PartResult PartKind = "result"
	PartError  PartKind = "error"
	// PartLine is a line, or a JSON object, that no rule explains.
	PartLine PartKind = "line"
)

// maxPiece bounds a line of an output that is text, in bytes. A longer one is broken.
const maxPiece = 1 << 20

// ReadTranscript calls show for each part of an output, in order. It needs memory of a few
// times MaxDocument, and shows a note instead of a longer line.
//
// # Errors
//
// Errors from r.
func (a *Adapter) ReadTranscript(r io.Reader, show func(Part)) error {
	if a.spec.Output == formText {
		return readLines(r, show)
	}
	t := transcript{spec: &a.spec, show: show}
	t.emit, t.other = t.event, t.unexplained
	_, err := io.Copy(&t.documents, r)
	t.finish()
	t.flush()
	return err
}

func readLines(r io.Reader, show func(Part)) error {
	lines := bufio.NewReaderSize(r, maxPiece)
	for {
		line, err := lines.ReadSlice('\n')
		if len(line) > 0 {
			show(Part{Kind: PartLine, Text: strings.TrimRight(string(line), "\r\n")})
		}
		switch {
		case err == io.EOF:
			return nil
		case err != nil && !errors.Is(err, bufio.ErrBufferFull):
			return err
		}
	}
}

// transcript finds the parts of an output's events.
type transcript struct {
	documents
	spec *spec
	show func(Part)
	// pieces has the text so far of a message that comes in several events.
	pieces strings.Builder
	// last is the last message, since the final one often comes twice.
	last string
}

func (t *transcript) flush() {
	if t.pieces.Len() > 0 {
		// Each piece was redacted, but a secret can be in several.
		t.show(Part{Kind: PartText, Text: redact.Text(t.pieces.String())})
		t.pieces.Reset()
	}
}

// unexplained shows a part that is not a JSON object, or a note for nil, which means that the
// part was too long.
func (t *transcript) unexplained(line []byte) {
	t.flush()
	text := string(line)
	if line == nil {
		text = fmt.Sprintf("(a line or object of more than %d MiB)", MaxDocument>>20)
	}
	t.show(Part{Kind: PartLine, Text: text})
}

func (t *transcript) event(e event) {
	for _, rule := range t.spec.Result {
		if text, ok := rule.text(e); ok && rule.Pick == pickConcat && rule.Where.holds(e) {
			if t.pieces.WriteString(text); t.pieces.Len() > MaxDocument {
				t.flush()
			}
			return
		}
	}
	t.flush()
	shown := false
	show := func(p Part) {
		t.show(p)
		shown = true
	}
	message := func(text string) {
		if text != t.last {
			t.show(Part{Kind: PartText, Text: text})
		}
		t.last, shown = text, true
	}
	rules := t.spec.Transcript
	for _, text := range allOf(rules.Text, e) {
		message(text)
	}
	for _, rule := range t.spec.Result {
		if text, ok := rule.text(e); ok && rule.Where.holds(e) {
			message(text)
			break
		}
	}
	names, inputs := allOf(t.spec.Tools, e), valuesOf(rules.Input, e)
	for i, name := range names {
		p := Part{Kind: PartTool, Name: name}
		if len(inputs) == len(names) { // Otherwise the inputs cannot be assigned.
			p.Text = inputs[i]
		}
		show(p)
	}
	for _, text := range allOf(rules.Output, e) {
		show(Part{Kind: PartResult, Text: text})
	}
	for _, text := range allOf(t.spec.Notes, e) {
		show(Part{Kind: PartError, Text: text})
	}
	for _, rule := range t.spec.Error {
		if rule.Stream == "stderr" || !rule.Where.holds(e) {
			continue
		}
		for _, text := range rule.Message.scalars(e) {
			if text != t.last {
				show(Part{Kind: PartError, Text: text})
			}
		}
	}
	if !shown && !anyHolds(rules.Skip, e) {
		t.show(Part{Kind: PartLine, Text: string(t.raw)})
	}
}

// valuesOf returns the values that rules find in an event: scalars as texts, others as
// JSON.
func valuesOf(rules []rule, e event) (found []string) {
	for _, rule := range rules {
		if !rule.Where.holds(e) {
			continue
		}
		for _, v := range rule.Path.values(e) {
			if text, ok := scalar(v); ok {
				found = append(found, text)
			} else if v.Kind() != 'n' {
				found = append(found, string(v))
			}
		}
	}
	return found
}
