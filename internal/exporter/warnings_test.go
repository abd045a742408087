package exporter

import (
	"log"
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
		log := log.New(&warnings{warn: func(err error) { reported = append(reported, err.Error()) }}, "", 0)
		log.Print("handshake failed: a")
		for range 100 {
			log.Print("handshake failed: b")
		}
		time.Sleep(quietPeriod) // The fake clock.
		log.Print("again")
		time.Sleep(quietPeriod)
		log.Print("and again")
		want := []string{"handshake failed: a", "again (and 100 more lines)", "and again"}
		if !slices.Equal(reported, want) {
			t.Errorf("told %q, want %q", reported, want)
		}
	})
}
