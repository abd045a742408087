package ledger

import (
	"bytes"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// appendLabels appends the stored form of a counter's label values: a canonical JSON
// array. ok is false if a value is not UTF-8.
func appendLabels(text []byte, values []string) (_ []byte, ok bool) {
	text = append(text, '[')
	for i, value := range values {
		if i > 0 {
			text = append(text, ',')
		}
		var err error
		if text, err = jsontext.AppendQuote(text, value); err != nil {
			return nil, false
		}
	}
	return append(text, ']'), true
}

// parseLabels is the reverse of appendLabels. ok is false for any other text.
func parseLabels(text []byte) (values []string, ok bool) {
	if err := json.Unmarshal(text, &values); err != nil {
		return nil, false
	}
	plain, ok := appendLabels(nil, values)
	return values, ok && bytes.Equal(plain, text)
}

// labelRange returns the first and the last text that labels beginning with prefix may
// have. ok is false if there are none.
//
// The text of a prefix without its closing bracket ends in a quote, which a comma or a
// bracket follows, in this order of bytes. No other label text sorts between the two
// bounds.
func labelRange(prefix []string) (from, to string, ok bool) {
	if len(prefix) == 0 {
		return "[", "[]", true
	}
	text, ok := appendLabels(nil, prefix)
	if !ok {
		return "", "", false
	}
	open := string(text[:len(text)-1])
	return open + ",", open + "]", true
}
