package routing

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"
)

func TestBoundedLeavesBehindWhatDoesNotEnd(t *testing.T) {
	release := make(chan struct{})
	defer close(release)
	short, stop := context.WithTimeout(t.Context(), time.Millisecond)
	defer stop()
	_, err := Bounded(short, func() (int, error) {
		<-release
		return 1, nil
	})
	if !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = Bounded(ctx, func() (int, error) {
		<-release
		return 1, nil
	})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

func TestBoundedCatchesPanics(t *testing.T) {
	_, err := Bounded(t.Context(), func() (int, error) { panic("too far") })
	if err == nil || err.Error() != "panic: too far" {
		t.Errorf("got %v", err)
	}
}

func TestBoundedReturnsWhatTheWorkReturns(t *testing.T) {
	want := errors.New("no")
	if got, err := Bounded(t.Context(), func() (int, error) { return 7, want }); got != 7 || !errors.Is(err, want) {
		t.Errorf("got %d, %v", got, err)
	}
}

func TestNestsDeeper(t *testing.T) {
	for source, want := range map[string]bool{
		"": false, strings.Repeat("[", 16): false, strings.Repeat("[", 17): true,
		strings.Repeat("{}", 100): false, strings.Repeat(")", 5) + strings.Repeat("(", 17): true,
	} {
		if got := nestsDeeper(source, 16); got != want {
			t.Errorf("%q: %v", source, got)
		}
	}
}
