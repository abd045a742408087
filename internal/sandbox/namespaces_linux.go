//go:build amd64 || arm64

package sandbox

import (
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/switchyard-dev/switchyard/internal/confinement"
	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/sandbox/helper"
)

// helperTimeout is the time limit of the helper, in seconds.
const helperTimeout = 30

// proxyPort is the port of the proxy in the namespace, which otherwise has only the listeners
// for Forward.
const proxyPort = 3128

// startHelper starts the helper instead of the process, sends it the order, and waits until it
// has started the process. It returns the listeners in the helper's namespace, if any.
func (c *Confined) startHelper(cmd *exec.Cmd, o helper.Order, g group) ([]net.Listener, error) {
	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, confineError(err)
	}
	ours, theirs := os.NewFile(uintptr(pair[0]), "control"), os.NewFile(uintptr(pair[1]), "control")
	defer ours.Close()
	defer theirs.Close()
	// The helper takes a millisecond, unless a path is on a file system that does not answer.
	if err := unix.SetsockoptTimeval(pair[0], unix.SOL_SOCKET, unix.SO_RCVTIMEO, &unix.Timeval{Sec: helperTimeout}); err != nil {
		return nil, confineError(err)
	}
	cmd.Path, cmd.Args, cmd.Env, cmd.ExtraFiles = "/proc/self/exe", []string{helper.Name}, []string{}, []*os.File{theirs}
	if o.Namespaces {
		ended, end, err := os.Pipe()
		if err != nil {
			return nil, confineError(err)
		}
		defer end.Close()
		c.ended = ended
		c.release = append(c.release, func() { _ = ended.Close() })
		cmd.Dir, cmd.ExtraFiles = "", append(cmd.ExtraFiles, end)
		separate(cmd)
	}
	refused := []error{unix.EPERM, unix.ENOSPC, unix.EINVAL, unix.EACCES}
	switch err := cmd.Start(); {
	case o.Namespaces && slices.ContainsFunc(refused, func(e error) bool { return errors.Is(err, e) }):
		return nil, unavailable(confinement.Network, "namespaces are not allowed: %w", err)
	case err != nil:
		return nil, err
	}
	_ = theirs.Close()
	// The helper waits for its order, so nothing has been started yet.
	if err := g.enter(cmd.Process.Pid); err != nil {
		c.Notes = append(c.Notes, fmt.Sprintf("no limit holds, since the control group cannot be entered: %s", err))
	}
	listeners, err := sendOrder(ours, o)
	if err != nil {
		for _, l := range listeners {
			_ = l.Close()
		}
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		return nil, err
	}
	return listeners, nil
}

// confineError returns the error for a process that cannot be confined.
func confineError(err error) error {
	return errs.New(errs.ConfineFailed, "the process cannot be confined: %w", err)
}

func separate(cmd *exec.Cmd) {
	if cmd.SysProcAttr == nil {
		cmd.SysProcAttr = &syscall.SysProcAttr{}
	}
	cmd.SysProcAttr.Cloneflags = unix.CLONE_NEWNET | unix.CLONE_NEWPID | unix.CLONE_NEWNS | unix.CLONE_NEWIPC
	if !hasCapability(unix.CAP_SYS_ADMIN) {
		cmd.SysProcAttr.Cloneflags |= unix.CLONE_NEWUSER
		cmd.SysProcAttr.UidMappings = []syscall.SysProcIDMap{{ContainerID: os.Getuid(), HostID: os.Getuid(), Size: 1}}
		cmd.SysProcAttr.GidMappings = []syscall.SysProcIDMap{{ContainerID: os.Getgid(), HostID: os.Getgid(), Size: 1}}
		// The user keeps its number, so only ambient capabilities remain when the helper starts.
		// Ports of Forward below 1024 need the last one.
		cmd.SysProcAttr.AmbientCaps = []uintptr{unix.CAP_SYS_ADMIN, unix.CAP_NET_ADMIN, unix.CAP_NET_BIND_SERVICE}
	}
}

