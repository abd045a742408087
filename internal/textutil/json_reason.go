package textutil

import (
	"errors"
	"fmt"
	"strings"

	"github.com/go-json-experiment/json"
)

// JSONReason returns the reason of a decoder's error for people who did not write our Go
// types: without the decoder's prefix and the names of types.
func JSONReason(err error) error {
	e, ok := errors.AsType[*json.SemanticError](err)
	switch {
	case !ok:
		return errors.New(strings.TrimPrefix(err.Error(), "jsontext: "))
	case errors.Is(e, json.ErrUnknownName):
		at := e.JSONPointer.Parent()
		if at == "" {
			at = "/"
		}
		return fmt.Errorf("unknown member %.200q in %.200q", e.JSONPointer.LastToken(), at)
	case e.JSONPointer == "":
		return errors.New("it is not of the right type")
	}
	return fmt.Errorf("the value at %.200q is not of the right type", e.JSONPointer)
}
