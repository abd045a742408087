package inputspace

import (
	"runtime"
	"sync"
	"sync/atomic"
)

// Each calls work for the number of every class on all processors, in ascending
// order, and waits for the calls to end. A processor stops when one of its calls
// returns false. If progress is not nil, it gets the number of classes that are done,
// one call at a time.
func (d *Domain) Each(work func(class int) bool, progress func(done int)) {
	var next atomic.Int64
	var mu sync.Mutex // guards done and the calls of progress
	done := 0
	var workers sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		workers.Go(func() {
			for i := int(next.Add(1) - 1); i < d.Len() && work(i); i = int(next.Add(1) - 1) {
				if progress != nil {
					mu.Lock()
					done++
					progress(done)
					mu.Unlock()
				}
			}
		})
	}
	workers.Wait()
}
