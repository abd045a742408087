package escape

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// hidden are the errors of a process that cannot be seen.
var hidden = []error{unix.ESRCH, unix.ENOENT}

func processGroup() group {
	never := always(everyone(refused))
	// Only a process namespace of its own hides the other processes from an agent.
	seen := from(everyone(possible), everyone(possible), everyone(refused))
	attempts := []attempt{
		{does: "attach to another process by `ptrace`", want: never, try: func(w *world) error {
			if err := unix.PtraceAttach(w.Target); err != nil {
				return err
			}
			if _, err := unix.Wait4(w.Target, nil, 0, nil); err != nil {
				return err
			}
			return unix.PtraceDetach(w.Target)
		}},
		{does: "seize the host's process by `ptrace`", want: never, try: func(w *world) error { return unix.PtraceSeize(w.Host) }},
		{does: "let the parent trace, by `PTRACE_TRACEME`", want: never, try: func(*world) error {
			return callError(unix.SYS_PTRACE, unix.PTRACE_TRACEME)
		}},
		{does: "open the memory of the host's process for writing", want: never, try: func(w *world) error { return openClose(proc(w.Host, "mem"), unix.O_RDWR) }},
		{does: "open the memory of the host's process through one of its threads", want: never, try: func(w *world) error {
			return eachThread(w.Host, func(tid int) error {
				return openClose(proc(w.Host, fmt.Sprintf("task/%d/mem", tid)), unix.O_RDONLY)
			})
		}},
		{does: "read another process's memory", want: never, try: func(w *world) error {
			return withFile(proc(w.Target, "mem"), func(fd int) error {
				b := make([]byte, len(scratch))
				_, err := unix.Pread(fd, b, int64(w.Address))
				return err
			})
		}},
		{does: "read another process's memory map", want: never, try: func(w *world) error { return discard(proc(w.Target, "maps")) }},
		{does: "read another process's environment", want: never, try: func(w *world) error { return read(proc(w.Target, "environ")) }},
		{does: "open another process's descriptor", want: never, try: func(w *world) error {
			return read(proc(w.Target, fmt.Sprintf("fd/%d", w.Descriptor)))
		}},
		{does: "read a file through another process's root directory", want: never, try: func(w *world) error {
			return read(proc(w.Target, "root"+filepath.Join(w.Other, "secret")))
		}},
		{does: "list the host's working directory", want: never, try: func(w *world) error { return list(proc(w.Host, "cwd/")) }},
		{does: "read another process's memory by `process_vm_readv`", want: never, try: func(w *world) error {
			local, remote := vectors(w)
			_, err := unix.ProcessVMReadv(w.Target, local, remote, 0)
			return err
		}},
		{does: "write another process's memory by `process_vm_writev`", want: never, try: func(w *world) error {
			local, remote := vectors(w)
			_, err := unix.ProcessVMWritev(w.Target, local, remote, 0)
			return err
		}},
		{does: "copy another process's descriptor by `pidfd_getfd`", want: never, try: func(w *world) error {
			return withPidfd(w.Target, func(pidfd int) error {
				fd, err := unix.PidfdGetfd(pidfd, w.Descriptor, 0)
				if err != nil {
					return err
				}
				return read(fmt.Sprintf("/proc/self/fd/%d", fd))
			})
		}},
		{does: "advise another process's memory by `process_madvise`", root: true, want: never, try: func(w *world) error {
			return withPidfd(w.Target, func(pidfd int) error {
				_, remote := vectors(w)
				remote[0].Base &^= uintptr(os.Getpagesize() - 1)
				remote[0].Len = os.Getpagesize()
				return callError(unix.SYS_PROCESS_MADVISE, uintptr(pidfd), pointer(&remote[0]), 1, unix.MADV_COLD, 0)
			})
		}},
		{does: "compare the host's objects by `kcmp`", want: never, try: func(w *world) error {
			return callError(unix.SYS_KCMP, uintptr(os.Getpid()), uintptr(w.Target), 1 /* KCMP_VM */, 0, 0)
		}},
		{does: "send a signal to the host's process by `kill`", want: never, try: func(w *world) error { return unix.Kill(w.Host, harmless) }},
		{does: "send a signal to another process by `kill`", want: never, try: func(w *world) error { return unix.Kill(w.Target, harmless) }},
		{does: "send a signal to another process group", want: never, try: func(w *world) error { return unix.Kill(-w.Target, harmless) }},
		{does: "send a signal by `tgkill`", want: never, try: func(w *world) error { return unix.Tgkill(w.Target, w.Target, harmless) }},
		{does: "send a signal to each thread of the host's process", want: never, try: func(w *world) error {
			return eachThread(w.Host, func(tid int) error { return unix.Tgkill(w.Host, tid, harmless) })
		}},
		{does: "send a signal by `pidfd_send_signal`", want: never, try: func(w *world) error {
			return withPidfd(w.Target, func(pidfd int) error { return unix.PidfdSendSignal(pidfd, harmless, nil, 0) })
		}},
		{does: "send a signal by `rt_sigqueueinfo`", want: never, try: func(w *world) error {
			info := [128]byte{}
			binary.NativeEndian.PutUint32(info[8:], ^uint32(0)) // SI_QUEUE
			return callError(unix.SYS_RT_SIGQUEUEINFO, uintptr(w.Target), uintptr(harmless), pointer(&info))
		}},
		{does: signalByOwner, want: from(everyone(noEffect), everyone(noEffect), everyone(refused)), arrives: true, try: sendByOwner},
		{does: "change the limits of another process by `prlimit`", want: never, try: func(w *world) error {
			var old unix.Rlimit
			if err := unix.Prlimit(w.Target, unix.RLIMIT_CORE, nil, &old); err != nil {
				return err
			}
			return unix.Prlimit(w.Target, unix.RLIMIT_CORE, &old, nil)
		}},
		{does: "let the kernel end another process first, by `oom_score_adj`", want: never, try: func(w *world) error { return openClose(proc(w.Target, "oom_score_adj"), unix.O_WRONLY) }},
		{does: "slow another process down by `setpriority`", want: never, try: func(w *world) error { return unix.Setpriority(unix.PRIO_PROCESS, w.Target, 19) }},
		{does: "slow another process down by `ioprio_set`", want: never, try: func(w *world) error {
			return callError(unix.SYS_IOPRIO_SET, 1 /* IOPRIO_WHO_PROCESS */, uintptr(w.Target), 2<<13|7)
		}},
		{does: "change another process's processors by `sched_setaffinity`", want: never, try: func(w *world) error {
			var set unix.CPUSet
			if err := unix.SchedGetaffinity(w.Target, &set); err != nil {
				return err
			}
			return unix.SchedSetaffinity(w.Target, &set)
		}},
		{does: "change another process's scheduling by `sched_setattr`", want: never, try: func(w *world) error {
			return unix.SchedSetAttr(w.Target, &unix.SchedAttr{Size: unix.SizeofSchedAttr, Policy: unix.SCHED_BATCH, Nice: 19}, 0)
		}},
		{does: "move another process's pages by `migrate_pages`", want: never, try: func(w *world) error {
			nodes := uint64(1)
			return callError(unix.SYS_MIGRATE_PAGES, uintptr(w.Target), 64, pointer(&nodes), pointer(&nodes))
		}},
		{does: "read another process's command line", want: seen, try: func(w *world) error { return discard(proc(w.Target, "cmdline")) }},
		{does: "read shared memory of System V", want: never, try: func(w *world) error {
			id, err := unix.SysvShmGet(w.Segment, 4096, 0)
			if err != nil {
				return err
			}
			b, err := unix.SysvShmAttach(id, 0, unix.SHM_RDONLY)
			if err != nil {
				return err
			}
			return unix.SysvShmDetach(b)
		}},
		{does: "change a semaphore of System V by `semctl` with its id", want: never, try: func(w *world) error {
			const setValue = 16
			return callError(unix.SYS_SEMCTL, uintptr(w.Semaphore), 0, setValue, 1)
		}},
		{does: "change a semaphore of System V by `semtimedop` with its id", want: never, try: func(w *world) error {
			operation := struct {
				number           uint16
				operation, flags int16
			}{operation: 1}
			return callError(unix.SYS_SEMTIMEDOP, uintptr(w.Semaphore), pointer(&operation), 1, 0)
		}},
		{does: "read the state of a message queue of System V by `msgctl` with its id", want: never, try: func(w *world) error {
			const stat = 2
			var state [256]byte
			return callError(unix.SYS_MSGCTL, uintptr(w.Messages), stat, pointer(&state))
		}},
		{does: "open a POSIX message queue", want: never, try: func(w *world) error {
			fd, err := openQueue(w.Queue, unix.O_RDWR)
			if err != nil {
				return err
			}
			return unix.Close(fd)
		}},
		{does: "type into the terminal by `TIOCSTI`", want: never, try: func(*world) error {
			_ = callError(unix.SYS_SETSID) // An agent may lead its session already.
			if err := unix.IoctlSetInt(0, unix.TIOCSCTTY, 0); err != nil && !errors.Is(err, unix.EPERM) {
				return err
			}
			key := byte('x')
			return callError(unix.SYS_IOCTL, 0, unix.TIOCSTI, pointer(&key))
		}},
		{does: "paste into the console by `TIOCLINUX`", want: never, try: func(*world) error {
			key := byte(3)
			return reached(callError(unix.SYS_IOCTL, 0, unix.TIOCLINUX, pointer(&key)), unix.ENOTTY)
		}},
		{does: "run a program with the set-user-id bit", root: true, want: never, try: func(w *world) error {
			out, err := exec.Command(filepath.Join(w.Tree, "setuid"), "-u").CombinedOutput()
			if err == nil && string(bytes.TrimSpace(out)) != fmt.Sprint(otherUser) {
				return unix.EPERM
			}
			return exists(err)
		}},
		{does: "become another user by `setuid`", root: true, want: never, refusals: []error{unix.EINVAL}, try: func(*world) error {
			return callError(unix.SYS_SETUID, otherUser)
		}},
		{does: "take a capability by `capset`", root: true, want: never, try: func(*world) error {
			header := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
			data := [2]unix.CapUserData{{Effective: 1 << unix.CAP_SYS_ADMIN, Permitted: 1 << unix.CAP_SYS_ADMIN}}
			return unix.Capset(&header, &data[0])
		}},
	}
	for i := range attempts {
		attempts[i].absent = hidden
	}
	return group{"Other processes", attempts}
}

