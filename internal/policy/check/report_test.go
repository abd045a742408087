package check_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/go-json-experiment/json"

	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/exhaustive"
	"github.com/switchyard-dev/switchyard/internal/policy/check"
	"github.com/switchyard-dev/switchyard/policies"
)

func TestReleasedVersionsPass(t *testing.T) {
	if testing.Short() {
		t.Skip("short mode: it is slow, and tests no concurrency")
	}
	for _, ref := range policies.Versions() {
		if !exhaustive.Enabled() && ref != policies.Default {
			continue // The latest version stands for all.
		}
		p := load(t, ref)
		r := verify(t, p, check.Options{Raised: raisedFor(p)})
		if !r.Passes() {
			t.Errorf("%s is not proven", ref)
		}
		for _, result := range r.Results {
			if !result.Holds || result.Violated > 0 || result.Skipped != "" || result.Checked == 0 {
				t.Errorf("%s: %+v", ref, result)
			}
		}
		if r.Policy != p.Identity() || r.Categories != len(p.RouteTable()) || r.States < 4000 || r.Probes != r.States || len(r.Gaps) > 0 {
			t.Errorf("%s: the report is about %+v with %d categories, %d states, %d probes and gaps %v",
				ref, r.Policy, r.Categories, r.States, r.Probes, r.Gaps)
		}
	}
	if r := verify(t, load(t, policies.Default), check.Options{}); r.Branches != 13 {
		t.Errorf("%s has %d branches, want 13", policies.Default, r.Branches)
	}
}

func TestWithoutKnowingWhoRaisesWhatNothingIsSaidOfIt(t *testing.T) {
	r := verify(t, mutated(t), check.Options{})
	for _, i := range []check.Invariant{check.CategoryRaised, check.CategoryKnown} {
		if result := resultOf(t, r, i); result.Holds || result.Skipped == "" || result.Checked != 0 {
			t.Errorf("%+v", result)
		}
	}
	if !r.Passes() {
		t.Error("that is no reason against it")
	}
}

// The report of a broken policy is deterministic, to the last violation.
func TestReportsAreReproducible(t *testing.T) {
	p := mutated(t, `input.round >= input.max_rounds`, `input.round * 2 > input.max_rounds`, `input.stalled_rounds >= 2`, `input.finding_count % 5 == 3`)
	var texts []string
	for range 2 {
		r := verify(t, p, check.Options{Raised: map[string][]string{"b": {"y", "x"}, "a": {"z"}}})
		r.Millis = 0
		text, err := json.Marshal(r, json.Deterministic(true))
		if err != nil {
			t.Fatal(err)
		}
		texts = append(texts, string(text))
	}
	if texts[0] != texts[1] {
		t.Errorf("two reports differ:\n%s\n%s", texts[0], texts[1])
	}
	if strings.Contains(texts[0], "null") {
		t.Errorf("the report has nulls: %s", texts[0])
	}
}

func TestProgressIsReportedToTheEnd(t *testing.T) {
	var mu sync.Mutex
	last, all := 0, 0
	r := verify(t, mutated(t), check.Options{Progress: func(done, total int) {
		if !mu.TryLock() {
			t.Error("two calls at a time")
			return
		}
		defer mu.Unlock()
		if done <= last || done > total {
			t.Errorf("%d of %d come after %d", done, total, last)
		}
		last, all = done, total
	}})
	if want := r.States + r.Probes; last != want || all != want {
		t.Errorf("the last that was told is %d of %d, want %d", last, all, want)
	}
}

func TestVerifyEndsWithItsContext(t *testing.T) {
	p := load(t, policies.Default)
	for _, c := range []struct {
		err  error
		code errs.Code
	}{
		{context.Canceled, errs.PolicyFailed},
		{context.DeadlineExceeded, errs.PolicyTimeout},
	} {
		ctx := &endedContext{Context: t.Context(), done: make(chan struct{})}
		end := sync.OnceFunc(func() { ctx.end(c.err) })
		for _, when := range []string{"at the first step", "before the first step"} {
			_, err := check.Verify(ctx, p, check.Options{Progress: func(int, int) { end() }})
			if errs.CodeOf(err) != c.code || !errors.Is(err, c.err) {
				t.Errorf("%v %s: got %v", c.err, when, err)
			}
		}
	}
}

// endedContext is a context that ends with an error when the test says so, also with that
// of a deadline, so that no clock decides.
type endedContext struct {
	context.Context
	done chan struct{}
	err  atomic.Value
}

func (c *endedContext) end(err error) {
	c.err.Store(err)
	close(c.done)
}

func (c *endedContext) Done() <-chan struct{} { return c.done }

func (c *endedContext) Err() error {
	err, _ := c.err.Load().(error)
	return err
}

// A policy that loops is reported with one input, not with thousands.
func TestALoopEndsTheCheck(t *testing.T) {
	if testing.Short() {
		t.Skip("it waits for a policy to run over its time")
	}
	p := mutated(t, `input.stalled_rounds >= 2`, "input.stalled_rounds >= 2\n\tsome i in numbers.range(1, 4000)\n\tsome j in numbers.range(1, 4000)\n\tsome k in numbers.range(1, 4000)\n\ti * j * k == 0")
	r := verify(t, p, check.Options{Raised: raisedFor(load(t, "routing@1.2.0"))})
	if got, want := broken(r), []check.Invariant{check.Total}; !slices.Equal(got, want) {
		t.Errorf("%v are broken, want %v", got, want)
	}
	result := resultOf(t, r, check.Total)
	if v := result.Violations[0]; result.Violated != 1 || v.Code != errs.PolicyTimeout || v.Input == nil || v.Input.StalledRounds < 2 {
		t.Errorf("the violations are %+v", result)
	}
	if r.Passes() || r.States > 1000 {
		t.Errorf("proven: %v, after %d states", r.Passes(), r.States)
	}
	for _, i := range []check.Invariant{check.OnlyCleanCommits, check.Classes, check.NoShadowedRule, check.NoDeadRow} {
		if resultOf(t, r, i).Skipped == "" {
			t.Errorf("%s is not skipped", i)
		}
	}
	if result := resultOf(t, r, check.CategoryRaised); !result.Holds {
		t.Errorf("the tables are checked all the same, but: %+v", result)
	}
}

func TestATooLargeDomainIsAnError(t *testing.T) {
	var long []string
	for i := range 60 {
		long = append(long, strings.Repeat("9", 1+i/10)+string(rune('0'+i%10)))
	}
	p := mutated(t, `input.finding_count > 0`, "input.finding_count > 0\n\tnot input.finding_count in {"+strings.Join(long, ", ")+"}\n\tnot input.new_count in {"+strings.Join(long, ", ")+"}")
	_, err := check.Verify(t.Context(), p, check.Options{})
	if errs.CodeOf(err) != errs.PolicyDomainTooLarge {
		t.Errorf("got %v", err)
	}
}
