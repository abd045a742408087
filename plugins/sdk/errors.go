package sdk

import (
	"errors"
	"strconv"
	"strings"
)

// Error refuses a report or the plugin's configuration.
type Error struct {
	// Code becomes the command's error code: lower-case words joined by dashes. The first
	// word is the name of the format or of the plugin. The default is "<plugin>-invalid".
	Code string `json:"code"`
	// Message is one lower-case sentence without a full stop.
	Message string `json:"message"`
	// Hint tells the user how to fix the report, or is "".
	Hint string `json:"hint,omitempty"`
	// Ref is a JSON Pointer to the part of the report that is wrong, or nil.
	Ref *string `json:"ref,omitempty"`
	// Details are the evidence, under snake_case names. A detail is a string, a number, a
	// bool, nil, a Value, or a slice or map of these.
	Details map[string]any `json:"details,omitempty"`
}

// Error implements error.
func (e *Error) Error() string { return e.Message }

// CodeConfigInvalid is the code of a refused configuration, in every plugin.
const CodeConfigInvalid = "plugin-config-invalid"

// Refuse returns the error that the value at ref is wrong; wanted follows "must be". If the
// value is missing, the error's Ref leads to the object that lacks it.
func (r Report) Refuse(code, ref, wanted string) *Error {
	message := ref + " must be " + wanted + ", but it is " + r.At(ref).Excerpt()
	return r.Fail(code, ref, message)
}

// Fail is Refuse with a message of the caller's.
func (r Report) Fail(code, ref, message string) *Error {
	found := r.At(ref)
	if found == nil {
		ref = ref[:max(strings.LastIndexByte(ref, '/'), 0)]
	}
	return newError(code, ref, message, found)
}

func newError(code, ref, message string, found Value) *Error {
	details := map[string]any{"got": found.Kind()}
	if found != nil && len(found) <= excerptSize {
		details["value"] = found
	}
	return &Error{Code: code, Message: message, Ref: &ref, Details: details}
}

// RefuseConfig returns the error that the configuration is wrong at a JSON Pointer.
func RefuseConfig(pointer, message, hint string) *Error {
	return &Error{Code: CodeConfigInvalid, Message: message, Hint: hint, Details: map[string]any{"config": pointer}}
}

// asError converts an error for the host, with a code.
func asError(err error) *Error {
	var e *Error
	if !errors.As(err, &e) {
		e = &Error{Message: err.Error()}
	}
	named := *e
	if named.Code == "" {
		named.Code = description.Name + "-invalid"
	}
	return &named
}

// Pointer returns the JSON Pointer (RFC 6901) of tokens, which are strings or ints:
// Pointer("runs", 0, "a/b") is "/runs/0/a~1b".
func Pointer(tokens ...any) string {
	var b strings.Builder
	for _, token := range tokens {
		b.WriteByte('/')
		switch token := token.(type) {
		case int:
			b.WriteString(strconv.Itoa(token))
		case string:
			b.WriteString(escapes.Replace(token))
		default:
			panic("sdk: a token of a JSON Pointer is a string or an int")
		}
	}
	return b.String()
}

var (
	escapes   = strings.NewReplacer("~", "~0", "/", "~1")
	unescapes = strings.NewReplacer("~1", "/", "~0", "~")
)
