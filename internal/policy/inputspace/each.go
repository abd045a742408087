package inputspace

import (
	"runtime"
	"sync"
	"sync/atomic"
)

// Each calls work for every class number on all processors, in ascending order, and waits
// for the calls to end. A processor stops when one of its calls returns false. progress,
// if not nil, is called with the number of finished classes; its calls are not
// concurrent.
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
