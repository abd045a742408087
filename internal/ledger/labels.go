package ledger

import (
	"bytes"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// appendLabels appends the text that the values of a sum's labels are stored as: a
// JSON array on one line, its strings in their plainest form. ok is false where a
// value is not UTF-8.
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

// parseLabels is the reverse of appendLabels. ok is false for every other text.
func parseLabels(text []byte) (values []string, ok bool) {
	if err := json.Unmarshal(text, &values); err != nil {
		return nil, false
	}
	plain, ok := appendLabels(nil, values)
	return values, ok && bytes.Equal(plain, text)
}

// labelRange returns the first and the last text that labels beginning with prefix
// may have. ok is false where there are none.
//
// The text of a prefix without its closing bracket ends in a quote that closes its
// last value, so a comma or a bracket follows, and in the order of bytes a comma
// comes first. Of texts that begin otherwise none lies between the two.
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
