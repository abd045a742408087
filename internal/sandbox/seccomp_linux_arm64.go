package sandbox

import "golang.org/x/sys/unix"

const auditArch = unix.AUDIT_ARCH_AARCH64

// The older calls do not exist on this architecture.

func refusedHere() []uintptr { return nil }

func metadataHere() []uintptr { return nil }

func opens() map[uintptr]uint32 { return map[uintptr]uint32{unix.SYS_OPENAT: 2} }
