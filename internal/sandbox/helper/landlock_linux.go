//go:build amd64 || arm64

package helper

import (
	"errors"
	"fmt"

	ll "github.com/landlock-lsm/go-landlock/landlock/syscall"
	"golang.org/x/sys/unix"
)

// The rights of Landlock that we use. Creating devices and their ioctl calls are never
// allowed.
const (
	fileRead  = ll.AccessFSExecute | ll.AccessFSReadFile
	fileWrite = ll.AccessFSWriteFile | ll.AccessFSTruncate
	dirRead   = ll.AccessFSReadDir
	dirWrite  = ll.AccessFSRemoveDir | ll.AccessFSRemoveFile | ll.AccessFSMakeDir | ll.AccessFSMakeReg |
		ll.AccessFSMakeSock | ll.AccessFSMakeFifo | ll.AccessFSMakeSym | ll.AccessFSRefer
)

// The versions of Landlock's interface, by what they brought.
const (
	abiRefer    = 2
	abiTruncate = 3
	ABIPorts    = 4
	abiIoctl    = 5
	abiScopes   = 6
	abiUnix     = 9
)

// LandlockVersion returns the version of Landlock's interface, 0 if there is none.
func LandlockVersion() int {
	version, err := ll.LandlockGetABIVersion()
	if err != nil {
		return 0
	}
	return version
}

// restrictFiles restricts the current thread to the files and ports of the order,
// permanently.
func (o *Order) restrictFiles() error {
	version := LandlockVersion()
	attr := ll.RulesetAttr{HandledAccessFS: handledFiles(version)}
	if o.PortsOnly {
		attr.HandledAccessNet = ll.AccessNetConnectTCP
	}
	if version >= abiScopes {
		attr.Scoped = ll.ScopeAbstractUnixSocket | ll.ScopeSignal
	}
	set, err := ll.LandlockCreateRuleset(&attr, 0)
	if err != nil {
		return fmt.Errorf("create a Landlock ruleset: %w", err)
	}
	defer unix.Close(set)
	for _, path := range o.List {
		if err := allow(set, path, attr.HandledAccessFS&dirRead); err != nil {
			return err
		}
	}
	for _, path := range o.Read {
		if err := allow(set, path, attr.HandledAccessFS&(fileRead|dirRead)); err != nil {
			return err
		}
	}
	for _, path := range o.Write {
		if err := allow(set, path, attr.HandledAccessFS&(fileRead|dirRead|fileWrite|dirWrite)); err != nil {
			return err
		}
	}
	for _, path := range devices() {
		if err := allow(set, path, attr.HandledAccessFS&(ll.AccessFSReadFile|fileWrite)); err != nil {
			return err
		}
	}
	for _, port := range o.Ports {
		if err := ll.LandlockAddNetPortRule(set, &ll.NetPortAttr{AllowedAccess: ll.AccessNetConnectTCP, Port: uint64(port)}, 0); err != nil {
			return fmt.Errorf("allow port %d: %w", port, err)
		}
	}
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("set no_new_privs: %w", err)
	}
	if err := ll.LandlockRestrictSelf(set, 0); err != nil {
		return fmt.Errorf("apply a Landlock ruleset: %w", err)
	}
	return nil
}

// handledFiles are the rights that a version of Landlock knows. What it does not know
// stays allowed.
func handledFiles(version int) uint64 {
	handled := uint64(fileRead | dirRead | ll.AccessFSWriteFile | dirWrite&^ll.AccessFSRefer | ll.AccessFSMakeChar | ll.AccessFSMakeBlock)
	for since, right := range map[int]uint64{
		abiRefer: ll.AccessFSRefer, abiTruncate: ll.AccessFSTruncate, abiIoctl: ll.AccessFSIoctlDev, abiUnix: ll.AccessFSResolveUnix,
	} {
		if version >= since {
			handled |= right
		}
	}
	return handled
}

// allow adds a rule for a file or a folder with all below it. A path that does not exist
// is ignored: nothing there can be reached, also if it is created later. So is a symbolic
// link, which a repository may bring: its target needs a rule of its own.
func allow(set int, path string, access uint64) error {
	fd, err := unix.Open(path, unix.O_PATH|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	switch {
	case errors.Is(err, unix.ENOENT), errors.Is(err, unix.ENOTDIR), errors.Is(err, unix.EACCES):
		return nil
	case err != nil:
		return fmt.Errorf("open %s: %w", path, err)
	}
	defer unix.Close(fd)
	var stat unix.Stat_t
	if err := unix.Fstat(fd, &stat); err != nil {
		return fmt.Errorf("look at %s: %w", path, err)
	}
	switch stat.Mode & unix.S_IFMT {
	case unix.S_IFLNK:
		return nil
	case unix.S_IFDIR:
	default:
		access &= fileRead | fileWrite
	}
	if access == 0 {
		return nil
	}
	if err := ll.LandlockAddPathBeneathRule(set, &ll.PathBeneathAttr{AllowedAccess: access, ParentFd: fd}, 0); err != nil {
		return fmt.Errorf("allow %s: %w", path, err)
	}
	return nil
}

// devices are those that every program may use.
func devices() []string {
	return []string{"/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom", "/dev/tty"}
}
