//go:build amd64 || arm64

package sandbox

import "runtime"

// onOwnThread calls f on a new thread that runs nothing else, so that f may restrict it: a
// process that f starts inherits the restrictions. The thread ends after release is
// called, which must be after that process has ended: the kernel sends Pdeathsig when the
// thread that started a process ends.
func onOwnThread(f func() error) (release func(), err error) {
	failed, released := make(chan error), make(chan struct{})
	go func() {
		runtime.LockOSThread() // It is never unlocked, so the runtime ends the thread with us.
		err := f()
		failed <- err
		if err == nil {
			<-released
		}
	}()
	if err := <-failed; err != nil {
		return nil, err
	}
	return func() { close(released) }, nil
}
