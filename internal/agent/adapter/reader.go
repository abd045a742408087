package adapter

import (
	"cmp"
	"fmt"
	"regexp"
	"strings"

	"github.com/switchyard-dev/switchyard/internal/agent/outcome"
)

const (
	// MaxTools is how many uses of tools, and how many denials, an Output keeps.
	MaxTools = 4096
	// maxToolName is how many bytes of a tool's name are kept.
	maxToolName = 256
	// maxWarnings is how many of a CLI's warnings an Output keeps, and maxWarning how
	// many bytes of each.
	maxWarnings, maxWarning = 16, 512
	// maxErrors is how much of the end of the standard error is read.
	maxErrors = 64 << 10
)

// form is what the output is.
type form string

const (
	// formJSON: JSON objects, one in a line or one over several lines.
	formJSON form = "json"
	// formText: a text, which is the final message.
	formText form = "text"
)

// rules say where things stand in an output of formJSON.
type rules struct {
	done                   []where
	result, model, session []rule
	in, out, cached, cost  []rule
	progress               []rule
	tools, denials, notes  []rule
	errors                 []errorRule
	classes                []classRule
	exits                  map[int]exit
	// errorStatus finds an HTTP status in the standard error of a run whose output
	// calls an error, but not its status. The last one counts.
	errorStatus *regexp.Regexp
	// silent says what a run is that failed without any event, by its standard
	// error, where classes do not.
	silent []classRule
	// file says that the CLI writes its final message into a file too.
	file bool
}

// Reader reads one run's standard output as it grows. What it holds does not grow
// with the output: it is a few times MaxDocument at most. It is for one goroutine
// at a time.
type Reader struct {
	adapter *Adapter
	rules   rules

	documents documents
	plain     []byte // of formText
	long      bool   // a text that had to be kept is too long

	result, model, session           *texts
	in, out, cached, cost, progress  *numbers
	tools                            []ToolUse
	toolCount, events, ends, skipped int // skipped: of documents, when the last end came
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

// Write takes the next piece of the output. It takes any bytes, and never fails.
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

// event takes a JSON object of the output.
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

// appendUpTo appends so many texts that there are at most count.
func appendUpTo(all []string, count, size int, more []string) []string {
	for _, text := range more[:min(len(more), count-len(all))] {
		all = append(all, excerpt(text, size))
	}
	return all
}

// fail keeps what the event says of errors, in the output or in the standard error.
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

// Progress tells how far the run has come.
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

// Finish takes the end of the run and returns what its output says. Nothing may be
// written afterwards.
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

// text is the final message: in the output, else in the file that the CLI was told
// to write it into.
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

// message is a text as a message: without a byte order mark, spaces around it and
// invalid UTF-8.
func message(b []byte) string {
	return strings.TrimSpace(strings.ToValidUTF8(strings.TrimPrefix(string(b), "\ufeff"), "\ufffd"))
}

// valid reports whether the output has the form that was promised, to its end.
func (r *Reader) valid(o Output) bool {
	if r.adapter.form == formText {
		return o.HasText
	}
	return r.events > 0 && (o.Done || len(r.rules.done) == 0) && !r.tooLong()
}

// most is how long what has to be read may be, in bytes.
func (r *Reader) most() int {
	if r.adapter.form == formText {
		return MaxText
	}
	return MaxDocument
}

// tooLong reports whether something is missing that may have been the result: a
// text of it, or anything after the last event that ends a run.
func (r *Reader) tooLong() bool { return r.long || r.documents.skipped > r.skipped }

func (r *Reader) notes() []string {
	notes := append(r.documents.notes(), r.warnings...)
	if r.ends > 1 {
		notes = append(notes, fmt.Sprintf("%d events ended the run; the last one counts", r.ends))
	}
	return notes
}

// failure is what the output calls an error, else what the standard error and the
// exit code of a run that failed tell.
func (r *Reader) failure(end Ended) *Failure {
	bad := end.ExitCode != 0 || end.Signal != ""
	errors := end.Errors[max(0, len(end.Errors)-maxErrors):]
	if bad { // what stands there after a success is no failure
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
