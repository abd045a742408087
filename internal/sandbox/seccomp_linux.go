//go:build amd64 || arm64

package sandbox

import (
	"encoding/binary"

	"golang.org/x/net/bpf"
	"golang.org/x/sys/unix"

	"github.com/switchyard-dev/switchyard/internal/errs"
)

// The layout of struct seccomp_data on a little-endian machine.
const (
	dataNumber = 0
	dataArch   = 4
	dataArgs   = 16
)

// The results of a filter.
const (
	retAllow = 0x7fff0000
	retErrno = 0x00050000
)

// namespaceFlags are the flags of clone and unshare that make namespaces.
const namespaceFlags = unix.CLONE_NEWUSER | unix.CLONE_NEWNET | unix.CLONE_NEWNS | unix.CLONE_NEWPID | unix.CLONE_NEWIPC |
	unix.CLONE_NEWUTS | unix.CLONE_NEWCGROUP | unix.CLONE_NEWTIME

// filter returns the program, in the kernel's format, that refuses the system calls that
// bypass the other rules. With fixedMetadata, calls that change metadata have no effect. With
// portsOnly, only TCP is allowed.
func filter(fixedMetadata, portsOnly bool) ([]byte, error) {
	program, err := bpf.Assemble(instructions(landlockVersion(), fixedMetadata, portsOnly))
	if err != nil {
		return nil, errs.New(errs.ConfineFailed, "assemble the filter of system calls: %w", err)
	}
	var text []byte
	for _, p := range program {
		text = append(binary.NativeEndian.AppendUint16(text, p.Op), p.Jt, p.Jf)
		text = binary.NativeEndian.AppendUint32(text, p.K)
	}
	return text, nil
}

// code is a filter under construction.
type code []bpf.Instruction

// ret makes the call fail with an errno. With 0 it reports success without an effect.
func ret(errno unix.Errno) bpf.Instruction { return bpf.RetConstant{Val: retErrno | uint32(errno)} }

func pass() bpf.Instruction { return bpf.RetConstant{Val: retAllow} }

// load loads a 32-bit word of the system call's data.
func load(offset uint32) bpf.Instruction { return bpf.LoadAbsolute{Off: offset, Size: 4} }

// argument loads the low 32 bits of an argument, which is the whole value of an int.
func argument(n uint32) bpf.Instruction { return load(dataArgs + 8*n) }

// call adds a body for a system call. The body must not fall through.
func (c *code) call(number uintptr, body ...bpf.Instruction) {
	*c = append(*c, bpf.JumpIf{Cond: bpf.JumpNotEqual, Val: uint32(number), SkipTrue: uint8(len(body))})
	*c = append(*c, body...)
}

