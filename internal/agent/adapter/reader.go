package adapter

import (
	"cmp"
	"fmt"
	"regexp"
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
	// maxErrors is how many bytes of the end of standard error are read.
	maxErrors = 64 << 10
)

// form is the form of an output.
type form string

const (
	// formJSON: JSON objects.
	formJSON form = "json"
	// formText: a text, which is the final message.
	formText form = "text"
)

// rules say where values are in an output of formJSON.
type rules struct {
	done                   []where
	result, model, session []rule
	in, out, cached, cost  []rule
	progress               []rule
	tools, denials, notes  []rule
	errors                 []errorRule
	classes                []classRule
	exits                  map[int]exit
	// errorStatus finds the last HTTP status in standard error, for an error in the
	// output without a status.
	errorStatus *regexp.Regexp
	// silent classifies a run that failed without any event by its standard error, if
	// classes do not.
	silent []classRule
	// file says that the CLI also writes its final message to a file.
	file bool
}

// Reader reads one run's standard output as it grows. Its memory is bounded by a few
// times MaxDocument. It is not for concurrent use.
type Reader struct {
	adapter *Adapter
	rules   rules

	documents documents
	plain     []byte
	long      bool // a required text is too long

	result, model, session           *texts
	in, out, cached, cost, progress  *numbers
	tools                            []ToolUse
	toolCount, events, ends, skipped int // skipped is documents.skipped at the last end
	denials, warnings                []string
	failures                         []*failed // by error rule
}

// NewReader returns a reader for one run.
func (a *Adapter) NewReader() *Reader {
	r := &Reader{
		adapter: a, rules: a.rules,
		result: newTexts(a.rules.result), model: newTexts(a.rules.model), session: newTexts(a.rules.session),
		in: newNumbers(a.rules.in), out: newNumbers(a.rules.out), cached: newNumbers(a.rules.cached),
		cost: newNumbers(a.rules.cost), progress: newNumbers(a.rules.progress),
		failures: make([]*failed, len(a.rules.errors)),
	}
	r.documents.emit = r.event
	return r
}

// Write takes any bytes, and never fails.
func (r *Reader) Write(p []byte) (int, error) {
	if r.adapter.form == formJSON {
		r.documents.write(p)
		return len(p), nil
	}
	if r.long = r.long || len(r.plain)+len(p) > MaxText; r.long {
		r.plain = nil
	} else {
		r.plain = append(r.plain, p...)
	}
	return len(p), nil
}

// event handles a JSON object of the output.
func (r *Reader) event(e event) {
	r.events++
	r.long = !r.result.see(e) || r.long
	for _, t := range []*texts{r.model, r.session} {
		t.see(e)
	}
	for _, n := range []*numbers{r.in, r.out, r.cached, r.cost, r.progress} {
		n.see(e)
	}
	for _, rule := range r.rules.tools {
		for _, name := range rule.all(e) {
			r.tool(name)
		}
	}
	for _, rule := range r.rules.denials {
		r.denials = appendUpTo(r.denials, MaxTools, maxToolName, rule.all(e))
	}
	for _, rule := range r.rules.notes {
		r.warnings = appendUpTo(r.warnings, maxWarnings, maxWarning, rule.all(e))
	}
	r.fail(e, false)
	for _, done := range r.rules.done {
		if done.holds(e) {
			r.ends++
			r.skipped = r.documents.skipped
			break
		}
	}
}

// all returns each text that the rule finds in an event.
func (r rule) all(e event) []string {
	if !r.where.holds(e) {
		return nil
	}
	return scalars(r.paths, e)
}

func (r *Reader) tool(name string) {
	if r.toolCount++; r.toolCount > MaxTools {
		return
	}
	name = excerpt(name, maxToolName)
	r.tools = append(r.tools, ToolUse{Name: name, Search: r.adapter.searches(name)})
}

