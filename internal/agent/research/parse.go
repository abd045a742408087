package research

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/jsonscan"
)

// answerKey is the member that identifies an answer.
const answerKey = "decisions"

// Parse parses the answer in a researcher's final message: an object with the member
// decisions, alone, in a code fence or in prose. It may be repeated, but two different
// ones are invalid. A level is low, medium, high or critical, or missing; a provenance
// other than [VERIFIED] and [CITED] is [ASSUMED]; a missing list is empty.
//
// # Errors
//
// research-output-invalid. The message never quotes the answer.
func Parse(text string) (*Output, error) {
	if len(text) > jsonscan.MaxBytes {
		return nil, invalid("the final message has more than %d bytes", jsonscan.MaxBytes)
	}
	var answer jsontext.Value
	for _, o := range jsonscan.Objects(text) {
		switch {
		case !answers(o):
		case !o.Whole:
			return nil, invalid("the answer is cut short, or runs into something else")
		case answer != nil && !bytes.Equal(answer, o.Text):
			return nil, invalid("the final message holds several answers that differ")
		default:
			answer = o.Text
		}
	}
	if answer == nil {
		return nil, invalid("the final message holds no object with the member %s", answerKey)
	}
	var out Output
	if err := json.Unmarshal(answer, &out); err != nil {
		return nil, invalid("the answer has a key twice, is not UTF-8, or has a value of the wrong type").Because(err)
	}
	if err := out.check(); err != nil {
		return nil, err
	}
	return &out, nil
}

func invalid(format string, args ...any) *errs.Error {
	return errs.New(errs.ResearchOutputInvalid, format, args...)
}

// answers reports whether an object is meant as an answer.
func answers(o jsonscan.Object) bool {
	if !o.Whole {
		return bytes.Contains(o.Text, []byte(`"`+answerKey+`"`))
	}
	var members map[string]jsontext.Value
	err := json.Unmarshal(o.Text, &members, jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	_, ok := members[answerKey]
	return ok || err != nil
}

// check checks a decoded answer and normalizes its words.
func (o *Output) check() error {
	if o.Decisions == nil {
		return invalid("%s is null; a researcher who found none gives an empty list", answerKey)
	}
	for i := range o.Decisions {
		d := &o.Decisions[i]
		d.Provenance = d.Provenance.read()
		if err := item("decisions", i, d.Text, nil); err != nil {
			return err
		}
		if c := d.Confidence; c != nil && !(0 <= *c && *c <= 1) {
			return invalid("an entry of decisions has a confidence that is not from 0 to 1").With("ref", place("decisions", i))
		}
	}
	for i := range o.Risks {
		if err := item("risks", i, o.Risks[i].Text, &o.Risks[i].Severity); err != nil {
			return err
		}
	}
	for i := range o.Questions {
		if err := item("questions", i, o.Questions[i].Text, nil); err != nil {
			return err
		}
	}
	for i := range o.Sources {
		if err := item("sources", i, o.Sources[i].URL, &o.Sources[i].Credibility); err != nil {
			return err
		}
	}
	for i := range o.Patterns {
		p := &o.Patterns[i]
		p.Provenance = p.Provenance.read()
		if err := item("patterns", i, p.Text, nil); err != nil {
			return err
		}
	}
	return nil
}

// item checks an entry of a list: its text and, if it has one, its level.
func item(list string, i int, text string, level *Level) error {
	if norm(text) == "" {
		return invalid("an entry of %s says nothing", list).With("ref", place(list, i))
	}
	if level == nil {
		return nil
	}
	*level = Level(strings.ToLower(string(*level)))
	if level.rank() < 0 {
		return invalid("an entry of %s has a level other than low, medium, high and critical", list).With("ref", place(list, i))
	}
	return nil
}

// place returns the JSON Pointer of an entry.
func place(list string, i int) string { return fmt.Sprintf("/%s/%d", list, i) }

// read returns Assumed for an unknown provenance.
func (p Provenance) read() Provenance {
	if p == Verified || p == Cited {
		return p
	}
	return Assumed
}