// sendOrder sends the helper its order, and returns the listeners in its namespace. They must
// be closed even after an error.
func sendOrder(control *os.File, o helper.Order) (listeners []net.Listener, err error) {
	if _, err := control.Write(o.Encode()); err != nil {
		return nil, confineError(err)
	}
	if err := unix.Shutdown(int(control.Fd()), unix.SHUT_WR); err != nil {
		return nil, confineError(err)
	}
	// In namespaces the first message has the listeners, and the second says that the process
	// runs. Without namespaces the end of the socket means that the process runs, since the
	// helper has become the process.
	buffer, oob := make([]byte, 1), make([]byte, unix.CmsgSpace(4*2*len(o.Listen)))
	n, oobn, _, _, err := unix.Recvmsg(int(control.Fd()), buffer, oob, unix.MSG_CMSG_CLOEXEC)
	for err == unix.EINTR { // A call with a timeout is not restarted after a signal.
		n, oobn, _, _, err = unix.Recvmsg(int(control.Fd()), buffer, oob, unix.MSG_CMSG_CLOEXEC)
	}
	if err != nil {
		return nil, confineError(err)
	}
	answer := buffer[:n]
	if oobn > 0 {
		answer = nil
		if listeners, err = parseListeners(oob[:oobn]); err != nil {
			return listeners, confineError(err)
		}
	}
	rest, err := io.ReadAll(control)
	if err != nil {
		return listeners, confineError(err)
	}
	if answer = append(answer, rest...); len(answer) == 0 {
		if !o.Namespaces {
			return nil, nil
		}
		answer = []byte{byte(helper.Failed)}
	}
	switch text := string(answer[1:]); helper.Answer(answer[0]) {
	case helper.Started:
		return listeners, nil
	case helper.Unavailable:
		return listeners, unavailable(confinement.Network, "%s", text)
	case helper.NotStarted:
		return listeners, fmt.Errorf("%s: %s", o.Path, text)
	default:
		return listeners, confineError(errors.New(text))
	}
}

func parseListeners(oob []byte) (listeners []net.Listener, err error) {
	messages, err := unix.ParseSocketControlMessage(oob)
	if err != nil || len(messages) != 1 {
		return nil, fmt.Errorf("read the listeners: %d messages, %w", len(messages), err)
	}
	descriptors, err := unix.ParseUnixRights(&messages[0])
	if err != nil {
		return nil, fmt.Errorf("read the listeners: %w", err)
	}
	for _, fd := range descriptors {
		f := os.NewFile(uintptr(fd), "listener")
		l, listenErr := net.FileListener(f)
		_ = f.Close()
		if listenErr != nil {
			err = errors.Join(err, listenErr)
			continue
		}
		listeners = append(listeners, l)
	}
	return listeners, err
}

// freePort returns a port for the proxy that is not in forward.
func freePort(forward []uint16) uint16 {
	port := uint16(proxyPort)
	for slices.Contains(forward, port) {
		port++
	}
	return port
}

func hasCapability(capability int) bool {
	header := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var data [2]unix.CapUserData
	return unix.Capget(&header, &data[0]) == nil && data[capability/32].Effective&(1<<(capability%32)) != 0
}

// kernelAtLeast reports whether the kernel has a version or a later one.
func kernelAtLeast(major, minor int) bool {
	var name unix.Utsname
	if unix.Uname(&name) != nil {
		return false
	}
	release := strings.SplitN(unix.ByteSliceToString(name.Release[:]), ".", 3)
	if len(release) < 2 {
		return false
	}
	ours := [2]int{}
	for i := range ours {
		ours[i], _ = strconv.Atoi(strings.TrimRight(release[i], "-+abcdefghijklmnopqrstuvwxyz"))
	}
	return ours[0] > major || ours[0] == major && ours[1] >= minor
}
