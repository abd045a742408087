package opawasm

import (
	"runtime"
	"testing"
	"time"

	"github.com/open-policy-agent/opa/v1/rego"
	"github.com/open-policy-agent/opa/v1/topdown"
)

// Programs are not closed, so nothing else may hold one.
func TestAProgramIsFreedWhenItIsForgotten(t *testing.T) {
	result, err := rego.New(rego.Query("x := input.n")).Compile(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	p, err := New(t.Context(), result.Bytes, topdown.GetBuiltin, "")
	if err != nil {
		t.Fatal(err)
	}
	freed := make(chan struct{})
	runtime.AddCleanup(p.vm, func(freed chan struct{}) { close(freed) }, freed)
	if _, err := p.Eval(t.Context(), `{"n": 1}`); err != nil {
		t.Fatal(err)
	}
	runtime.KeepAlive(p)
	for { // or the test hangs
		runtime.GC()
		select {
		case <-freed:
			return
		case <-time.After(time.Millisecond):
		}
	}
}
