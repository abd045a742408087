//go:build amd64 || arm64

package sandbox

import (
	"encoding/binary"

	ll "github.com/landlock-lsm/go-landlock/landlock/syscall"

	"github.com/switchyard-dev/switchyard/internal/sandbox/helper"
)

// The Landlock rights that we grant. Creating devices, and ioctl calls on devices, are never
// allowed.
const (
	fileRead  = ll.AccessFSExecute | ll.AccessFSReadFile
	fileWrite = ll.AccessFSWriteFile | ll.AccessFSTruncate
	dirRead   = ll.AccessFSReadDir
	dirWrite  = ll.AccessFSRemoveDir | ll.AccessFSRemoveFile | ll.AccessFSMakeDir | ll.AccessFSMakeReg |
		ll.AccessFSMakeSock | ll.AccessFSMakeFifo | ll.AccessFSMakeSym | ll.AccessFSRefer
)

// The versions of Landlock's interface, by the features that they added.
const (
	abiRefer    = 2
	abiTruncate = 3
	abiPorts    = 4
	abiIoctl    = 5
	abiScopes   = 6
	abiUnix     = 9
)

// landlockVersion returns the version of Landlock's interface, or 0 without Landlock.
func landlockVersion() int {
	version, err := ll.LandlockGetABIVersion()
	if err != nil {
		return 0
	}
	return version
}

// addRuleset adds the rules for files and ports to an order. Rules for ports have an effect
// only if portsOnly is set.
func addRuleset(o *helper.Order, s Spec, portsOnly bool, ports []uint16) {
	version := landlockVersion()
	attr := ll.RulesetAttr{HandledAccessFS: handledFiles(version)}
	if portsOnly {
		attr.HandledAccessNet = ll.AccessNetConnectTCP
	}
	if version >= abiScopes {
		attr.Scoped = ll.ScopeAbstractUnixSocket | ll.ScopeSignal
	}
	for _, field := range []uint64{attr.HandledAccessFS, attr.HandledAccessNet, attr.Scoped} {
		o.Ruleset = binary.NativeEndian.AppendUint64(o.Ruleset, field)
	}
	allow := func(paths []string, access uint64) {
		access &= attr.HandledAccessFS
		for _, path := range paths {
			o.Files = append(o.Files, helper.FileRule{Path: path, Folder: access, File: access & (fileRead | fileWrite)})
		}
	}
	allow(s.List, dirRead)
	allow(append(systemFolders(), s.Read...), fileRead|dirRead)
	allow(s.Write, fileRead|dirRead|fileWrite|dirWrite)
	allow(devices(), ll.AccessFSReadFile|fileWrite)
	o.PortAccess = ll.AccessNetConnectTCP
	for _, port := range ports {
		o.Ports = append(o.Ports, uint64(port))
	}
}

// handledFiles are the rights that a version of Landlock can restrict. All others stay
// allowed.
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

// devices are the devices that every program may use.
func devices() []string {
	return []string{"/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom", "/dev/tty"}
}