// appendUpTo appends up to a total of count texts.
func appendUpTo(all []string, count, size int, more []string) []string {
	for _, text := range more[:min(len(more), count-len(all))] {
		all = append(all, excerpt(text, size))
	}
	return all
}

// fail applies the error rules to an event of the output or of standard error.
func (r *Reader) fail(e event, errors bool) {
	for i, rule := range r.rules.errors {
		switch {
		case rule.errors != errors:
		case rule.where.holds(e):
			r.failures[i] = rule.find(e)
		case rule.cleared != nil && rule.cleared.holds(e):
			r.failures[i] = nil
		}
	}
}

func (r *Reader) Progress() Progress {
	p := Progress{Tools: r.toolCount, Events: r.events, Done: r.ends > 0}
	in, out := r.in.whole(), r.out.whole()
	if in != nil && out != nil {
		p.Tokens = *in + *out
	} else if n, ok := r.progress.get(); ok {
		p.Tokens = int64(n)
	}
	return p
}

// Finish ends the run and returns what its output says. Nothing may be written
// afterwards.
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
	if o.Valid = r.valid(o); !o.Valid && o.Failure == nil && r.tooLong() {
		o.Failure = &Failure{Class: outcome.Malformed, Message: fmt.Sprintf("too long: what has to be read has more than %d bytes", r.most())}
	}
	return o
}

// text is the final message: from the output, else from the file.
func (r *Reader) text(file []byte) (string, bool) {
	if r.adapter.form == formText {
		message := message(r.plain)
		return message, message != "" && !r.long
	}
	text, has := r.result.get()
	if !has && r.rules.file && file != nil && len(file) <= MaxDocument {
		text, has = message(file), true
	}
	return text, has && !r.long
}

// message cleans a text: no byte order mark, surrounding spaces or invalid UTF-8.
func message(b []byte) string {
	return strings.TrimSpace(strings.ToValidUTF8(strings.TrimPrefix(string(b), "\ufeff"), "\ufffd"))
}

// valid implements Output.Valid.
func (r *Reader) valid(o Output) bool {
	if r.adapter.form == formText {
		return o.HasText
	}
	return r.events > 0 && (o.Done || len(r.rules.done) == 0) && !r.tooLong()
}

// most is the limit that applies, in bytes.
func (r *Reader) most() int {
	if r.adapter.form == formText {
		return MaxText
	}
	return MaxDocument
}

// tooLong reports whether a part of the result may be missing: of its text, or anything
// after the last event that ends a run.
func (r *Reader) tooLong() bool { return r.long || r.documents.skipped > r.skipped }

func (r *Reader) notes() []string {
	notes := append(r.documents.notes(), r.warnings...)
	if r.ends > 1 {
		notes = append(notes, fmt.Sprintf("%d events ended the run; the last one counts", r.ends))
	}
	return notes
}

// failure is the error in the output, else what standard error and the exit code of a
// failed run say.
func (r *Reader) failure(end Ended) *Failure {
	bad := end.ExitCode != 0 || end.Signal != ""
	errors := end.Errors[max(0, len(end.Errors)-maxErrors):]
	if bad { // After a success, errors there do not count.
		d := documents{emit: func(e event) { r.fail(e, true) }}
		d.write(errors)
		d.finish()
	}
	said, known := r.rules.exits[end.ExitCode]
	for _, f := range r.failures {
		if f != nil {
			f.Status = cmp.Or(f.Status, said.status, r.rules.statusIn(errors))
			return r.rules.classify(f)
		}
	}
	text := message(errors)
	f := &failed{Failure: Failure{Class: said.class, Status: said.status, Message: lastBytes(text, MaxMessage)}}
	switch {
	case !bad || end.Signal != "":
		return nil
	case known:
		return r.rules.classify(f)
	case r.events == 0 && len(r.plain) == 0 && text != "":
		return r.rules.classifySilent(f)
	default:
		return nil
	}
}