// harmless is a signal that programs ignore unless they ask for it.
const harmless = unix.SIGWINCH

func proc(pid int, name string) string { return fmt.Sprintf("/proc/%d/%s", pid, name) }

func discard(path string) error {
	_, err := os.ReadFile(path)
	return err
}

// eachThread succeeds if do does for any thread of a process.
func eachThread(pid int, do func(tid int) error) error {
	entries, err := os.ReadDir(proc(pid, "task"))
	for _, e := range entries {
		tid, convErr := strconv.Atoi(e.Name())
		if err = errors.Join(convErr, do(tid)); err == nil {
			return nil
		}
	}
	return err
}

func vectors(w *world) ([]unix.Iovec, []unix.RemoteIovec) {
	b := new([len(scratch)]byte)
	local := unix.Iovec{Base: &b[0]}
	local.SetLen(len(b))
	return []unix.Iovec{local}, []unix.RemoteIovec{{Base: uintptr(w.Address), Len: len(b)}}
}

func withPidfd(pid int, do func(pidfd int) error) error {
	fd, err := unix.PidfdOpen(pid, 0)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	return do(fd)
}

const signalByOwner = "send a signal as the owner of a pipe, by `F_SETOWN`"

// sendByOwner lets the kernel send a signal to the target when a pipe can be read.
func sendByOwner(w *world) error {
	r, out, err := os.Pipe()
	if err != nil {
		return err
	}
	fd := r.Fd()
	for _, set := range [][2]int{{unix.F_SETSIG, int(unix.SIGUSR2)}, {unix.F_SETOWN, w.Target}, {unix.F_SETFL, unix.O_ASYNC}} {
		if _, err := unix.FcntlInt(fd, set[0], set[1]); err != nil {
			return err
		}
	}
	_, err = out.Write([]byte("x"))
	return err
}

