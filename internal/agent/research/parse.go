package research

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/go-json-experiment/json"

	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/jsonscan"
	"github.com/switchyard-dev/switchyard/internal/redact"
)

// answerKey is the member that identifies an answer.
const answerKey = "decisions"

// Parse parses the answer in a researcher's final message: an object with the member
// decisions, alone, in a code fence or in prose. It may be repeated, but two different answers
// are invalid. A level is low, medium, high or critical, or missing; a provenance other than
// [VERIFIED] and [CITED] is [ASSUMED]; a missing list is empty. Secrets are removed.
//
// # Errors
//
// research-output-invalid. The message never quotes the answer.
func Parse(text string) (*Output, error) {
	answer, err := jsonscan.One(text, answerKey)
	if err != nil {
		return nil, invalid("%w", err)
	}
	var out Output
	if err := json.Unmarshal(answer, &out, redact.Strings()); err != nil {
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

// check checks a decoded answer and normalizes its levels and provenances.
func (o *Output) check() error {
	if o.Decisions == nil {
		return invalid("%s is null; a researcher without decisions gives an empty list", answerKey)
	}
	for i := range o.Decisions {
		d := &o.Decisions[i]
		d.Provenance = d.Provenance.read()
		if c := d.Confidence; c != nil && !(0 <= *c && *c <= 1) {
			return invalid("an entry of decisions has a confidence that is not from 0 to 1").With("ref", place("decisions", i))
		}
	}
	for i := range o.Patterns {
		o.Patterns[i].Provenance = o.Patterns[i].Provenance.read()
	}
	return cmp.Or(
		check("decisions", o.Decisions, nil),
		check("risks", o.Risks, func(r *Risk) *Level { return &r.Severity }),
		check("questions", o.Questions, nil),
		check("sources", o.Sources, func(s *Source) *Level { return &s.Credibility }),
		check("patterns", o.Patterns, nil),
	)
}

// check checks the entries of a list: their texts and, if there are any, their levels.
func check[T any, P entry[T]](list string, entries []T, level func(*T) *Level) error {
	for i := range entries {
		if norm(P(&entries[i]).key()) == "" {
			return invalid("an entry of %s has no text", list).With("ref", place(list, i))
		}
		if level == nil {
			continue
		}
		l := level(&entries[i])
		if *l = Level(strings.ToLower(string(*l))); l.rank() < 0 {
			return invalid("an entry of %s has a level other than low, medium, high and critical", list).With("ref", place(list, i))
		}
	}
	return nil
}

func place(list string, i int) string { return fmt.Sprintf("/%s/%d", list, i) }

// read returns Assumed for an unknown provenance.
func (p Provenance) read() Provenance {
	if p == Verified || p == Cited {
		return p
	}
	return Assumed
}
