package adapter

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/switchyard-dev/switchyard/internal/agent/outcome"
)

const (
	// MaxTools bounds the uses of tools and the denials in an Output.
	MaxTools = 4096
	// maxToolName bounds a tool's name, in bytes.
	maxToolName = 256
	// maxWarnings bounds the warnings in an Output, and maxWarning each of them, in
	// bytes.
	maxWarnings, maxWarning = 16, 512
	// maxErrors is the number of bytes at the end of standard error that are read.
	maxErrors = 64 << 10
)

// The forms of an output: JSON objects, or a text, which is the final message.
const formJSON, formText = "json", "text"

// Reader reads one run's standard output as it grows. Its memory is bounded by a few
// times MaxDocument. It is not for concurrent use.
type Reader struct {
	spec *spec

	documents documents
	plain     []byte // the output, or its end, if it is text
	long      bool   // a required text is too long

	result, model, session          *texts
	in, out, cached, cost, progress *numbers
	tools                           []ToolUse
	lastTool, lastNote              string
	toolCount, events, ends         int
	atEnd, atResult                 int // documents.skipped at the last end, and where the text of the result begins
	denials, warnings               []string
	failures                        []*foundError // by error rule
	resets                          []string      // by reset rule, the text that it found
}

// NewReader returns a reader for one run.
func (a *Adapter) NewReader() *Reader {
	r := &Reader{
		spec: &a.spec, result: newTexts(a.spec.Result), model: newTexts(a.spec.Model), session: newTexts(a.spec.Session),
		in: newNumbers(a.spec.Usage.In), out: newNumbers(a.spec.Usage.Out), cached: newNumbers(a.spec.Usage.Cached),
		cost: newNumbers(a.spec.Cost), progress: newNumbers(a.spec.Progress),
		failures: make([]*foundError, len(a.spec.Error)), resets: make([]string, len(a.spec.Resets)),
	}
	r.documents.emit = r.event
	return r
}

// Write takes any bytes, and never fails.
func (r *Reader) Write(p []byte) (int, error) {
	if r.spec.Output == formJSON {
		return r.documents.Write(p)
	}
	r.plain = append(r.plain, p...)
	if over := len(r.plain) - MaxText; over > 0 {
		r.plain = slices.Delete(r.plain, 0, over)
		r.long = true
	}
	return len(p), nil
}

func (r *Reader) event(e event) {
	r.events++
	begins, fits := r.result.see(e)
	r.long = r.long || !fits
	if begins {
		r.atResult = r.documents.skipped
	}
	for _, t := range []*texts{r.model, r.session} {
		t.see(e)
	}
	for _, n := range []*numbers{r.in, r.out, r.cached, r.cost, r.progress} {
		n.see(e)
	}
	for _, name := range allOf(r.spec.Tools, e) {
		r.tool(name)
	}
	r.denials = appendUpTo(r.denials, MaxTools, maxToolName, allOf(r.spec.Denials, e))
	if notes := allOf(r.spec.Notes, e); len(notes) > 0 {
		r.lastNote = excerpt(notes[len(notes)-1], maxWarning)
		r.warnings = appendUpTo(r.warnings, maxWarnings, maxWarning, notes)
	}
	r.fail(e, false)
	for i, rule := range r.spec.Resets {
		if found := rule.Path.scalars(e); len(found) > 0 && rule.Where.holds(e) {
			r.resets[i] = found[0]
		}
	}
	if anyHolds(r.spec.Done, e) {
		r.ends++
		r.atEnd = r.documents.skipped
	}
}

// allOf returns each text that rules find in an event.
func allOf(rules []rule, e event) (found []string) {
	for _, rule := range rules {
		if rule.Where.holds(e) {
			found = append(found, rule.Path.scalars(e)...)
		}
	}
	return found
}

func (r *Reader) tool(name string) {
	name = excerpt(name, maxToolName)
	r.lastTool, r.lastNote = name, ""
	if r.toolCount++; r.toolCount > MaxTools {
		return
	}
	r.tools = append(r.tools, ToolUse{Name: name, Search: slices.Contains(r.spec.SearchTools, name)})
}

// appendUpTo appends up to a total of count texts.
func appendUpTo(all []string, count, size int, more []string) []string {
	for _, text := range more[:min(len(more), count-len(all))] {
		all = append(all, excerpt(text, size))
	}
	return all
}

