package monitoring

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"
)

// crowd is several processes that decide rounds at the same time.
type crowd struct {
	// name is the prefix of its tasks' names.
	name          string
	workers, each int
	// killed is set if one in two processes is killed at a random moment.
	killed bool
}

// run returns the number of rounds that were certainly recorded, and of processes that
// were killed.
func (c crowd) run(t *testing.T, p *project) (recorded, killed int) {
	t.Helper()
	var mu sync.Mutex
	var all sync.WaitGroup
	for worker := range c.workers {
		all.Go(func() {
			chance := rand.New(rand.NewPCG(7, uint64(worker)))
			for n := range c.each {
				args := []string{"round", fmt.Sprintf("%s%d-%d", c.name, worker, n), "--report", "clean.json"}
				if chance.IntN(3) == 0 {
					args[3] = "style.json"
				}
				if c.killed && chance.IntN(2) == 0 {
					// Some are killed before their event, some after it, and some are
					// not.
					died := p.dies(t, time.Duration(chance.IntN(100))*time.Millisecond, args...)
					mu.Lock()
					if died {
						killed++
					} else {
						recorded++
					}
					mu.Unlock()
					continue
				}
				if _, err := p.run(t.Context(), args...); err != nil {
					t.Error(err)
					return
				}
				mu.Lock()
				recorded++
				mu.Unlock()
			}
		})
	}
	all.Wait()
	return recorded, killed
}

// dies runs a command that is killed after some time, and reports whether it was.
func (p *project) dies(t *testing.T, after time.Duration, args ...string) bool {
	ctx, cancel := context.WithTimeout(t.Context(), after)
	defer cancel()
	err := p.command(ctx, args...).Run()
	if err != nil && ctx.Err() == nil {
		t.Errorf("switchyard %v: %v", args, err)
	}
	return err != nil
}
