package exporter

import (
	"log/slog"
	"slices"
	"testing"
	"testing/synctest"
	"time"
)

// TestLimited checks that a burst of warnings is one line, and that the next says how
// many there were.
func TestLimited(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var reported []string
		log := slog.New(&rateLimitedHandler{warn: func(err error) { reported = append(reported, err.Error()) }})
		log.Info("listening")
		log.Error("handshake failed", "from", "a", "n", 1)
		for range 100 {
			log.Warn("handshake failed", "from", "b")
		}
		time.Sleep(quietPeriod) // The fake clock.
		log.Info("listening")
		log.Warn("again")
		time.Sleep(quietPeriod)
		log.Warn("and again")
		want := []string{"handshake failed, from: a, n: 1", "again (and 100 more lines)", "and again"}
		if !slices.Equal(reported, want) {
			t.Errorf("told %q, want %q", reported, want)
		}
	})
}
