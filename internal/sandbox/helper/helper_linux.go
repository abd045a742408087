//go:build amd64 || arm64

package helper

import (
	"fmt"
	"io"
	"math"
	"os"
	"os/signal"
	"strconv"
	"strings"
	"syscall"

	"github.com/go-json-experiment/json"
	"golang.org/x/sys/unix"
)

// The helper runs before main, so that a program need not do anything to be able to
// confine.
func init() {
	if len(os.Args) == 1 && os.Args[0] == Name {
		os.Exit(help(os.NewFile(controlFile, "control")))
	}
}

// The helper's descriptors: its control socket, and where it writes the number of the
// signal that ended the process.
const controlFile, endFile = 3, 4

// help is the helper. It restricts itself and becomes the process. So no thread of the
// program that started it is confined together with the process, which could read its
// memory and end it.
//
// In namespaces, whose first process it is, it starts the process instead, takes the exit
// status of all that are orphaned, and ends when the process does, with its exit code or
// with 128 and the number of its signal. The kernel then ends all others in the namespace.
func help(control *os.File) int {
	answer := func(r Reply) int {
		text, _ := json.Marshal(r)
		_, _ = control.Write(text)
		_ = control.Close()
		return 1
	}
	var o Order
	text, err := io.ReadAll(control)
	if err == nil {
		err = json.Unmarshal(text, &o)
	}
	if err != nil {
		return answer(Reply{Error: "read the order: " + err.Error()})
	}
	// The program may have inherited descriptors that are open for all that it starts.
	if err := unix.CloseRange(controlFile, math.MaxUint32, unix.CLOSE_RANGE_CLOEXEC); err != nil {
		return answer(Reply{Error: "close descriptors: " + err.Error()})
	}
	if o.Namespaces {
		// Signals to the process group are for the process, which would inherit that they are
		// ignored, but not that they are caught. That our parent ended is for the helper.
		signal.Notify(make(chan os.Signal, 1), unix.SIGTERM, unix.SIGINT, unix.SIGHUP)
		if err := unix.Prctl(unix.PR_SET_PDEATHSIG, uintptr(unix.SIGKILL), 0, 0, 0); err != nil {
			return answer(Reply{Error: "end with the parent: " + err.Error()})
		}
		if err := o.prepare(control); err != nil {
			return answer(Reply{Unavailable: true, Error: err.Error()})
		}
	}
	if err := o.restrict(); err != nil {
		return answer(Reply{Error: err.Error()})
	}
	if !o.Namespaces {
		return answer(Reply{NotStarted: true, Error: syscall.Exec(o.Path, o.Args, o.Env).Error()})
	}
	pid, err := o.start()
	if err != nil {
		return answer(Reply{NotStarted: true, Error: err.Error()})
	}
	answer(Reply{})
	return await(pid)
}

// prepare sets up the namespaces, and sends the listeners.
func (o *Order) prepare(control *os.File) error {
	if err := o.mount(); err != nil {
		return err
	}
	if o.Processes > 0 {
		if err := os.WriteFile("/proc/sys/kernel/pid_max", []byte(strconv.FormatInt(max(o.Processes, minPIDs), 10)), 0); err != nil {
			return fmt.Errorf("limit processes: %w", err)
		}
	}
	if err := upLoopback(); err != nil {
		return fmt.Errorf("set up the loopback interface: %w", err)
	}
	var descriptors []int
	for _, port := range append([]uint16{o.ProxyPort}, o.Forward...) {
		fd, err := listen(port)
		if err != nil {
			return fmt.Errorf("listen on port %d: %w", port, err)
		}
		descriptors = append(descriptors, fd)
	}
	if err := unix.Sendmsg(controlFile, []byte{0}, unix.UnixRights(descriptors...), nil, 0); err != nil {
		return fmt.Errorf("send the listeners: %w", err)
	}
	for _, fd := range descriptors {
		_ = unix.Close(fd)
	}
	return nil
}

// minPIDs is the least limit that the kernel takes.
const minPIDs = 301

// start starts the process.
func (o *Order) start() (int, error) {
	return syscall.ForkExec(o.Path, o.Args, &syscall.ProcAttr{
		Dir: o.Dir, Env: o.Env, Files: []uintptr{0, 1, 2}, Sys: &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL},
	})
}

