package pluginset

import (
	"testing"
	"testing/synctest"
	"time"
)

func TestTimedStopsAfterTheMaximumTime(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		got, err := timed(1000, func() error { time.Sleep(maxMeasured / 2); return nil }) // uses the bubble's clock
		if err != nil || got.Runs != 2 {
			t.Errorf("got %+v, %v", got, err)
		}
	})
}
