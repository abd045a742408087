package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// errNotTraceable is the error if this machine does not let a process trace its child,
// or its kernel is older than 5.3.
var errNotTraceable = errors.New("no process can be traced here")

// traced is a command to trace.
type traced struct {
	path           string
	args, env      []string
	dir            string // of the project; paths in calls are relative to it
	stdout, stderr *os.File
}

// writeCall is a system call that writes, and its file: relative to the project's
// directory, with # for each number or other random name, or the name of a standard
// stream.
type writeCall struct{ call, file string }

func (c writeCall) String() string { return c.call + " of " + c.file }

// traceWrites runs a command to its end. It calls visit before each call that writes,
// of any thread but not of the command's children. If visit returns true, it kills the
// command and the call does not happen.
//
// It returns how the command ended. No process of the command is left then.
func traceWrites(c traced, visit func(writeCall) bool) (unix.WaitStatus, error) {
	// Only the thread that started a process can trace it.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	null, err := os.Open(os.DevNull)
	if err != nil {
		return 0, err
	}
	defer null.Close()
	pid, err := syscall.ForkExec(c.path, c.args, &syscall.ProcAttr{
		Dir: c.dir, Env: c.env, Files: []uintptr{null.Fd(), c.stdout.Fd(), c.stderr.Fd()},
		// Its process group distinguishes its threads from other tests' children.
		Sys: &syscall.SysProcAttr{Ptrace: true, Setpgid: true},
	})
	if errors.Is(err, syscall.EPERM) || errors.Is(err, syscall.ENOSYS) {
		return 0, fmt.Errorf("%w: %w", errNotTraceable, err)
	}
	if err != nil {
		return 0, err
	}
	return (&tracer{traced: c, pid: pid, visit: visit, calls: writeCalls(), seen: make(map[int]bool)}).follow()
}

// tracer follows the threads of one process.
type tracer struct {
	traced
	pid   int
	visit func(writeCall) bool
	calls map[uint64]writeArgs
	seen  map[int]bool // threads that have been stopped before
	err   error        // first error, which ended the process
}

// follow resumes the process from stop to stop until it ends.
func (t *tracer) follow() (unix.WaitStatus, error) {
	for {
		var status unix.WaitStatus
		tid, err := unix.Wait4(-t.pid, &status, unix.WALL, nil)
		switch {
		case errors.Is(err, unix.EINTR):
		case err != nil:
			return 0, fmt.Errorf("wait for the traced process: %w", err)
		case !status.Stopped() && tid == t.pid: // All other threads have ended.
			return status, t.err
		case status.Stopped():
			t.stopped(tid, status)
		}
	}
}

// stopped resumes a stopped thread. A thread that was killed meanwhile no longer exists
// for ptrace, and is waited for later.
func (t *tracer) stopped(tid int, status unix.WaitStatus) {
	first := !t.seen[tid]
	t.seen[tid] = true
	deliver := 0
	switch signal := status.StopSignal(); {
	case first && tid == t.pid: // It has just begun to run the program.
		t.check(unix.PtraceSetOptions(tid, unix.PTRACE_O_TRACESYSGOOD|unix.PTRACE_O_TRACECLONE|unix.PTRACE_O_EXITKILL))
	case first && signal == unix.SIGSTOP: // A new traced thread starts with SIGSTOP.
	case signal == unix.SIGTRAP|0x80:
		call, ok, err := t.call(tid)
		t.check(err)
		if ok && t.visit(call) {
			t.kill()
		}
	case signal == unix.SIGTRAP: // a new thread
	default:
		deliver = int(signal)
	}
	t.check(unix.PtraceSyscall(tid, deliver))
}

// check ends the process on an error.
func (t *tracer) check(err error) {
	if err == nil || errors.Is(err, unix.ESRCH) {
		return
	}
	if errors.Is(err, unix.EIO) || errors.Is(err, unix.EINVAL) || errors.Is(err, unix.EPERM) {
		err = fmt.Errorf("%w: %w", errNotTraceable, err)
	}
	if t.err == nil {
		t.err = err
	}
	t.kill()
}

func (t *tracer) kill() { _ = unix.Kill(t.pid, unix.SIGKILL) }

// syscallInfo is the kernel's struct ptrace_syscall_info at the entry of a call. It is
// the same on every architecture.
type syscallInfo struct {
	op   uint8
	_    [3]uint8
	_    uint32
	_, _ uint64
	nr   uint64
	args [6]uint64
}

// call returns the call at whose entry a thread has stopped, and whether it writes.
func (t *tracer) call(tid int) (writeCall, bool, error) {
	var info syscallInfo
	_, _, errno := unix.Syscall6(unix.SYS_PTRACE, unix.PTRACE_GET_SYSCALL_INFO,
		uintptr(tid), unsafe.Sizeof(info), uintptr(unsafe.Pointer(&info)), 0, 0)
	if errno != 0 {
		return writeCall{}, false, errno
	}
	shape, ok := t.calls[info.nr]
	if !ok || info.op != unix.PTRACE_SYSCALL_INFO_ENTRY {
		return writeCall{}, false, nil
	}
	if shape.flags >= 0 && info.args[shape.flags]&(unix.O_CREAT|unix.O_TRUNC) == 0 {
		return writeCall{}, false, nil
	}
	file := ""
	if shape.fd >= 0 {
		file = t.open(int32(info.args[shape.fd]))
	}
	if shape.path >= 0 {
		path, err := textAt(tid, info.args[shape.path])
		if err != nil {
			return writeCall{}, false, err
		}
		if filepath.IsAbs(path) {
			file = path
		} else {
			file = filepath.Join(file, path)
		}
	}
	if !filepath.IsAbs(file) { // A pipe, or the runtime's wake-up descriptor.
		return writeCall{}, false, nil
	}
	return writeCall{shape.name, t.name(file)}, true, nil
}

// open returns the path of a descriptor of the process.
func (t *tracer) open(fd int32) string {
	link := fmt.Sprintf("/proc/%d/fd/%d", t.pid, fd)
	if fd == unix.AT_FDCWD {
		link = fmt.Sprintf("/proc/%d/cwd", t.pid)
	}
	file, _ := os.Readlink(link) // The call will fail, too.
	return file
}

// name returns the file of a writeCall at path.
func (t *tracer) name(path string) string {
	switch path {
	case t.stdout.Name():
		return "stdout"
	case t.stderr.Name():
		return "stderr"
	}
	chance := regexp.MustCompile(`run-[a-z2-7]{26}|[0-9a-f]{16,}|[0-9]+`)
	return chance.ReplaceAllString(strings.TrimPrefix(path, t.dir+"/"), "#")
}

// textAt reads a C string of a stopped thread.
func textAt(tid int, address uint64) (string, error) {
	memory, err := os.Open(fmt.Sprintf("/proc/%d/mem", tid))
	if err != nil {
		return "", err
	}
	defer memory.Close()
	text := make([]byte, unix.PathMax)
	n, err := memory.ReadAt(text, int64(address))
	if before, _, ok := strings.Cut(string(text[:n]), "\x00"); ok {
		return before, nil
	}
	return "", fmt.Errorf("read a path of the traced process: %w", err)
}
