package exporter

import (
	"log/slog"
	"slices"
	"testing"
	"testing/synctest"
	"time"
)

// TestCalm: what clients cause in a row is one line, and the next says how many
// there were.
func TestCalm(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var told []string
		log := slog.New(newRateLimitedHandler(func(err error) { told = append(told, err.Error()) }))
		log.Info("listening")
		log.Error("handshake failed", "from", "a", "n", 1)
		for range 100 {
			log.Warn("handshake failed", "from", "b")
		}
		time.Sleep(quietPeriod) // The bubble's clock.
		log.Info("listening")
		log.Warn("again")
		time.Sleep(quietPeriod)
		log.Warn("and again")
		want := []string{"handshake failed, from: a, n: 1", "again (and 100 more lines)", "and again"}
		if !slices.Equal(told, want) {
			t.Errorf("told %q, want %q", told, want)
		}
	})
}
