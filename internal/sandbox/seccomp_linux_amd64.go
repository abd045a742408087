package sandbox

import "golang.org/x/sys/unix"

const auditArch = unix.AUDIT_ARCH_X86_64

func refusedHere() []uintptr { return []uintptr{unix.SYS_IOPL, unix.SYS_IOPERM} }

func metadataHere() []uintptr {
	return []uintptr{unix.SYS_CHMOD, unix.SYS_CHOWN, unix.SYS_LCHOWN, unix.SYS_UTIME, unix.SYS_UTIMES, unix.SYS_FUTIMESAT}
}

// opens are the calls that open a file, each with the index of the argument that has the
// flags.
func opens() map[uintptr]uint32 { return map[uintptr]uint32{unix.SYS_OPEN: 1, unix.SYS_OPENAT: 2} }
