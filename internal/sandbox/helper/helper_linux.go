//go:build amd64 || arm64

package helper

import "syscall"

// The helper runs before main, so that a program can confine processes without any setup.
func init() {
	if isHelper() {
		syscall.Exit(help())
	}
}

// isHelper reports whether this process was started as the helper.
func isHelper() bool {
	fd, err := syscall.Open("/proc/self/cmdline", syscall.O_RDONLY|syscall.O_CLOEXEC, 0)
	if err != nil {
		return false
	}
	defer syscall.Close(fd)
	text := make([]byte, len(Name)+2)
	n, err := syscall.Read(fd, text)
	return err == nil && string(text[:n]) == Name+"\x00"
}

// The helper's descriptors: its control socket, and the pipe to which it writes the number of
// the signal that ended the process.
const controlFile, endFile = 3, 4

// help is the helper's main function. The helper restricts itself and becomes the process. A
// restricted thread of the program that started it would be in the same Landlock domain as the
// process, which could then read that program's memory and end it.
//
// In namespaces the helper is the first process. It starts the process instead, reaps all
// orphans, and ends when the process does, with its exit code or with 128 plus the number of
// its signal. The kernel then ends all other processes of the namespace.
func help() int {
	var o Order
	text, err := readAll(controlFile)
	if err != nil || !o.decode(text) {
		return answer(Failed, "read the order", err)
	}
	// The program may have inherited descriptors without close-on-exec.
	if err := call(sysCloseRange, controlFile, 1<<32-1, closeRangeCloexec); err != nil {
		return answer(Failed, "close descriptors", err)
	}
	if o.Namespaces {
		if err := prctl(syscall.PR_SET_PDEATHSIG, uintptr(syscall.SIGKILL)); err != nil {
			return answer(Failed, "end with the parent", err)
		}
		if doing, err := o.prepare(); err != nil {
			return answer(Unavailable, doing, err)
		}
	}
	if doing, err := o.restrict(); err != nil {
		return answer(Failed, doing, err)
	}
	if !o.Namespaces {
		return answer(NotStarted, "", syscall.Exec(o.Path, o.Args, o.Env))
	}
	pid, err := syscall.ForkExec(o.Path, o.Args, &syscall.ProcAttr{
		Dir: o.Dir, Env: o.Env, Files: []uintptr{0, 1, 2}, Sys: &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL},
	})
	if err != nil {
		return answer(NotStarted, "", err)
	}
	// Signals to the process group are for the process. The helper ignores them only after the
	// start, since the process would inherit that.
	for _, s := range []syscall.Signal{syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP} {
		if err := ignore(s); err != nil {
			return answer(Failed, "ignore a signal", err)
		}
	}
	answer(Started, "", nil)
	return await(pid)
}

// answer sends an answer, closes the control socket, and returns the exit code of a failure.
// doing names the step that failed.
func answer(a Answer, doing string, err error) int {
	text := string([]byte{byte(a)}) + doing
	if err != nil {
		if doing != "" {
			text += ": "
		}
		text += err.Error()
	}
	_, _ = syscall.Write(controlFile, []byte(text))
	_ = syscall.Close(controlFile)
	return 1
}

// readAll reads a descriptor to its end.
func readAll(fd int) (text []byte, err error) {
	buffer := make([]byte, 16<<10)
	for {
		n, err := syscall.Read(fd, buffer)
		switch {
		case err == syscall.EINTR:
		case err != nil || n == 0:
			return text, err
		default:
			text = append(text, buffer[:n]...)
		}
	}
}

// await reaps processes until pid ends, and returns the exit code for it.
func await(pid int) int {
	for {
		var status syscall.WaitStatus
		ended, err := syscall.Wait4(-1, &status, 0, nil)
		switch {
		case err == syscall.EINTR || err == nil && ended != pid:
		case err != nil:
			return 1
		case status.Signaled():
			_, _ = syscall.Write(endFile, []byte{byte(status.Signal())})
			return 128 + int(status.Signal())
		default:
			return status.ExitStatus()
		}
	}
}
