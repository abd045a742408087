package textutil

import (
	"testing"

	"github.com/go-json-experiment/json"
)

func TestJSONReason(t *testing.T) {
	type inner struct {
		Round int `json:"round"`
	}
	for text, want := range map[string]string{
		`[]`:                    `it is not of the right type`,
		`{"a": 3}`:              `the value at "/a" is not of the right type`,
		`{"a": {"round": "x"}}`: `the value at "/a/round" is not of the right type`,
		`{"a": {"round": 1.5}}`: `the value at "/a/round" is not of the right type`,
		`{"a": {"rond": 1}}`:    `unknown member "rond" in "/a"`,
		`{"b": 1}`:              `unknown member "b" in "/"`,
		`{"a": `:                `unexpected EOF within "/a" after offset 6`,
		`{"a": {}, "a": {}}`:    `duplicate object member name "a"`,
	} {
		var into struct {
			Inner inner `json:"a"`
		}
		err := json.Unmarshal([]byte(text), &into, json.RejectUnknownMembers(true))
		if err == nil {
			t.Fatalf("%s is accepted", text)
		}
		if got := JSONReason(err).Error(); got != want {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
	}
}