// fail applies the error rules to an event of the output, or of standard error if errors is
// set.
func (r *Reader) fail(e event, errors bool) {
	for i, rule := range r.spec.Error {
		switch {
		case (rule.Stream == "stderr") != errors:
		case rule.Where.holds(e):
			r.failures[i] = rule.find(e)
		case rule.ClearedBy != nil && rule.ClearedBy.holds(e):
			r.failures[i] = nil
		}
	}
}

func (r *Reader) Progress() Progress {
	p := Progress{Tools: r.toolCount, Tool: r.lastTool, Note: r.lastNote, Done: r.ends > 0}
	in, out := r.in.whole(), r.out.whole()
	if in != nil && out != nil {
		p.Tokens = *in + *out
	} else if n, ok := r.progress.get(); ok {
		p.Tokens = int64(n)
	}
	return p
}

// Finish ends the run and returns its Output. Write must not be called afterwards.
func (r *Reader) Finish(end Ended) Output {
	r.documents.finish()
	o := Output{
		Tools: r.tools, ToolCount: r.toolCount, Denials: r.denials,
		Tokens:  Tokens{In: r.in.whole(), Out: r.out.whole(), Cached: r.cached.whole()},
		Dollars: r.cost.micros(), Done: r.ends > 0, Notes: r.notes(),
	}
	o.Model, _ = r.model.get()
	o.Session, _ = r.session.get()
	o.Text, o.HasText = r.text(end.File)
	o.Failure = r.failure(end)
	r.findReset(o.Failure, end.At)
	if o.Valid = r.valid(o); !o.Valid && o.Failure == nil && r.isTooLong() {
		o.Failure = &Failure{Class: outcome.Malformed, Message: fmt.Sprintf("too long: what has to be read has more than %d bytes", r.limit())}
	}
	return o
}

// text returns the final message from the output, or otherwise from the file.
func (r *Reader) text(file []byte) (string, bool) {
	if r.spec.Output == formText {
		message := message(r.plain)
		return message, message != "" && !r.long
	}
	text, has := r.result.get()
	if !has && r.spec.uses(atOutFile) && file != nil && len(file) <= MaxDocument {
		text, has = message(file), true
	}
	return text, has && !r.long
}

// message returns a text without a byte order mark, surrounding spaces and invalid UTF-8.
func message(b []byte) string {
	return strings.TrimSpace(strings.ToValidUTF8(strings.TrimPrefix(string(b), "\ufeff"), "\ufffd"))
}

func (r *Reader) valid(o Output) bool {
	if r.spec.Output == formText {
		return o.HasText
	}
	return r.events > 0 && (o.Done || len(r.spec.Done) == 0) && !r.isTooLong()
}

// limit returns the limit that applies, in bytes.
func (r *Reader) limit() int {
	if r.spec.Output == formText {
		return MaxText
	}
	return MaxDocument
}

// isTooLong reports whether a part of the result may be missing: of its text, after the
// beginning of its text, or after the last event that ends a run.
func (r *Reader) isTooLong() bool {
	last := r.atEnd
	if _, has := r.result.get(); has {
		last = min(last, r.atResult)
	}
	return r.long || r.documents.skipped > last
}

func (r *Reader) notes() []string {
	notes := append(r.documents.notes(), r.warnings...)
	if r.ends > 1 {
		notes = append(notes, fmt.Sprintf("%d events ended the run; the last one counts", r.ends))
	}
	return notes
}

// failure returns the error in the output, or otherwise the one in standard error or of the
// exit code of a failed run.
func (r *Reader) failure(end Ended) *Failure {
	bad := end.ExitCode != 0 || end.Signal != ""
	errors := end.Errors[max(0, len(end.Errors)-maxErrors):]
	if bad { // After a success, standard error does not count.
		d := documents{emit: func(e event) { r.fail(e, true) }}
		_, _ = d.Write(errors)
		d.finish()
	}
	said, known := r.spec.Exits[strconv.Itoa(end.ExitCode)]
	for _, f := range r.failures {
		if f != nil {
			f.Status = cmp.Or(f.Status, said.status, r.spec.statusIn(errors))
			return r.spec.classify(f)
		}
	}
	text := message(errors)
	f := &foundError{Failure: Failure{Class: said.class, Status: said.status, Message: strings.ToValidUTF8(text[max(0, len(text)-maxMessage):], "")}}
	switch {
	case !bad || end.Signal != "":
	case known:
		return r.spec.classify(f)
	case r.events == 0 && len(r.plain) == 0 && text != "":
		if f.Class = cmp.Or(classOf(r.spec.Classes, f), classOf(r.spec.Silent, f)); f.Class != "" {
			return &f.Failure
		}
	}
	return nil
}
