//go:build amd64 || arm64

package helper

import (
	"syscall"
	"unsafe"
)

// The system calls that package syscall does not have. Their numbers are the same on all
// architectures.
const (
	sysCloseRange       = 436
	sysOpenat2          = 437
	sysMountSetattr     = 442
	sysLandlockCreate   = 444
	sysLandlockAdd      = 445
	sysLandlockRestrict = 446
)

// Constants of the kernel that package syscall does not have.
const (
	closeRangeCloexec  = 4
	prSetNoNewPrivs    = 38
	seccompModeFilter  = 2
	capabilityVersion3 = 0x20080522
	mountAttrReadOnly  = 1
	atRecursive        = 0x8000
	rulePathBeneath    = 1
	ruleNetPort        = 2
	oPath              = 0x200000
	resolveNoSymlinks  = 4
	atCurrentDir       = ^uintptr(99) // AT_FDCWD, -100
)

// call makes a system call with at most six arguments.
//
//go:uintptrescapes
func call(number uintptr, args ...uintptr) error {
	_, err := value(number, args...)
	return err
}

// value makes a system call, and returns its value.
//
//go:uintptrescapes
func value(number uintptr, args ...uintptr) (uintptr, error) {
	var a [6]uintptr
	copy(a[:], args)
	v, _, errno := syscall.Syscall6(number, a[0], a[1], a[2], a[3], a[4], a[5])
	if errno != 0 {
		return 0, errno
	}
	return v, nil
}

//go:uintptrescapes
func prctl(option int, args ...uintptr) error {
	return call(syscall.SYS_PRCTL, append([]uintptr{uintptr(option)}, args...)...)
}

func ignore(s syscall.Signal) error {
	const ignored, maskSize = 1, 8
	action := struct {
		handler               uintptr
		flags, restorer, mask uint64
	}{handler: ignored}
	return call(syscall.SYS_RT_SIGACTION, uintptr(s), uintptr(unsafe.Pointer(&action)), 0, maskSize)
}