// instructions returns the filter for a version of Landlock.
func instructions(version int, fixedMetadata, portsOnly bool) []bpf.Instruction {
	refuse := ret(unix.EPERM)
	c := code{
		load(dataArch),
		bpf.JumpIf{Cond: bpf.JumpEqual, Val: auditArch, SkipTrue: 1},
		refuse, // For example a 32-bit program, in which the numbers mean other calls.
		load(dataNumber),
		bpf.JumpIf{Cond: bpf.JumpLessThan, Val: 0x40000000, SkipTrue: 1},
		refuse, // The x32 numbers.
	}
	for _, number := range refusedCalls() {
		c.call(number, refuse)
	}
	if version < abiTruncate {
		c.call(unix.SYS_TRUNCATE, refuse)
		for number, flags := range opens() {
			c.call(number, argument(flags), bpf.ALUOpConstant{Op: bpf.ALUOpAnd, Val: unix.O_TRUNC | unix.O_ACCMODE},
				bpf.JumpIf{Cond: bpf.JumpEqual, Val: unix.O_TRUNC | unix.O_RDONLY, SkipTrue: 1},
				bpf.JumpIf{Cond: bpf.JumpNotEqual, Val: unix.O_TRUNC | unix.O_ACCMODE, SkipTrue: 1}, refuse, pass())
		}
		c.call(unix.SYS_OPENAT2, ret(unix.ENOSYS)) // Its flags are in memory.
	}
	if fixedMetadata {
		for _, number := range metadataCalls() {
			c.call(number, ret(0))
		}
	}
	// The flags of clone3 are in memory, where a filter cannot read them. Programs fall back
	// to clone.
	c.call(unix.SYS_CLONE3, ret(unix.ENOSYS))
	for _, number := range []uintptr{unix.SYS_CLONE, unix.SYS_UNSHARE} {
		c.call(number, argument(0), bpf.JumpIf{Cond: bpf.JumpBitsSet, Val: namespaceFlags, SkipFalse: 1}, refuse, pass())
	}
	// Limits and scheduling of other processes: 0 is the caller.
	for _, number := range []uintptr{
		unix.SYS_PRLIMIT64, unix.SYS_SCHED_SETAFFINITY, unix.SYS_SCHED_SETATTR, unix.SYS_SCHED_SETSCHEDULER, unix.SYS_SCHED_SETPARAM,
	} {
		c.call(number, argument(0), bpf.JumpIf{Cond: bpf.JumpEqual, Val: 0, SkipTrue: 1}, refuse, pass())
	}
	// With a user as the first argument, 0 as the second means all processes of the caller's
	// user.
	for number, user := range map[uintptr]uint32{unix.SYS_SETPRIORITY: unix.PRIO_USER, unix.SYS_IOPRIO_SET: ioprioUser} {
		c.call(number, argument(0), bpf.JumpIf{Cond: bpf.JumpEqual, Val: user, SkipTrue: 2},
			argument(1), bpf.JumpIf{Cond: bpf.JumpEqual, Val: 0, SkipTrue: 1}, refuse, pass())
	}
	c.call(unix.SYS_IOCTL, controls(fixedMetadata)...)
	c.call(unix.SYS_SOCKET, sockets(portsOnly)...)
	// One of a pair of datagram sockets can send to any path.
	c.call(unix.SYS_SOCKETPAIR, argument(1), bpf.ALUOpConstant{Op: bpf.ALUOpAnd, Val: typeMask},
		bpf.JumpIf{Cond: bpf.JumpEqual, Val: unix.SOCK_STREAM, SkipTrue: 2},
		bpf.JumpIf{Cond: bpf.JumpEqual, Val: unix.SOCK_SEQPACKET, SkipTrue: 1},
		refuse, pass())
	if portsOnly {
		// Landlock checks connect, but not a connection that is opened by its first data.
		for number, flags := range map[uintptr]uint32{unix.SYS_SENDTO: 3, unix.SYS_SENDMSG: 2, unix.SYS_SENDMMSG: 3} {
			c.call(number, argument(flags), bpf.JumpIf{Cond: bpf.JumpBitsSet, Val: unix.MSG_FASTOPEN, SkipFalse: 1}, refuse, pass())
		}
	}
	return append(c, pass())
}

// controls decides on an ioctl call. TIOCSTI and TIOCLINUX type into the terminal of another
// program. Calls of Btrfs create a snapshot in a directory that is only open for reading,
// with any files in it; FICLONE and FICLONERANGE have the same type. Calls that set something
// of a file, such as FS_IOC_SETFLAGS, need no right to write to it.
func controls(fixedMetadata bool) []bpf.Instruction {
	const directionAndType, set, btrfs = 0xc000ff00, 0x40000000, 0x94
	body := []bpf.Instruction{
		argument(1),
		bpf.JumpIf{Cond: bpf.JumpEqual, Val: unix.TIOCSTI, SkipTrue: 1},
		bpf.JumpIf{Cond: bpf.JumpNotEqual, Val: tioclinux, SkipTrue: 1},
		ret(unix.EPERM),
		bpf.JumpIf{Cond: bpf.JumpEqual, Val: unix.FICLONE, SkipTrue: 1},
		bpf.JumpIf{Cond: bpf.JumpNotEqual, Val: unix.FICLONERANGE, SkipTrue: 1},
		pass(),
		bpf.ALUOpConstant{Op: bpf.ALUOpAnd, Val: directionAndType},
		bpf.JumpIf{Cond: bpf.JumpNotEqual, Val: set | btrfs<<8, SkipTrue: 1},
		ret(unix.EPERM),
	}
	if fixedMetadata {
		body = append(body,
			bpf.JumpIf{Cond: bpf.JumpEqual, Val: set | 'f'<<8, SkipTrue: 1},
			bpf.JumpIf{Cond: bpf.JumpNotEqual, Val: set | 'X'<<8, SkipTrue: 1},
			ret(0))
	}
	return append(body, pass())
}

const (
	tioclinux  = 0x541c
	ioprioUser = 3 // IOPRIO_WHO_USER
	// typeMask removes the flags from a socket's type.
	typeMask = 0xf
)

