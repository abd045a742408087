package document

import (
	"bytes"
	"errors"
	"io"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/switchyard-dev/switchyard/internal/errs"
)

// head is the JSON value at the beginning of a text. It is the whole report in JSON
// and the first element in JSON lines, so it is read once for both.
type head struct {
	start, end int
	spansLines bool
}

// readFirst finds and checks the first value of the text.
func (s *Source) readFirst() (head, error) {
	start := skipBlanks(s.data, s.text)
	if err := s.checkDepth(start, s.limits.Depth); err != nil {
		return head{}, err
	}
	d := jsontext.NewDecoder(bytes.NewBuffer(s.data[s.text:]))
	if _, err := d.ReadValue(); err != nil {
		return head{}, invalidJSON(err, s.text)
	}
	end := s.text + int(d.InputOffset())
	return head{start, end, bytes.IndexByte(s.data[start:end], '\n') >= 0}, nil
}

// readJSON returns the text if it is exactly one JSON value.
func (s *Source) readJSON() ([]byte, error) {
	first, err := s.first()
	if err != nil {
		return nil, err
	}
	if rest := skipBlanks(s.data, first.end); rest < len(s.data) {
		return nil, goesOn(rest)
	}
	return s.data[s.text:], nil
}

// checkDepth fails if the value at i nests deeper than limit. It can run before the
// parser, whose own limit is fixed.
func (s *Source) checkDepth(i, limit int) error {
	if i < len(s.data) && (s.data[i] == '[' || s.data[i] == '{') {
		if at, depth := containerEnd(s.data, i, limit); depth > limit {
			return tooDeep(s.limits.Depth, at)
		}
	}
	return nil
}

// invalidJSON returns the error of a decoder that began at base.
func invalidJSON(err error, base int) *errs.Error {
	code, what := errs.ReportInvalidJSON, "is not valid JSON"
	switch {
	case errors.Is(err, jsontext.ErrDuplicateName):
		code, what = errs.ReportDuplicateKey, "has the same key twice in one object"
	case errors.Is(err, io.ErrUnexpectedEOF):
		what = "is cut short"
	}
	if syntax, ok := errors.AsType[*jsontext.SyntacticError](err); ok {
		return broken(code, what, base+int(syntax.ByteOffset))
	}
	return errs.New(code, "the report %s", what)
}

func goesOn(at int) *errs.Error {
	return broken(errs.ReportInvalidJSON, "goes on after its JSON value", at).WithHint(summaryHint)
}

// summaryHint is the hint for text after a report.
const summaryHint = "if the tool writes a summary behind its report, turn that off: golangci-lint run --show-stats=false"

func tooDeep(limit, at int) *errs.Error {
	return errs.New(errs.ReportTooDeep, "the report nests deeper than %d levels at byte %d", limit, at).
		With("limit", limit).With("offset", at)
}

// broken returns an error at one byte.
func broken(code errs.Code, what string, at int) *errs.Error {
	return errs.New(code, "the report %s, at byte %d", what, at).With("offset", at)
}

// readLines returns an array of the values of all lines. With maySpan a value may span
// lines, but must begin on a new one. The array is the report's text with one byte
// changed per value, so a value's offset in it is one more than in the report.
func (s *Source) readLines(maySpan bool) ([]byte, error) {
	text := bytes.TrimRight(s.data, blanks)
	first, err := s.first()
	if err != nil {
		start := skipBlanks(text, s.text)
		return nil, s.inLine(err, start, lineEnd(text, start))
	}
	if first.spansLines && !maySpan {
		return nil, s.cutShort(first.start, lineEnd(text, first.start))
	}
	depth := s.limits.Depth - 1 // The array itself is a level.
	if err := s.checkDepth(first.start, depth); err != nil {
		return nil, s.inLine(err, first.start, first.end)
	}
	if int64(len(text))+2 > s.limits.Bytes {
		return nil, tooLargeAsJSON(s.limits.Bytes)
	}
	array := make([]byte, len(text)+2)
	array[0], array[len(array)-1] = '[', ']'
	copy(array[1:], text)
	for i := range s.text {
		array[1+i] = ' '
	}

	// One decoder reads all other values as a stream. It accepts any white space
	// between values and inside them, so line ends are checked here.
	d := jsontext.NewDecoder(bytes.NewBuffer(text[first.end:]))
	for end := first.end; end < len(text); {
		start := skipBlanks(text, end)
		stop := lineEnd(text, start)
		feed := bytes.IndexByte(text[end:start], '\n')
		if feed < 0 {
			return nil, s.inLine(goesOn(start), start, stop)
		}
		array[1+end+feed] = ','
		if err := s.checkDepth(start, depth); err != nil {
			return nil, s.inLine(err, start, stop)
		}
		if _, err := d.ReadValue(); err != nil {
			return nil, s.inLine(invalidJSON(err, first.end), start, stop)
		}
		if end = first.end + int(d.InputOffset()); end > stop && !maySpan {
			return nil, s.cutShort(start, stop)
		}
	}
	return array, nil
}

// inLine adds the line of the value at start to an error. The line ends at stop: an
// error after that means that this value is cut short.
func (s *Source) inLine(err error, start, stop int) error {
	f, ok := errors.AsType[*errs.Error](err)
	if !ok {
		return err
	}
	if at, ok := f.Details["offset"].(int); ok && at > stop {
		return s.cutShort(start, stop)
	}
	return onLine(f, s.line(start))
}

// cutShort is the error of a value at start that does not end with its line.
func (s *Source) cutShort(start, stop int) error {
	return onLine(broken(errs.ReportInvalidJSON, "is cut short", stop), s.line(start))
}

// onLine adds a line to an error.
func onLine(f *errs.Error, line int) *errs.Error {
	named := errs.New(f.Code, "%s, in line %d", f.Message, line)
	named.Details, named.Hint = f.Details, f.Hint
	return named.With("line", line)
}

// lineEnd returns the end of the line that contains i.
func lineEnd(text []byte, i int) int {
	if feed := bytes.IndexByte(text[i:], '\n'); feed >= 0 {
		return i + feed
	}
	return len(text)
}
