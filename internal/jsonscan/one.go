package jsonscan

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// Has reports whether the object has one of the keys. It returns true if the members cannot
// be decoded.
func (o Object) Has(keys ...string) bool {
	if !o.Whole {
		return slices.ContainsFunc(keys, func(key string) bool { return bytes.Contains(o.Text, []byte(`"`+key+`"`)) })
	}
	var members map[string]jsontext.Value
	err := json.Unmarshal(o.Text, &members, jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	return err != nil || slices.ContainsFunc(keys, func(key string) bool { _, ok := members[key]; return ok })
}

// One returns the only object of a message that has one of the keys. The object may be
// repeated. Different objects are an error, as is an object that is cut short. The error
// never quotes the message.
func One(text string, keys ...string) (jsontext.Value, error) {
	if len(text) > MaxBytes {
		return nil, fmt.Errorf("the final message has more than %d bytes", MaxBytes)
	}
	var one jsontext.Value
	for _, o := range Objects(text) {
		switch {
		case !o.Has(keys...):
		case !o.Whole:
			return nil, errors.New("the answer is cut short, or runs into something else")
		case one != nil && !bytes.Equal(one, o.Text):
			return nil, errors.New("the final message holds several answers that differ")
		default:
			one = o.Text
		}
	}
	if one == nil {
		return nil, fmt.Errorf("the final message holds no object with the member %s", strings.Join(keys, " or "))
	}
	return one, nil
}