// sockets decides on a new socket. TCP is left to Landlock and to the namespace, which do not
// cover other protocols. Unix sockets lead to other programs, such as a container engine,
// which would act for the process without any confinement.
func sockets(portsOnly bool) []bpf.Instruction {
	datagrams := pass()
	if portsOnly {
		datagrams = ret(unix.EPERM)
	}
	return []bpf.Instruction{
		argument(0),
		bpf.JumpIf{Cond: bpf.JumpEqual, Val: unix.AF_INET, SkipTrue: 5},
		bpf.JumpIf{Cond: bpf.JumpEqual, Val: unix.AF_INET6, SkipTrue: 4},
		bpf.JumpIf{Cond: bpf.JumpEqual, Val: unix.AF_NETLINK, SkipTrue: 1},
		ret(unix.EPERM),
		// Programs list network interfaces with NETLINK_ROUTE.
		argument(2),
		bpf.JumpIf{Cond: bpf.JumpEqual, Val: unix.NETLINK_ROUTE, SkipTrue: 9, SkipFalse: 10},
		argument(2),
		bpf.StoreScratch{Src: bpf.RegA, N: 0},
		argument(1),
		bpf.ALUOpConstant{Op: bpf.ALUOpAnd, Val: typeMask},
		bpf.JumpIf{Cond: bpf.JumpEqual, Val: unix.SOCK_DGRAM, SkipTrue: 6},
		bpf.JumpIf{Cond: bpf.JumpNotEqual, Val: unix.SOCK_STREAM, SkipTrue: 4},
		bpf.LoadScratch{Dst: bpf.RegA, N: 0},
		bpf.JumpIf{Cond: bpf.JumpEqual, Val: 0, SkipTrue: 1},
		bpf.JumpIf{Cond: bpf.JumpNotEqual, Val: unix.IPPROTO_TCP, SkipTrue: 1},
		pass(),
		ret(unix.EPERM),
		datagrams,
	}
}

// refusedCalls are calls that agents do not need and that reach beyond their files: other
// processes, the kernel's settings, memory shared with other programs, and input and output
// that the filter does not see.
func refusedCalls() []uintptr {
	return append(refusedHere(), []uintptr{
		unix.SYS_MOUNT, unix.SYS_UMOUNT2, unix.SYS_PIVOT_ROOT, unix.SYS_CHROOT, unix.SYS_FSOPEN, unix.SYS_FSCONFIG, unix.SYS_FSMOUNT,
		unix.SYS_FSPICK, unix.SYS_MOVE_MOUNT, unix.SYS_OPEN_TREE, unix.SYS_OPEN_TREE_ATTR, unix.SYS_MOUNT_SETATTR, unix.SYS_SETNS,
		unix.SYS_PTRACE, unix.SYS_PROCESS_VM_READV, unix.SYS_PROCESS_VM_WRITEV, unix.SYS_PROCESS_MADVISE, unix.SYS_PIDFD_GETFD, unix.SYS_KCMP,
		unix.SYS_IO_URING_SETUP, unix.SYS_IO_URING_ENTER, unix.SYS_IO_URING_REGISTER,
		unix.SYS_BPF, unix.SYS_PERF_EVENT_OPEN, unix.SYS_USERFAULTFD, unix.SYS_KEYCTL, unix.SYS_ADD_KEY, unix.SYS_REQUEST_KEY,
		unix.SYS_KEXEC_LOAD, unix.SYS_KEXEC_FILE_LOAD, unix.SYS_INIT_MODULE, unix.SYS_FINIT_MODULE, unix.SYS_DELETE_MODULE,
		unix.SYS_SWAPON, unix.SYS_SWAPOFF, unix.SYS_REBOOT, unix.SYS_SETTIMEOFDAY, unix.SYS_CLOCK_SETTIME,
		unix.SYS_SETHOSTNAME, unix.SYS_SETDOMAINNAME, unix.SYS_ACCT, unix.SYS_QUOTACTL, unix.SYS_QUOTACTL_FD, unix.SYS_SYSLOG, unix.SYS_VHANGUP,
		unix.SYS_OPEN_BY_HANDLE_AT, unix.SYS_FANOTIFY_INIT,
		unix.SYS_SHMGET, unix.SYS_SHMAT, unix.SYS_SHMCTL, unix.SYS_MSGGET, unix.SYS_MSGSND, unix.SYS_MSGRCV, unix.SYS_MSGCTL,
		unix.SYS_SEMGET, unix.SYS_SEMOP, unix.SYS_SEMTIMEDOP, unix.SYS_SEMCTL, unix.SYS_MQ_OPEN, unix.SYS_MQ_UNLINK,
	}...)
}

// metadataCalls are the calls that change metadata, which Landlock does not restrict. A call for
// file attributes can change a mode too.
func metadataCalls() []uintptr {
	return append(metadataHere(), []uintptr{
		unix.SYS_FCHMOD, unix.SYS_FCHMODAT, unix.SYS_FCHMODAT2, unix.SYS_FCHOWN, unix.SYS_FCHOWNAT, unix.SYS_UTIMENSAT,
		unix.SYS_SETXATTR, unix.SYS_LSETXATTR, unix.SYS_FSETXATTR, unix.SYS_SETXATTRAT,
		unix.SYS_REMOVEXATTR, unix.SYS_LREMOVEXATTR, unix.SYS_FREMOVEXATTR, unix.SYS_REMOVEXATTRAT, unix.SYS_FILE_SETATTR,
	}...)
}