// restrict restricts and limits the current thread, which is the main one during init, and
// what it starts.
func (o *Order) restrict() error {
	if err := dropCapabilities(); err != nil {
		return err
	}
	if err := o.restrictFiles(); err != nil {
		return err
	}
	if err := o.filter(); err != nil {
		return err
	}
	for _, l := range o.Limits {
		if err := unix.Setrlimit(l.Resource, &unix.Rlimit{Cur: l.Value, Max: l.Value}); err != nil {
			return fmt.Errorf("limit the process: %w", err)
		}
	}
	return nil
}

// await takes the exit status of all processes until that of pid comes.
func await(pid int) int {
	for {
		var status unix.WaitStatus
		ended, err := unix.Wait4(-1, &status, 0, nil)
		switch {
		case err == unix.EINTR || err == nil && ended != pid:
		case err != nil:
			return 1
		case status.Signaled():
			_, _ = unix.Write(endFile, []byte{byte(status.Signal())})
			return 128 + int(status.Signal())
		default:
			return status.ExitStatus()
		}
	}
}

// mount makes all that is not writable read-only, also for changes of metadata, which
// Landlock does not see, and mounts a /proc of the new namespace.
func (o *Order) mount() error {
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
		return fmt.Errorf("separate the mounts: %w", err)
	}
	var writable []string
	for _, path := range append([]string{o.Private}, o.Write...) {
		if path == "" || below(path, writable) {
			continue
		}
		switch err := unix.Mount(path, path, "", unix.MS_BIND|unix.MS_REC, ""); err {
		case nil:
			writable = append(writable, path)
		case unix.ENOENT, unix.ENOTDIR:
		default:
			return fmt.Errorf("mount %s: %w", path, err)
		}
	}
	if err := setReadOnly("/", true, unix.AT_RECURSIVE); err != nil {
		return fmt.Errorf("make the file system read-only: %w", err)
	}
	for _, path := range writable {
		// A file system that was read-only before stays so.
		if err := setReadOnly(path, false, 0); err != nil && err != unix.EPERM {
			return fmt.Errorf("make %s writable: %w", path, err)
		}
	}
	for _, path := range o.Protected {
		if err := unix.Mount(path, path, "", unix.MS_BIND|unix.MS_REC, ""); err == unix.ENOENT {
			continue
		} else if err != nil {
			return fmt.Errorf("mount %s: %w", path, err)
		}
		if err := setReadOnly(path, true, unix.AT_RECURSIVE); err != nil {
			return fmt.Errorf("protect %s: %w", path, err)
		}
	}
	if err := unix.Mount("proc", "/proc", "proc", unix.MS_NOSUID|unix.MS_NODEV|unix.MS_NOEXEC, ""); err != nil {
		return fmt.Errorf("mount /proc: %w", err)
	}
	return nil
}

func setReadOnly(path string, on bool, flags uint) error {
	attr := unix.MountAttr{Attr_set: unix.MOUNT_ATTR_RDONLY}
	if !on {
		attr = unix.MountAttr{Attr_clr: unix.MOUNT_ATTR_RDONLY}
	}
	return unix.MountSetattr(unix.AT_FDCWD, path, flags, &attr)
}

// upLoopback switches the loopback interface on.
func upLoopback() error {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	request, err := unix.NewIfreq("lo")
	if err != nil {
		return err
	}
	request.SetUint16(unix.IFF_UP)
	return unix.IoctlIfreq(fd, unix.SIOCSIFFLAGS, request)
}

// listen returns a socket that listens on a port of the loopback interface.
func listen(port uint16) (int, error) {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return 0, err
	}
	if err := unix.Bind(fd, &unix.SockaddrInet4{Port: int(port), Addr: [4]byte{127, 0, 0, 1}}); err != nil {
		return 0, err
	}
	return fd, unix.Listen(fd, unix.SOMAXCONN)
}

// below reports whether a clean path is one of the folders or lies below one.
func below(path string, folders []string) bool {
	for _, f := range folders {
		if rest, ok := strings.CutPrefix(path, f); ok && (rest == "" || rest[0] == '/' || f == "/") {
			return true
		}
	}
	return false
}
