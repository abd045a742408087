package document

import (
	"bytes"
	"errors"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/switchyard-dev/switchyard/internal/errs"
)

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
		return nil, s.errCutShort(first.start, lineEnd(text, first.start))
	}
	if first.depth >= s.limits.Depth { // The array itself is a level.
		_, at := nesting(text, first.start, s.limits.Depth-1)
		return nil, s.inLine(errTooDeep(s.limits.Depth, at), first.start, first.end)
	}
	if int64(len(text))+2 > s.limits.Bytes {
		return nil, errTooLargeAsJSON(s.limits.Bytes)
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
			return nil, s.inLine(errTrailing(start), start, stop)
		}
		array[1+end+feed] = ','
		if _, at := nesting(text, start, s.limits.Depth-1); at >= 0 {
			return nil, s.inLine(errTooDeep(s.limits.Depth, at), start, stop)
		}
		if _, err := d.ReadValue(); err != nil {
			return nil, s.inLine(errInvalidJSON(err, first.end), start, stop)
		}
		if end = first.end + int(d.InputOffset()); end > stop && !maySpan {
			return nil, s.errCutShort(start, stop)
		}
	}
	return array, nil
}

// inLine adds the line of the value at start to an error. The line ends at stop. An error
// after stop means that the value is cut short.
func (s *Source) inLine(err error, start, stop int) error {
	f, ok := errors.AsType[*errs.Error](err)
	if !ok {
		return err
	}
	if at, ok := f.Details["offset"].(int); ok && at > stop {
		return s.errCutShort(start, stop)
	}
	return onLine(f, s.line(start))
}

// errCutShort returns the error of a value at start that does not end with its line.
func (s *Source) errCutShort(start, stop int) error {
	return onLine(errAt(errs.ReportInvalidJSON, "is cut short", stop), s.line(start))
}

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
