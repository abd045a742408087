//go:build amd64 || arm64

package helper

import (
	"fmt"
	"runtime"
	"slices"

	"golang.org/x/sys/unix"
)

// dropCapabilities takes from the current thread, and from what it starts, all
// capabilities but those over files, which Landlock bounds. Without them, root in a
// container could not work on files of another user.
func dropCapabilities() error {
	const last = 63
	for c := range last + 1 {
		if slices.Contains(fileCapabilities(), c) {
			continue
		}
		if held, err := unix.PrctlRetInt(unix.PR_CAPBSET_READ, uintptr(c), 0, 0, 0); err != nil || held == 0 {
			continue // The kernel does not know it, or it is gone already.
		}
		if err := unix.Prctl(unix.PR_CAPBSET_DROP, uintptr(c), 0, 0, 0); err != nil && err != unix.EPERM {
			return fmt.Errorf("drop capability %d: %w", c, err)
		}
	}
	header := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var data [2]unix.CapUserData
	if err := unix.Capget(&header, &data[0]); err != nil {
		return fmt.Errorf("read capabilities: %w", err)
	}
	var allowed uint32
	for _, c := range fileCapabilities() {
		allowed |= 1 << c
	}
	data[0].Effective &= allowed
	data[0].Permitted &= allowed
	data[0].Inheritable = 0
	data[1] = unix.CapUserData{}
	err := unix.Capset(&header, &data[0])
	runtime.KeepAlive(&data)
	if err != nil {
		return fmt.Errorf("drop capabilities: %w", err)
	}
	return nil
}

func fileCapabilities() []int {
	return []int{unix.CAP_CHOWN, unix.CAP_DAC_OVERRIDE, unix.CAP_FOWNER, unix.CAP_FSETID}
}
