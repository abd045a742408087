package opawasm

import (
	"runtime"
	"testing"
	"time"

	"github.com/open-policy-agent/opa/v1/rego"
	"github.com/open-policy-agent/opa/v1/topdown"
)

// Programs are not closed explicitly. Their resources outside Go's memory are freed when
// they become unreachable.
func TestAProgramIsFreedWhenItIsForgotten(t *testing.T) {
	result, err := rego.New(rego.Query("x := input.n")).Compile(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	p, err := New(t.Context(), result.Bytes, topdown.GetBuiltin, "")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.Eval(t.Context(), `{"n": 1}`); err != nil {
		t.Fatal(err)
	}
	vm := <-p.pool.idle
	p.pool.idle <- vm
	if vm.policy.IsClosed() {
		t.Fatal("a program in use was freed")
	}
	runtime.KeepAlive(p)
	for !vm.policy.IsClosed() { // or the test hangs
		runtime.GC()
		time.Sleep(time.Millisecond)
	}
}

// Instances beyond those pooled for reuse are freed after concurrent evaluations.
func TestOnlyAsManyInstancesAreStoredAsThereIsWorkFor(t *testing.T) {
	result, err := rego.New(rego.Query("x := input.n")).Compile(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	p, err := New(t.Context(), result.Bytes, topdown.GetBuiltin, "")
	if err != nil {
		t.Fatal(err)
	}
	var taken []*instance
	for range cap(p.pool.idle) + 2 {
		vm, err := p.acquire(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		taken = append(taken, vm)
	}
	for _, vm := range taken {
		p.pool.release(vm)
	}
	open := 0
	for _, vm := range taken {
		if !vm.policy.IsClosed() {
			open++
		}
	}
	if open != cap(p.pool.idle) {
		t.Errorf("%d instances are kept, want %d", open, cap(p.pool.idle))
	}
}
