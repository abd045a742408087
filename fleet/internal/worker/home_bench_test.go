package worker_test

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/switchyard-dev/switchyard/fleet/internal/flow"
	"github.com/switchyard-dev/switchyard/internal/api"
)

// BenchmarkHome measures how many results of agents a home records, and how many rounds it
// decides, while workers are as fast as one wants.
func BenchmarkHome(b *testing.B) {
	const rounds, tasks = 10, 40
	s := newBenchSite(b, rounds)
	results := rehearse(b, s, rounds)
	in := s.request(b, api.RunRequest{Prompt: "Handle the empty list."})
	h, blobs := s.home(b), s.store(b)
	h.Decided = func(string) {} // It is called concurrently.
	took := make(map[string]time.Duration)
	set := 0
	for b.Loop() {
		set++
		moves := make([]flow.Move, tasks)
		at := make([]flow.Position, tasks)
		for i := range moves {
			moves[i] = flow.Move{Task: fmt.Sprintf("T%02d%03d", set, i), Request: in.Request}
		}
		last := "start"
		for at[0].NextAction == "" {
			begin := time.Now()
			each(tasks, func(i int) {
				var err error
				if at[i], err = h.Advance(b.Context(), moves[i]); err != nil {
					b.Error(err)
				}
			})
			took[last] += time.Since(begin)
			if b.Failed() {
				b.FailNow()
			}
			if at[0].NextAction != "" {
				break
			}
			switch last = flow.Draft; {
			case at[0].Step.Kind == "review":
				last = flow.Review
			case at[0].Step.Kind == "commit":
				last = flow.Commit
			}
			each(tasks, func(i int) {
				done, err := results.work(b.Context(), blobs, last, flow.Order{Task: moves[i].Task, Round: at[i].Round})
				if err != nil {
					b.Error(err)
				}
				moves[i].Result, moves[i].Draft = done.Result, done.Draft
			})
		}
	}
	for kind, d := range took {
		n := set * tasks
		if kind == flow.Draft || kind == flow.Review {
			n *= rounds
		}
		b.ReportMetric(float64(n)/d.Seconds(), kind+"s/s")
	}
}

// each calls f for all numbers below n, in as many goroutines as a Temporal worker of a home
// uses.
func each(n int, f func(int)) {
	var all sync.WaitGroup
	free := make(chan struct{}, 16)
	for i := range n {
		free <- struct{}{}
		all.Go(func() {
			f(i)
			<-free
		})
	}
	all.Wait()
}