func kernelGroup() group {
	never := always(everyone(refused))
	return group{"Namespaces, mounts and the kernel", []attempt{
		{does: "mount a file system", root: true, want: never, try: func(w *world) error {
			if err := unix.Mount("tmpfs", w.private("empty"), "tmpfs", 0, "size=4k"); err != nil {
				return err
			}
			return unix.Unmount(w.private("empty"), unix.MNT_DETACH)
		}},
		{does: "write to the tree through a bind mount", root: true, want: never, try: func(w *world) error {
			if err := unix.Mount(w.tree(), w.private("empty"), "", unix.MS_BIND, ""); err != nil {
				return err
			}
			defer func() { _ = unix.Unmount(w.private("empty"), unix.MNT_DETACH) }()
			return write(w.private("empty", "file"))
		}},
		{does: "unmount", root: true, want: never, try: func(w *world) error { return reached(unix.Unmount(w.private("empty"), 0), unix.EINVAL) }},
		{does: "`pivot_root`", root: true, want: never, try: func(w *world) error {
			return reached(unix.PivotRoot(w.private("empty"), w.private("empty")), unix.EINVAL, unix.EBUSY)
		}},
		{does: "`chroot`", root: true, want: never, try: func(w *world) error { return unix.Chroot(w.private()) }},
		{does: "`fsopen`", root: true, want: never, try: func(*world) error {
			_, err := unix.Fsopen("tmpfs", unix.FSOPEN_CLOEXEC)
			return err
		}},
		{does: "`open_tree` with a copy", root: true, want: never, try: func(w *world) error {
			_, err := unix.OpenTree(unix.AT_FDCWD, w.tree(), unix.OPEN_TREE_CLONE|unix.OPEN_TREE_CLOEXEC)
			return err
		}},
		{does: "`move_mount`", root: true, want: never, try: func(w *world) error {
			return reached(unix.MoveMount(-1, "", -1, "", unix.MOVE_MOUNT_F_EMPTY_PATH|unix.MOVE_MOUNT_T_EMPTY_PATH), unix.EBADF)
		}},
		{does: "`mount_setattr`", root: true, want: never, try: func(w *world) error {
			return reached(unix.MountSetattr(unix.AT_FDCWD, w.private("empty"), 0, &unix.MountAttr{Attr_set: unix.MOUNT_ATTR_RDONLY}), unix.EINVAL)
		}},
		{does: "a user namespace by `unshare`", want: never, try: func(*world) error { return inNamespace(&unix.SysProcAttr{Unshareflags: unix.CLONE_NEWUSER}) }},
		{does: "a network namespace by `unshare`", root: true, want: never, try: func(*world) error { return inNamespace(&unix.SysProcAttr{Unshareflags: unix.CLONE_NEWNET}) }},
		{does: "a mount namespace by `unshare`", root: true, want: never, try: func(*world) error { return unix.Unshare(unix.CLONE_FS | unix.CLONE_NEWNS) }},
		{does: "a process namespace by `unshare`", root: true, want: never, try: func(*world) error { return unix.Unshare(unix.CLONE_NEWPID) }},
		{does: "a user and mount namespace by `clone`", want: never, try: func(*world) error {
			return inNamespace(&unix.SysProcAttr{Cloneflags: unix.CLONE_NEWUSER | unix.CLONE_NEWNS})
		}},
		{does: "a user namespace by `clone3`", want: never, try: cloneUser},
		{does: "enter the host's network namespace by `setns`", root: true, want: never, absent: hidden, try: func(w *world) error {
			return withFile(proc(w.Host, "ns/net"), func(fd int) error { return unix.Setns(fd, unix.CLONE_NEWNET) })
		}},
		{does: "enter the host's mount namespace by `setns`", root: true, want: never, absent: hidden, try: func(w *world) error {
			return withFile(proc(w.Host, "ns/mnt"), func(fd int) error {
				if err := unix.Unshare(unix.CLONE_FS); err != nil {
					return err
				}
				return unix.Setns(fd, unix.CLONE_NEWNS)
			})
		}},
		{does: "enter the host's namespaces by `setns` with a pidfd", root: true, want: never, absent: hidden, try: func(w *world) error {
			return withPidfd(w.Host, func(fd int) error { return unix.Setns(fd, unix.CLONE_NEWNET|unix.CLONE_NEWUTS) })
		}},
		{does: "`io_uring_setup`", want: never, try: func(*world) error {
			return callError(unix.SYS_IO_URING_SETUP, 1, pointer(new([120]byte)))
		}},
		{does: "`userfaultfd`", want: never, try: func(*world) error { return callError(unix.SYS_USERFAULTFD, unix.O_CLOEXEC|1) }},
		{does: "`bpf`", root: true, want: never, try: func(*world) error {
			attr := struct{ kind, key, value, entries uint32 }{2 /* BPF_MAP_TYPE_ARRAY */, 4, 4, 1}
			return callError(unix.SYS_BPF, 0 /* BPF_MAP_CREATE */, pointer(&attr), unsafe.Sizeof(attr))
		}},
		{does: "`perf_event_open`", want: never, try: func(*world) error {
			attr := unix.PerfEventAttr{Type: unix.PERF_TYPE_SOFTWARE, Config: unix.PERF_COUNT_SW_DUMMY, Bits: unix.PerfBitExcludeKernel | unix.PerfBitExcludeHv, Size: uint32(unsafe.Sizeof(unix.PerfEventAttr{}))}
			_, err := unix.PerfEventOpen(&attr, 0, -1, -1, unix.PERF_FLAG_FD_CLOEXEC)
			return err
		}},
		{does: "`add_key`", want: never, try: func(*world) error {
			_, err := unix.AddKey("user", "switchyard-escape", []byte("x"), unix.KEY_SPEC_PROCESS_KEYRING)
			return err
		}},
		{does: "`keyctl`", want: never, try: func(*world) error {
			_, err := unix.KeyctlGetKeyringID(unix.KEY_SPEC_PROCESS_KEYRING, true)
			return err
		}},
		{does: "`request_key`", want: never, try: func(*world) error {
			return reached(callError(unix.SYS_REQUEST_KEY, text("user"), text("switchyard-escape-none"), 0, 0), unix.ENOKEY)
		}},
		{does: "`quotactl_fd` of another user", root: true, want: never, try: func(w *world) error {
			return withFile(w.tree(), func(fd int) error {
				const getQuota = 0x800007 << 8
				err := callError(unix.SYS_QUOTACTL_FD, uintptr(fd), getQuota, 12345, pointer(new([72]byte)))
				return reached(err, unix.ESRCH)
			})
		}},
		{does: "`swapon`", root: true, want: never, try: func(w *world) error {
			return reached(callError(unix.SYS_SWAPON, text(w.private("file")), 0), unix.EINVAL)
		}},
		{does: "`reboot` with a command that does not exist", root: true, want: never, try: func(*world) error {
			return reached(callError(unix.SYS_REBOOT, unix.LINUX_REBOOT_MAGIC1, unix.LINUX_REBOOT_MAGIC2, 1, 0), unix.EINVAL)
		}},
		{does: "`settimeofday` without a time", root: true, want: never, try: func(*world) error { return callError(unix.SYS_SETTIMEOFDAY, 0, 0) }},
		{does: "`adjtimex` with a tick of 0", root: true, want: never, try: func(*world) error {
			_, err := unix.Adjtimex(&unix.Timex{Modes: unix.ADJ_TICK})
			return reached(err, unix.EINVAL)
		}},
		{does: "`sethostname` with a name that is too long", root: true, want: never, try: func(*world) error {
			return reached(unix.Sethostname(make([]byte, 65)), unix.EINVAL)
		}},
		{does: "`init_module` without a module", root: true, want: never, try: func(*world) error {
			return reached(callError(unix.SYS_INIT_MODULE, 0, 0, text("")), unix.ENOEXEC)
		}},
		{does: "`delete_module` of a module that does not exist", root: true, want: never, try: func(*world) error {
			return reached(unix.DeleteModule("switchyard-escape", unix.O_NONBLOCK), unix.ENOENT)
		}},
		{does: "`kexec_load` without a kernel", root: true, want: never, try: func(*world) error {
			return reached(callError(unix.SYS_KEXEC_LOAD, 0, 17, 0, 0), unix.EINVAL)
		}},
		{does: "`acct` with a file that does not exist", root: true, want: never, try: func(w *world) error { return reached(unix.Acct(w.private("none")), unix.ENOENT) }},
		{does: "`syslog` with a level that does not exist", root: true, want: never, try: func(*world) error {
			return reached(callError(unix.SYS_SYSLOG, 8 /* SYSLOG_ACTION_CONSOLE_LEVEL */, 0, 99), unix.EINVAL)
		}},
		{does: "turn off randomised addresses of its own process by `personality`", want: always(everyone(possible)), try: func(*world) error {
			return callError(unix.SYS_PERSONALITY, 0x40000 /* ADDR_NO_RANDOMIZE */)
		}},
		{does: "open a unix socket by the system call of 32-bit programs", want: never, try: socket32},
		{does: "open a unix socket by the system call of x32 programs", want: never, try: func(*world) error {
			if runtime.GOARCH != "amd64" {
				return unavailableError("there are no x32 programs on " + runtime.GOARCH)
			}
			return callError(unix.SYS_SOCKET|0x40000000, unix.AF_UNIX, unix.SOCK_STREAM, 0)
		}},
	}}
}

