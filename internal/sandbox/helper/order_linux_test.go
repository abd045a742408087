//go:build amd64 || arm64

package helper

import (
	"reflect"
	"testing"

	"pgregory.net/rapid"
)

// TestOrderIsReadAsItWasWritten also tests that the helper refuses an order of which a part
// is missing, and one with more behind it.
func TestOrderIsReadAsItWasWritten(t *testing.T) {
	texts := rapid.SliceOfN(rapid.String(), 1, 4)
	numbers := rapid.SliceOfN(rapid.Uint64(), 1, 4)
	rapid.Check(t, func(t *rapid.T) {
		want := Order{
			Path: rapid.String().Draw(t, "path"), Args: texts.Draw(t, "args"), Env: texts.Draw(t, "env"), Dir: rapid.String().Draw(t, "dir"),
			Capabilities: rapid.Uint64().Draw(t, "capabilities"), Ruleset: rapid.SliceOfN(rapid.Byte(), 1, 24).Draw(t, "ruleset"),
			Files: rapid.SliceOfN(rapid.Custom(func(t *rapid.T) FileRule {
				return FileRule{rapid.String().Draw(t, "file"), rapid.Uint64().Draw(t, "folder access"), rapid.Uint64().Draw(t, "file access")}
			}), 1, 4).Draw(t, "files"),
			Ports: numbers.Draw(t, "ports"), PortAccess: rapid.Uint64().Draw(t, "port access"),
			Filter: rapid.SliceOfN(rapid.Byte(), 1, 24).Draw(t, "filter"),
			Limits: []Limit{{rapid.Uint64().Draw(t, "resource"), rapid.Uint64().Draw(t, "limit")}}, Namespaces: rapid.Bool().Draw(t, "namespaces"),
			Writable: texts.Draw(t, "writable"), Protected: texts.Draw(t, "protected"), MaxPID: rapid.String().Draw(t, "pid"), Listen: numbers.Draw(t, "listen"),
		}
		text := want.Encode()
		var got Order
		if !got.decode(text) || !reflect.DeepEqual(got, want) {
			t.Fatalf("%+v is read as %+v", want, got)
		}
		for n := range text {
			if new(Order).decode(text[:n]) {
				t.Fatalf("its first %d of %d bytes are an order", n, len(text))
			}
		}
		if new(Order).decode(append(text, 0)) {
			t.Fatal("it is an order with a byte behind it")
		}
	})
}
