//go:build amd64 || arm64

package helper

import (
	"slices"
	"strconv"
	"syscall"
	"unsafe"
)

// prepare sets up the namespaces, and sends the listeners. doing names the step that failed.
func (o *Order) prepare() (doing string, err error) {
	if doing, err := o.mount(); err != nil {
		return doing, err
	}
	if o.MaxPID != "" {
		if err := writeFile("/proc/sys/kernel/pid_max", o.MaxPID); err != nil {
			return "limit processes", err
		}
	}
	if err := upLoopback(); err != nil {
		return "set up the loopback interface", err
	}
	var descriptors []int
	for i, port := range o.Listen {
		fd, err := listen(syscall.AF_INET, &syscall.SockaddrInet4{Port: int(port), Addr: [4]byte{127, 0, 0, 1}})
		if err != nil {
			return "listen on a port", err
		}
		descriptors = append(descriptors, fd)
		if i == 0 {
			continue
		}
		switch fd, err = listen(syscall.AF_INET6, &syscall.SockaddrInet6{Port: int(port), Addr: [16]byte{15: 1}}); err {
		case nil:
			descriptors = append(descriptors, fd)
		case syscall.EAFNOSUPPORT, syscall.EADDRNOTAVAIL: // There is no IPv6.
		default:
			return "listen on a port", err
		}
	}
	if err := syscall.Sendmsg(controlFile, []byte{0}, syscall.UnixRights(descriptors...), nil, 0); err != nil {
		return "send the listeners", err
	}
	for _, fd := range descriptors {
		_ = syscall.Close(fd)
	}
	return "", nil
}

// mount makes everything read-only except Writable, and mounts a /proc of the new namespace.
// It prevents changes of metadata too, which Landlock does not see.
func (o *Order) mount() (doing string, err error) {
	if err := syscall.Mount("", "/", "", syscall.MS_REC|syscall.MS_PRIVATE, ""); err != nil {
		return "separate the mounts", err
	}
	var writable []string
	for _, path := range o.Writable {
		if below(path, writable) {
			continue
		}
		fd, err := openPath(path)
		if err != nil {
			return "open " + path, err
		}
		if fd < 0 { // Landlock does not allow it either, but does not restrict metadata.
			continue
		}
		// The name of the descriptor is of what was checked, also if the path leads elsewhere by now.
		opened := "/proc/self/fd/" + strconv.Itoa(fd)
		err = syscall.Mount(opened, opened, "", syscall.MS_BIND|syscall.MS_REC, "")
		_ = syscall.Close(fd)
		if err != nil {
			return "mount " + path, err
		}
		writable = append(writable, path)
	}
	if err := setReadOnly("/", true, atRecursive); err != nil {
		return "make the file system read-only", err
	}
	for _, path := range writable {
		// A file system that was read-only before stays so.
		if err := setReadOnly(path, false, 0); err != nil && err != syscall.EPERM {
			return "make writable " + path, err
		}
	}
	mounts := writable
	for _, path := range o.Protected {
		if syscall.Access(path, 0) == syscall.ENOENT {
			continue
		}
		// A directory above it could be renamed, and another put in its place. A mount cannot.
		for i := range path {
			if dir := path[:i]; i > 0 && path[i] == '/' && below(dir, writable) && !slices.Contains(mounts, dir) {
				if err := syscall.Mount(dir, dir, "", syscall.MS_BIND|syscall.MS_REC, ""); err != nil {
					return "mount " + dir, err
				}
				mounts = append(mounts, dir)
			}
		}
		if err := syscall.Mount(path, path, "", syscall.MS_BIND|syscall.MS_REC, ""); err != nil {
			return "mount " + path, err
		}
		if err := setReadOnly(path, true, atRecursive); err != nil {
			return "protect " + path, err
		}
		mounts = append(mounts, path)
	}
	return "mount /proc", syscall.Mount("proc", "/proc", "proc", syscall.MS_NOSUID|syscall.MS_NODEV|syscall.MS_NOEXEC, "")
}

func setReadOnly(path string, on bool, flags uintptr) error {
	attr := struct{ set, clear, propagation, userNamespace uint64 }{set: mountAttrReadOnly}
	if !on {
		attr.set, attr.clear = 0, mountAttrReadOnly
	}
	name, err := syscall.BytePtrFromString(path)
	if err != nil {
		return err
	}
	return call(sysMountSetattr, 0, uintptr(unsafe.Pointer(name)), flags, uintptr(unsafe.Pointer(&attr)), unsafe.Sizeof(attr))
}

func writeFile(path, text string) error {
	fd, err := syscall.Open(path, syscall.O_WRONLY|syscall.O_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer syscall.Close(fd)
	_, err = syscall.Write(fd, []byte(text))
	return err
}

// upLoopback switches the loopback interface on.
func upLoopback() error {
	fd, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_DGRAM|syscall.SOCK_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer syscall.Close(fd)
	request := struct {
		name  [syscall.IFNAMSIZ]byte
		flags uint16
		_     [22]byte
	}{name: [syscall.IFNAMSIZ]byte{'l', 'o'}, flags: syscall.IFF_UP}
	return call(syscall.SYS_IOCTL, uintptr(fd), syscall.SIOCSIFFLAGS, uintptr(unsafe.Pointer(&request)))
}

// listen returns a socket that listens at an address.
func listen(family int, address syscall.Sockaddr) (int, error) {
	fd, err := syscall.Socket(family, syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC, 0)
	if err != nil {
		return 0, err
	}
	if err := syscall.Bind(fd, address); err != nil {
		return 0, err
	}
	return fd, syscall.Listen(fd, syscall.SOMAXCONN)
}

// below reports whether a clean path is one of the directories or below one.
func below(path string, folders []string) bool {
	return slices.ContainsFunc(folders, func(f string) bool {
		return f == "/" || path == f || len(path) > len(f) && path[:len(f)] == f && path[len(f)] == '/'
	})
}