func inNamespace(attr *unix.SysProcAttr) error {
	cmd := exec.Command("/bin/true")
	cmd.SysProcAttr = attr
	return cmd.Run()
}

// cloneUser starts a process that ends at once, in a user namespace of its own.
//
//go:norace
func cloneUser(*world) error {
	args := struct{ flags, pidfd, child, parent, signal, stack, stackSize, tls uint64 }{flags: unix.CLONE_NEWUSER, signal: uint64(unix.SIGCHLD)}
	pid, _, errno := syscall.RawSyscall(unix.SYS_CLONE3, uintptr(unsafe.Pointer(&args)), unsafe.Sizeof(args), 0)
	if errno != 0 {
		return errno
	}
	if pid == 0 {
		_, _, _ = syscall.RawSyscall(unix.SYS_EXIT_GROUP, 0, 0, 0)
	}
	_, err := unix.Wait4(int(pid), nil, 0, nil)
	return err
}

// socket32 runs a 32-bit program that opens a unix socket, and ends with the error's number.
func socket32(w *world) error {
	if runtime.GOARCH != "amd64" {
		return unavailableError("there is no such program for " + runtime.GOARCH)
	}
	code := []byte{
		0xb8, 0x67, 0x01, 0x00, 0x00, // mov eax, 359: socket
		0xbb, 0x01, 0x00, 0x00, 0x00, // mov ebx, 1: AF_UNIX
		0xb9, 0x01, 0x00, 0x00, 0x00, // mov ecx, 1: SOCK_STREAM
		0x31, 0xd2, //                   xor edx, edx
		0xcd, 0x80, //                   int 0x80
		0x31, 0xdb, //                   xor ebx, ebx
		0x85, 0xc0, //                   test eax, eax
		0x79, 0x04, //                   jns +4
		0x89, 0xc3, //                   mov ebx, eax
		0xf7, 0xdb, //                   neg ebx
		0xb8, 0x01, 0x00, 0x00, 0x00, // mov eax, 1: exit
		0xcd, 0x80, //                   int 0x80
	}
	const base, headers = 0x10000, 52 + 32
	var b bytes.Buffer
	b.WriteString("\x7fELF\x01\x01\x01" + string(make([]byte, 9)))
	for _, field := range []any{
		uint16(2), uint16(3), uint32(1), uint32(base + headers), uint32(52), uint32(0), uint32(0), uint16(52), uint16(32), uint16(1), uint16(0), uint16(0), uint16(0),
		uint32(1), uint32(0), uint32(base), uint32(base), uint32(headers + len(code)), uint32(headers + len(code)), uint32(5), uint32(0x1000),
	} {
		if err := binary.Write(&b, binary.LittleEndian, field); err != nil {
			return err
		}
	}
	b.Write(code)
	if err := os.WriteFile(w.private("program"), b.Bytes(), 0o700); err != nil {
		return err
	}
	err := exec.Command(w.private("program")).Run()
	var exit *exec.ExitError
	if !errors.As(err, &exit) {
		return reachedExec(err)
	}
	if exit.Sys().(syscall.WaitStatus).Signal() == unix.SIGSEGV {
		return unix.EPERM // It was not even allowed to exit, and ran into what follows its code.
	}
	return syscall.Errno(exit.ExitCode())
}

func reachedExec(err error) error {
	if errors.Is(err, unix.ENOEXEC) {
		return unavailableError("this kernel has no 32-bit programs")
	}
	return err
}
