package adapter

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
)

// Said is a part of an output, for a person to read. Its texts may contain anything.
type Said struct {
	Kind SaidKind
	// Name is the name of a tool.
	Name string
	// Text is the message, the input of the tool, what it returned, the error, or the
	// line.
	Text string
}

// SaidKind is the kind of a Said.
type SaidKind string

// The kinds.
const (
	SaidText   SaidKind = "text"
	SaidTool   SaidKind = "tool"
	SaidResult SaidKind = "result"
	SaidError  SaidKind = "error"
	// SaidLine is a line, or a JSON object, that no rule explains.
	SaidLine SaidKind = "line"
)

// maxPiece bounds a line of an output that is text, in bytes. A longer one is broken.
const maxPiece = 1 << 20

// Read passes each part of an output to say, in order. It needs memory of a few times
// MaxDocument; longer lines are passed over with a note.
//
// # Errors
//
// Those of r.
func (a *Adapter) Read(r io.Reader, say func(Said)) error {
	if a.spec.Output == formText {
		return readLines(r, say)
	}
	t := teller{spec: &a.spec, say: say}
	t.emit, t.other = t.event, t.unexplained
	_, err := io.Copy(writerFunc(t.write), r)
	t.finish()
	t.flush()
	return err
}

func readLines(r io.Reader, say func(Said)) error {
	lines := bufio.NewReaderSize(r, maxPiece)
	for {
		line, err := lines.ReadSlice('\n')
		if len(line) > 0 {
			say(Said{Kind: SaidLine, Text: strings.TrimRight(string(line), "\r\n")})
		}
		switch {
		case err == io.EOF:
			return nil
		case err != nil && !errors.Is(err, bufio.ErrBufferFull):
			return err
		}
	}
}

type writerFunc func([]byte)

func (f writerFunc) Write(p []byte) (int, error) {
	f(p)
	return len(p), nil
}

// teller explains the events of an output.
type teller struct {
	documents
	spec *spec
	say  func(Said)
	// pieces are those of a message that comes in several events.
	pieces strings.Builder
	// last is the last message. The final one often comes twice.
	last string
}

func (t *teller) flush() {
	if t.pieces.Len() > 0 {
		t.say(Said{Kind: SaidText, Text: t.pieces.String()})
		t.pieces.Reset()
	}
}

// unexplained passes on what is not a JSON object, nil for what was too long.
func (t *teller) unexplained(line []byte) {
	t.flush()
	text := string(line)
	if line == nil {
		text = fmt.Sprintf("(a line or object of more than %d MiB)", MaxDocument>>20)
	}
	t.say(Said{Kind: SaidLine, Text: text})
}

func (t *teller) event(e event) {
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
	say := func(s Said) {
		t.say(s)
		shown = true
	}
	message := func(text string) {
		if text != t.last {
			t.say(Said{Kind: SaidText, Text: text})
		}
		t.last, shown = text, true
	}
	show := t.spec.Transcript
	for _, rule := range show.Text {
		for _, text := range rule.all(e) {
			message(text)
		}
	}
	for _, rule := range t.spec.Result {
		if text, ok := rule.text(e); ok && rule.Where.holds(e) {
			message(text)
			break
		}
	}
	var names []string
	for _, rule := range t.spec.Tools {
		names = append(names, rule.all(e)...)
	}
	inputs := valuesOf(show.Input, e)
	for i, name := range names {
		s := Said{Kind: SaidTool, Name: name}
		if len(inputs) == len(names) { // Else it is unknown whose input they are.
			s.Text = inputs[i]
		}
		say(s)
	}
	for _, rule := range show.Output {
		for _, text := range rule.all(e) {
			say(Said{Kind: SaidResult, Text: text})
		}
	}
	for _, rule := range t.spec.Notes {
		for _, text := range rule.all(e) {
			say(Said{Kind: SaidError, Text: text})
		}
	}
	for _, rule := range t.spec.Error {
		if rule.Stream == "stderr" || !rule.Where.holds(e) {
			continue
		}
		for _, text := range rule.Message.scalars(e) {
			if text != t.last {
				say(Said{Kind: SaidError, Text: text})
			}
		}
	}
	if !shown && !slices.ContainsFunc(show.Skip, func(w where) bool { return w.holds(e) }) {
		t.say(Said{Kind: SaidLine, Text: string(t.raw)})
	}
}

// valuesOf returns the values that rules find in an event: scalars as texts, others as
// JSON.
func valuesOf(rules []rule, e event) (found []string) {
	for _, rule := range rules {
		if !rule.Where.holds(e) {
			continue
		}
		for _, p := range rule.Path {
			for _, v := range p.values(e) {
				if text, ok := scalar(v); ok {
					found = append(found, text)
				} else if v.Kind() != 'n' {
					found = append(found, string(v))
				}
			}
		}
	}
	return found
}
