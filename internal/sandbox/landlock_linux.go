//go:build amd64 || arm64

package sandbox

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

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
	abiPorts    = 4
	abiIoctl    = 5
	abiScopes   = 6
	abiUnix     = 9
)

// rules are what a restricted thread and its children may do.
type rules struct {
	list, read, write []string
	// ports are those that it may connect to, if portsOnly is set.
	portsOnly bool
	ports     []uint16
	// fixedMetadata is Spec.FixedMetadata.
	fixedMetadata bool
}

// landlockVersion returns the version of Landlock's interface, 0 if there is none.
func landlockVersion() int {
	version, err := ll.LandlockGetABIVersion()
	if err != nil {
		return 0
	}
	return version
}

// restrictFiles restricts the current thread to the rules, permanently.
func restrictFiles(r rules) error {
	version := landlockVersion()
	attr := ll.RulesetAttr{HandledAccessFS: handledFiles(version)}
	if r.portsOnly {
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
	for _, path := range r.list {
		if err := allow(set, path, attr.HandledAccessFS&dirRead); err != nil {
			return err
		}
	}
	for _, path := range r.read {
		if err := allow(set, path, attr.HandledAccessFS&(fileRead|dirRead)); err != nil {
			return err
		}
	}
	for _, path := range r.write {
		if err := allow(set, path, attr.HandledAccessFS&(fileRead|dirRead|fileWrite|dirWrite)); err != nil {
			return err
		}
	}
	for _, path := range devices() {
		if err := allow(set, path, attr.HandledAccessFS&(ll.AccessFSReadFile|fileWrite)); err != nil {
			return err
		}
	}
	for _, port := range r.ports {
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

// systemFolders are readable by every program: they have programs, libraries and settings,
// and no user's data.
func systemFolders() []string {
	folders := []string{
		"/bin", "/sbin", "/usr", "/lib", "/lib32", "/lib64", "/libx32", "/opt", "/nix", "/snap", "/run/current-system", "/proc", "/sys", "/dev/fd",
	}
	// The settings of the resolver are often a link to a file elsewhere.
	if target, err := filepath.EvalSymlinks("/etc/resolv.conf"); err == nil {
		folders = append(folders, target)
	}
	if os.Geteuid() != 0 {
		return append(folders, "/etc")
	}
	for _, name := range rootSettings() {
		folders = append(folders, "/etc/"+name)
	}
	return folders
}

// rootSettings are the files in /etc that root's processes may read. Root could read the
// others too, such as passwords and private keys.
func rootSettings() []string {
	return []string{
		"alternatives", "bash.bashrc", "ca-certificates", "ca-certificates.conf", "crypto-policies", "debian_version", "environment", "fonts", "gai.conf",
		"gitconfig", "group", "host.conf", "hostname", "hosts", "java", "ld.so.cache", "ld.so.conf", "ld.so.conf.d", "locale.conf", "localtime",
		"machine-id", "magic", "mime.types", "nsswitch.conf", "os-release", "passwd", "perl", "pki/ca-trust", "pki/tls/certs", "profile", "profile.d",
		"protocols", "python3", "redhat-release", "resolv.conf", "services", "shells", "ssl/cert.pem", "ssl/certs", "ssl/openssl.cnf", "terminfo",
		"timezone",
	}
}
