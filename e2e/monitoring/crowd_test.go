package monitoring

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"
)

// crowd lets several processes decide rounds at the same time.
type crowd struct {
	// name begins the names of its tasks.
	name          string
	workers, each int
	// killed says that one in two processes is killed at a moment by chance.
	killed bool
}

// run returns how many rounds were surely recorded, and how many processes were
// killed.
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
					// Some do not come to their event, some end after it, and some live on.
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
