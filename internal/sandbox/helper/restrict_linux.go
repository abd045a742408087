//go:build amd64 || arm64

package helper

import (
	"syscall"
	"unsafe"
)

// restrict permanently restricts the current thread, which is the main one during init, and
// everything that it starts. doing names the step that failed.
func (o *Order) restrict() (doing string, err error) {
	if err := o.dropCapabilities(); err != nil {
		return "drop capabilities", err
	}
	if err := prctl(prSetNoNewPrivs, 1); err != nil {
		return "set no_new_privs", err
	}
	if doing, err := o.restrictFiles(); err != nil {
		return doing, err
	}
	program := struct {
		length uint16
		filter *byte
	}{uint16(len(o.Filter) / 8), unsafe.SliceData(o.Filter)}
	if err := prctl(syscall.PR_SET_SECCOMP, seccompModeFilter, uintptr(unsafe.Pointer(&program))); err != nil {
		return "apply the filter of system calls", err
	}
	for _, l := range o.Limits {
		limit := syscall.Rlimit{Cur: l.Value, Max: l.Value}
		if err := call(syscall.SYS_PRLIMIT64, 0, uintptr(l.Resource), uintptr(unsafe.Pointer(&limit))); err != nil {
			return "limit the process", err
		}
	}
	return "", nil
}

func (o *Order) dropCapabilities() error {
	const last = 63
	for c := range uintptr(last + 1) {
		if o.Capabilities>>c&1 == 1 {
			continue
		}
		if held, err := value(syscall.SYS_PRCTL, syscall.PR_CAPBSET_READ, c); err != nil || held == 0 {
			continue // The kernel does not know it, or it is gone already.
		}
		if err := prctl(syscall.PR_CAPBSET_DROP, c); err != nil && err != syscall.EPERM {
			return err
		}
	}
	header := struct {
		version uint32
		pid     int32
	}{version: capabilityVersion3}
	var data [2]struct{ effective, permitted, inheritable uint32 }
	if err := call(syscall.SYS_CAPGET, uintptr(unsafe.Pointer(&header)), uintptr(unsafe.Pointer(&data))); err != nil {
		return err
	}
	for i := range data {
		allowed := uint32(o.Capabilities >> (32 * i))
		data[i].effective &= allowed
		data[i].permitted &= allowed
		data[i].inheritable = 0
	}
	return call(syscall.SYS_CAPSET, uintptr(unsafe.Pointer(&header)), uintptr(unsafe.Pointer(&data)))
}

func (o *Order) restrictFiles() (doing string, err error) {
	set, err := value(sysLandlockCreate, uintptr(unsafe.Pointer(unsafe.SliceData(o.Ruleset))), uintptr(len(o.Ruleset)))
	if err != nil {
		return "create a Landlock ruleset", err
	}
	defer syscall.Close(int(set))
	for _, r := range o.Files {
		if err := r.add(set); err != nil {
			return "allow " + r.Path, err
		}
	}
	for _, port := range o.Ports {
		rule := struct{ access, port uint64 }{o.PortAccess, port}
		if err := call(sysLandlockAdd, set, ruleNetPort, uintptr(unsafe.Pointer(&rule))); err != nil {
			return "allow a port", err
		}
	}
	return "apply a Landlock ruleset", call(sysLandlockRestrict, set)
}

// add adds a rule, unless the path is to be ignored.
func (r *FileRule) add(set uintptr) error {
	fd, err := openPath(r.Path)
	if err != nil || fd < 0 {
		return err
	}
	defer syscall.Close(fd)
	var stat syscall.Stat_t
	if err := syscall.Fstat(fd, &stat); err != nil {
		return err
	}
	access := r.File
	if stat.Mode&syscall.S_IFMT == syscall.S_IFDIR {
		access = r.Folder
	}
	if access == 0 {
		return nil
	}
	// The kernel's structure is packed: 12 bytes, of which the last are the descriptor.
	rule := [2]uint64{access, uint64(uint32(fd))}
	return call(sysLandlockAdd, set, rulePathBeneath, uintptr(unsafe.Pointer(&rule)))
}

// openPath opens a path only to name it. It returns -1 for a path that is ignored. That is one
// that does not exist: nothing there can be reached, even if it is created later. So is a path
// with a symbolic link: a repository may bring the link, or another process may have put it
// there since the path was chosen. The target needs a separate rule.
func openPath(path string) (int, error) {
	name, err := syscall.BytePtrFromString(path)
	if err != nil {
		return 0, err
	}
	how := struct{ flags, mode, resolve uint64 }{flags: oPath | syscall.O_CLOEXEC, resolve: resolveNoSymlinks}
	fd, err := value(sysOpenat2, atCurrentDir, uintptr(unsafe.Pointer(name)), uintptr(unsafe.Pointer(&how)), unsafe.Sizeof(how))
	switch err {
	case syscall.ENOENT, syscall.ENOTDIR, syscall.ELOOP, syscall.EACCES:
		return -1, nil
	}
	return int(fd), err
}
