package redact

import (
	"errors"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// Strings is an option for decoding JSON. It removes secrets from values of the type string.
func Strings() json.Options {
	return json.WithUnmarshalers(json.UnmarshalFromFunc(func(d *jsontext.Decoder, s *string) error {
		if d.PeekKind() != jsontext.KindString {
			return errors.ErrUnsupported
		}
		text, err := d.ReadToken()
		*s = Text(text.String())
		return err
	}))
}
