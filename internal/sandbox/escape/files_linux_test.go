package escape

import (
	"bytes"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/switchyard-dev/switchyard/internal/confinement"
)

// openClose opens a file and does nothing with it.
func openClose(path string, flags int) error {
	fd, err := unix.Open(path, flags|unix.O_CLOEXEC, 0o600)
	if err != nil {
		return err
	}
	return unix.Close(fd)
}

// write writes to a file that exists.
func write(path string) error { return writeFlags(path, os.O_WRONLY) }

func writeFlags(path string, flags int) error {
	f, err := os.OpenFile(path, flags, 0o600)
	if err != nil {
		return err
	}
	defer f.Close()
	_, err = f.WriteString("changed")
	return err
}

func create(path string) error { return writeFlags(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL) }

// read reads a file, and says if it is not the host's secret.
func read(path string) error {
	text, err := os.ReadFile(path)
	return isSecret(text, err)
}

func isSecret(text []byte, err error) error {
	if err == nil && !bytes.Contains(text, []byte(secret)) {
		return fmt.Errorf("read %q", text)
	}
	return err
}

// withFile opens a file for reading, and passes its descriptor.
func withFile(path string, do func(fd int) error) error {
	fd, err := unix.Open(path, unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	return do(fd)
}

// call calls the kernel without a wrapper, for calls that the library lacks.
func call(number int, args ...uintptr) (int, error) {
	var a [6]uintptr
	copy(a[:], args)
	r, _, errno := unix.Syscall6(uintptr(number), a[0], a[1], a[2], a[3], a[4], a[5])
	if errno != 0 {
		return 0, errno
	}
	return int(r), nil
}

// callError is call for calls whose result is only an error.
func callError(number int, args ...uintptr) error {
	_, err := call(number, args...)
	return err
}

// arguments has what pointer returned, so that it neither moves nor goes away.
var arguments []any

// pointer returns an address for call.
func pointer[T any](v *T) uintptr {
	arguments = append(arguments, v)
	return uintptr(unsafe.Pointer(v))
}

// text returns the address of a text for call.
func text(s string) uintptr { return pointer(&append([]byte(s), 0)[0]) }

// here is the directory in which relative paths begin.
const here = ^uintptr(-unix.AT_FDCWD - 1)

func treeGroup() group {
	writable := always(readers(refused, possible))
	// The tree is a mount of its own at files+network.
	across := from(readers(refused, possible), readers(refused, possible), everyone(refused))
	return group{"Changing files of the tree", []attempt{
		{does: "write to a file", want: writable, try: func(w *world) error { return write(w.tree("file")) }},
		{does: "append to a file", want: writable, try: func(w *world) error { return writeFlags(w.tree("file"), os.O_WRONLY|os.O_APPEND) }},
		{does: "open a file for reading with `O_TRUNC`", want: writable, try: func(w *world) error { return openClose(w.tree("file"), unix.O_RDONLY|unix.O_TRUNC) }},
		{does: "open a file neither for reading nor for writing with `O_TRUNC`", want: writable, try: func(w *world) error { return openClose(w.tree("file"), unix.O_ACCMODE|unix.O_TRUNC) }},
		{does: "truncate a file", want: writable, try: func(w *world) error { return unix.Truncate(w.tree("file"), 0) }},
		{does: "create a file", want: writable, try: func(w *world) error { return create(w.tree("new")) }},
		{does: "create a file without a name, and link it", want: writable, try: func(w *world) error { return linkUnnamed(w.tree(), w.tree("new")) }},
		{does: "create a file without a name elsewhere, and link it into the tree", want: across, try: func(w *world) error { return linkUnnamed(w.private(), w.tree("new")) }},
		{does: "remove a file", want: writable, try: func(w *world) error { return unix.Unlink(w.tree("file")) }},
		{does: "create a directory", want: writable, try: func(w *world) error { return unix.Mkdir(w.tree("new"), 0o700) }},
		{does: "remove a directory", want: writable, try: func(w *world) error { return unix.Rmdir(w.tree("empty")) }},
		{does: "create a symbolic link", want: writable, try: func(w *world) error { return unix.Symlink("file", w.tree("new")) }},
		{does: "create a hard link", want: writable, try: func(w *world) error { return unix.Link(w.tree("file"), w.tree("new")) }},
		{does: "rename a file over another", want: writable, try: func(w *world) error { return unix.Rename(w.tree("file"), w.tree("second")) }},
		{does: "exchange two files", want: writable, try: func(w *world) error {
			return unix.Renameat2(unix.AT_FDCWD, w.tree("file"), unix.AT_FDCWD, w.tree("second"), unix.RENAME_EXCHANGE)
		}},
		{does: "rename a file into the tree", want: across, try: func(w *world) error { return unix.Rename(w.private("file"), w.tree("new")) }},
		{does: "rename a file out of the tree", want: across, try: func(w *world) error { return unix.Rename(w.tree("file"), w.private("new")) }},
		{does: "write through a hard link made elsewhere", want: across, try: func(w *world) error {
			if err := unix.Link(w.tree("file"), w.private("new")); err != nil {
				return err
			}
			return write(w.private("new"))
		}},
		{does: "write through a symbolic link made elsewhere", want: writable, try: func(w *world) error {
			if err := unix.Symlink(w.tree("file"), w.private("new")); err != nil {
				return err
			}
			return write(w.private("new"))
		}},
		{does: "write through a path with `..`", want: writable, try: func(w *world) error {
			return write(w.private() + "/../../../" + filepath.Base(w.Tree) + "/" + w.attempt + "/file")
		}},
		{does: "write through `/proc/self/cwd`", want: writable, try: func(w *world) error { return write("/proc/self/cwd/" + w.attempt + "/file") }},
		{does: "write through `/proc/self/root`", want: writable, try: func(w *world) error { return write("/proc/self/root" + w.tree("file")) }},
		{does: "open a descriptor for reading again for writing", want: writable, try: func(w *world) error {
			return withFile(w.tree("file"), func(fd int) error { return write(fmt.Sprintf("/proc/self/fd/%d", fd)) })
		}},
		{does: "open an `O_PATH` descriptor again for writing", want: writable, try: func(w *world) error {
			fd, err := unix.Open(w.tree("file"), unix.O_PATH|unix.O_CLOEXEC, 0)
			if err != nil {
				return err
			}
			return write(fmt.Sprintf("/proc/self/fd/%d", fd))
		}},
		{does: "write through a shared mapping", want: writable, try: func(w *world) error {
			return withWritable(w.tree("file"), func(fd int) error {
				text, err := unix.Mmap(fd, 0, 4, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
				if err != nil {
					return err
				}
				copy(text, "new ")
				return unix.Msync(text, unix.MS_SYNC)
			})
		}},
		{does: "punch a hole by `fallocate`", want: writable, try: func(w *world) error {
			return withWritable(w.tree("file"), func(fd int) error {
				return unix.Fallocate(fd, unix.FALLOC_FL_PUNCH_HOLE|unix.FALLOC_FL_KEEP_SIZE, 0, 4)
			})
		}},
		{does: "overwrite a file by `copy_file_range`", want: writable, try: func(w *world) error {
			return withFile(w.private("file"), func(from int) error {
				return withWritable(w.tree("file"), func(to int) error {
					_, err := unix.CopyFileRange(from, nil, to, nil, 4, 0)
					return err
				})
			})
		}},
		{does: "write from a shell", want: writable, try: func(w *world) error { return shell("echo changed > " + w.tree("file")) }},
		{does: "write after adding a Landlock ruleset that allows all", want: writable, try: func(w *world) error {
			attr := unix.LandlockRulesetAttr{Handled_access_fs: unix.LANDLOCK_ACCESS_FS_MAKE_SOCK}
			fd, err := call(unix.SYS_LANDLOCK_CREATE_RULESET, pointer(&attr), unsafe.Sizeof(attr.Handled_access_fs))
			if err != nil {
				return err
			}
			if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
				return err
			}
			if err := callError(unix.SYS_LANDLOCK_RESTRICT_SELF, uintptr(fd)); err != nil {
				return err
			}
			return write(w.tree("file"))
		}},
		{does: "create a FIFO", want: writable, try: func(w *world) error { return unix.Mkfifo(w.tree("new"), 0o600) }},
		{does: "create a socket", want: always(everyone(refused)), try: func(w *world) error {
			l, err := net.Listen("unix", filepath.Join(w.Tree, w.attempt, "s"))
			if err != nil {
				return err
			}
			return l.Close()
		}},
		{does: "create a character device", root: true, want: always(everyone(refused)), try: func(w *world) error {
			return unix.Mknod(w.tree("new"), unix.S_IFCHR|0o600, int(unix.Mkdev(1, 3)))
		}},
		{does: "create a block device", root: true, want: always(everyone(refused)), try: func(w *world) error {
			return unix.Mknod(w.tree("new"), unix.S_IFBLK|0o600, int(unix.Mkdev(7, 255)))
		}},
	}}
}

func withWritable(path string, do func(fd int) error) error {
	fd, err := unix.Open(path, unix.O_RDWR|unix.O_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	return do(fd)
}

func linkUnnamed(dir, path string) error {
	fd, err := unix.Open(dir, unix.O_TMPFILE|unix.O_WRONLY|unix.O_CLOEXEC, 0o600)
	if err != nil {
		return err
	}
	return unix.Linkat(unix.AT_FDCWD, fmt.Sprintf("/proc/self/fd/%d", fd), unix.AT_FDCWD, path, unix.AT_SYMLINK_FOLLOW)
}

// shell runs a command of the shell. The shell says only in words why it failed.
func shell(command string) error {
	out, err := exec.Command("/bin/sh", "-c", command).CombinedOutput()
	for _, e := range []error{unix.EACCES, unix.EPERM, unix.EROFS} {
		if bytes.Contains(bytes.ToLower(out), []byte(e.Error())) {
			return e
		}
	}
	if err != nil {
		return fmt.Errorf("%w: %s", err, out)
	}
	return nil
}

// changes says whether a call changed what describe returns.
func changes(path string, describe func(*unix.Stat_t) any, call func() error) error {
	var before, after unix.Stat_t
	if err := unix.Lstat(path, &before); err != nil {
		return err
	}
	if err := call(); err != nil {
		return err
	}
	if err := unix.Lstat(path, &after); err != nil {
		return err
	}
	if describe(&before) == describe(&after) {
		return errNoEffect
	}
	return nil
}

func mode(st *unix.Stat_t) any     { return st.Mode }
func owner(st *unix.Stat_t) any    { return st.Uid }
func modified(st *unix.Stat_t) any { return st.Mtim.Nano() }

// attribute says whether a call changed an extended attribute of the file.
func attribute(path, name string, call func() error) error {
	value := func() string {
		b := make([]byte, 16)
		n, err := unix.Lgetxattr(path, name, b)
		if err != nil {
			return err.Error()
		}
		return string(b[:n])
	}
	before := value()
	if err := call(); err != nil {
		return err
	}
	if value() == before {
		return errNoEffect
	}
	return nil
}

// flags says whether a call changed the flags of the file, as lsattr shows them.
func flags(path string, call func() error) error {
	value := func() (n int, err error) {
		err = withFile(path, func(fd int) error {
			n, err = unix.IoctlGetInt(fd, unix.FS_IOC_GETFLAGS)
			return err
		})
		return n, err
	}
	before, err := value()
	if err != nil {
		return unavailableError(fmt.Sprintf("the file system has no flags: %v", err))
	}
	if err := call(); err != nil {
		return err
	}
	if after, err := value(); err != nil || before == after {
		return errNoEffect
	}
	return nil
}

// noDump is a flag of a file, which backup programs read.
const noDump = 0x40

// otherUser owns nothing that the agent has.
const otherUser = 65534

func metadataGroup() group {
	editable := always(readers(noEffect, possible))
	unmapped := []error{unix.EINVAL} // A user namespace does not have the other user.
	epoch := []unix.Timespec{{Sec: 1}, {Sec: 1}}
	return group{"Changing the metadata of files of the tree", []attempt{
		{does: "`chmod`", want: editable, try: func(w *world) error {
			return changes(w.tree("file"), mode, func() error { return unix.Chmod(w.tree("file"), 0o777) })
		}},
		{does: "`fchmod`", want: editable, try: func(w *world) error {
			return withFile(w.tree("file"), func(fd int) error {
				return changes(w.tree("file"), mode, func() error { return unix.Fchmod(fd, 0o777) })
			})
		}},
		{does: "`fchmodat2`", want: editable, try: func(w *world) error {
			return changes(w.tree("file"), mode, func() error { return unix.Fchmodat(unix.AT_FDCWD, w.tree("file"), 0o777, unix.AT_SYMLINK_NOFOLLOW) })
		}},
		{does: "`chown` to another user, as root", root: true, want: editable, refusals: unmapped, try: func(w *world) error {
			return changes(w.tree("file"), owner, func() error { return unix.Chown(w.tree("file"), otherUser, -1) })
		}},
		{does: "`fchown` to another user, as root", root: true, want: editable, refusals: unmapped, try: func(w *world) error {
			return withFile(w.tree("file"), func(fd int) error {
				return changes(w.tree("file"), owner, func() error { return unix.Fchown(fd, otherUser, -1) })
			})
		}},
		{does: "`lchown` to another user, as root", root: true, want: editable, refusals: unmapped, try: func(w *world) error {
			return changes(w.tree("file"), owner, func() error { return unix.Lchown(w.tree("file"), otherUser, -1) })
		}},
		{does: "`setxattr`", want: editable, try: func(w *world) error {
			return attribute(w.tree("file"), "user.old", func() error { return unix.Setxattr(w.tree("file"), "user.old", []byte("2"), 0) })
		}},
		{does: "`fsetxattr`", want: editable, try: func(w *world) error {
			return withFile(w.tree("file"), func(fd int) error {
				return attribute(w.tree("file"), "user.old", func() error { return unix.Fsetxattr(fd, "user.old", []byte("2"), 0) })
			})
		}},
		{does: "`setxattrat`", want: editable, try: func(w *world) error {
			return attribute(w.tree("file"), "user.old", func() error {
				args := struct {
					value       uintptr
					size, flags uint32
				}{text("2"), 1, 0}
				return callError(unix.SYS_SETXATTRAT, here, text(w.tree("file")), 0, text("user.old"), pointer(&args), unsafe.Sizeof(args))
			})
		}},
		{does: "`removexattr`", want: editable, try: func(w *world) error {
			return attribute(w.tree("file"), "user.old", func() error { return unix.Removexattr(w.tree("file"), "user.old") })
		}},
		{does: "`removexattrat`", want: editable, try: func(w *world) error {
			return attribute(w.tree("file"), "user.old", func() error {
				return callError(unix.SYS_REMOVEXATTRAT, here, text(w.tree("file")), 0, text("user.old"))
			})
		}},
		{does: "`utimensat`", want: editable, try: func(w *world) error {
			return changes(w.tree("file"), modified, func() error { return unix.UtimesNano(w.tree("file"), epoch) })
		}},
		{does: "`utimensat` of a descriptor", want: editable, try: func(w *world) error {
			return withFile(w.tree("file"), func(fd int) error {
				return changes(w.tree("file"), modified, func() error {
					return callError(unix.SYS_UTIMENSAT, uintptr(fd), 0, pointer(&[2]unix.Timespec{{Sec: 1}, {Sec: 1}}), 0)
				})
			})
		}},
		{does: "set a flag by `FS_IOC_SETFLAGS`", want: editable, try: func(w *world) error {
			return flags(w.tree("file"), func() error {
				return withFile(w.tree("file"), func(fd int) error {
					n, err := unix.IoctlGetInt(fd, unix.FS_IOC_GETFLAGS)
					if err != nil {
						return err
					}
					return unix.IoctlSetPointerInt(fd, unix.FS_IOC_SETFLAGS, n|noDump)
				})
			})
		}},
		{does: "set a flag by `file_setattr`", want: editable, try: func(w *world) error {
			return flags(w.tree("file"), func() error {
				args := struct {
					xflags                               uint64
					extent, extents, project, copyExtent uint32
				}{xflags: 0x80} // FS_XFLAG_NODUMP
				return callError(unix.SYS_FILE_SETATTR, here, text(w.tree("file")), pointer(&args), unsafe.Sizeof(args), 0)
			})
		}},
	}}
}

// deciding are the files of a project that decide about rounds.
func deciding() []string {
	return []string{".git", ".switchyard", "switchyard.yaml", "policies", "agents/own"}
}

// protected are the outcomes of changing them: Landlock cannot take away a part of a
// directory that it allows.
func protected() expected {
	return from(readers(refused, possible), readers(refused, possible), everyone(refused))
}

func decidingGroup() group {
	settings := from(everyone(possible), everyone(possible), everyone(refused))
	busy := []error{unix.EBUSY} // Such a path is a mount at files+network.
	return group{"Changing what decides about rounds", []attempt{
		{does: "write to `.git/config`", want: protected(), refusals: busy, try: func(w *world) error { return write(filepath.Join(w.Tree, ".git/config")) }},
		{does: "create a git hook", want: protected(), refusals: busy, try: func(w *world) error { return create(filepath.Join(w.Tree, ".git/hooks/post-checkout")) }},
		{does: "rename `.git`", want: protected(), refusals: busy, try: func(w *world) error {
			return renameAndBack(filepath.Join(w.Tree, ".git"), filepath.Join(w.Tree, w.attempt, "git"))
		}},
		{does: "write to the ledger", want: protected(), refusals: busy, try: func(w *world) error {
			return writeFlags(filepath.Join(w.Tree, ".switchyard/ledger.db"), os.O_WRONLY|os.O_APPEND)
		}},
		{does: "rename the ledger's directory", want: protected(), refusals: busy, try: func(w *world) error {
			return renameAndBack(filepath.Join(w.Tree, ".switchyard"), filepath.Join(w.Tree, w.attempt, "switchyard"))
		}},
		{does: "write to `switchyard.yaml`", want: protected(), refusals: busy, try: func(w *world) error { return write(filepath.Join(w.Tree, "switchyard.yaml")) }},
		{does: "rename a file over `switchyard.yaml`", want: protected(), refusals: busy, try: func(w *world) error { return unix.Rename(w.tree("file"), filepath.Join(w.Tree, "switchyard.yaml")) }},
		{does: "remove `switchyard.yaml`", want: protected(), refusals: busy, try: func(w *world) error { return unix.Unlink(filepath.Join(w.Tree, "switchyard.yaml")) }},
		{does: "write to a policy", want: protected(), refusals: busy, try: func(w *world) error { return write(filepath.Join(w.Tree, "policies/routing.rego")) }},
		{does: "rename the directory that has a directory of agents", want: protected(), refusals: busy, try: func(w *world) error {
			return renameAndBack(filepath.Join(w.Tree, "agents"), filepath.Join(w.Tree, w.attempt, "agents"))
		}},
		{does: "write to the CLI's settings", want: settings, try: func(w *world) error { return writeFlags(filepath.Join(w.State, "settings"), os.O_WRONLY|os.O_APPEND) }},
		{does: "rename a file over the CLI's settings", want: settings, refusals: busy, try: func(w *world) error {
			if err := create(filepath.Join(w.State, w.attempt)); err != nil {
				return err
			}
			return unix.Rename(filepath.Join(w.State, w.attempt), filepath.Join(w.State, "settings"))
		}},
		{does: "create settings of the CLI that did not exist", want: always(everyone(possible)), try: func(w *world) error { return create(filepath.Join(w.State, "hooks")) }},
		{does: "create a policy", want: protected(), refusals: busy, try: func(w *world) error { return create(filepath.Join(w.Tree, "policies/new.rego")) }},
	}}
}

func hostFilesGroup() group {
	never := always(everyone(refused))
	metadata := from(readers(noEffect, possible), readers(noEffect, possible), readers(noEffect, refused))
	return group{"Changing other files", []attempt{
		{does: "write to a file of another project", want: never, try: func(w *world) error { return write(w.other("file")) }},
		{does: "create a file in another project", want: never, try: func(w *world) error { return create(w.other("new")) }},
		{does: "hard link a file of another project, and write through the link", want: never, try: func(w *world) error {
			if err := unix.Link(w.other("file"), w.private("new")); err != nil {
				return err
			}
			return write(w.private("new"))
		}},
		{does: "rename a file into another project", want: never, try: func(w *world) error { return unix.Rename(w.private("file"), w.other("new")) }},
		{does: "rename a file out of another project", want: never, try: func(w *world) error { return unix.Rename(w.other("file"), w.private("new")) }},
		{does: "`chmod` a file of another project", want: metadata, try: func(w *world) error {
			return changes(w.other("file"), mode, func() error { return unix.Chmod(w.other("file"), 0o777) })
		}},
		{does: "`setxattr` on a file of another project", want: metadata, try: func(w *world) error {
			return attribute(w.other("file"), "user.old", func() error { return unix.Setxattr(w.other("file"), "user.old", []byte("2"), 0) })
		}},
		{does: "`utimensat` on a file of another project", want: metadata, try: func(w *world) error {
			return changes(w.other("file"), modified, func() error { return unix.UtimesNano(w.other("file"), []unix.Timespec{{Sec: 1}, {Sec: 1}}) })
		}},
		{does: "write to `~/.bashrc`", want: never, try: func(w *world) error { return write(filepath.Join(w.Home, ".bashrc")) }},
		{does: "create a file in `~/.ssh`", want: never, try: func(w *world) error { return create(filepath.Join(w.Home, ".ssh/authorized_keys")) }},
		{does: "open `/etc/passwd` for writing", root: true, want: never, try: func(*world) error { return openClose("/etc/passwd", unix.O_WRONLY) }},
		{does: "open the loader's cache for writing, which every program reads as it does `LD_PRELOAD`", root: true, want: never, try: func(*world) error { return exists(openClose("/etc/ld.so.cache", unix.O_WRONLY)) }},
		{does: "create a file in the shared `/tmp`", want: never, try: func(w *world) error { return createAndRemove("/tmp/switchyard-escape-" + w.mark()) }},
		{does: "create a file in `/dev/shm`", want: never, try: func(w *world) error { return createAndRemove("/dev/shm/switchyard-escape-" + w.mark()) }},
		{does: "open `/proc/sys/kernel/core_pattern` for writing", root: true, want: never, try: func(*world) error { return openClose("/proc/sys/kernel/core_pattern", unix.O_WRONLY) }},
		{does: "open `/proc/sysrq-trigger` for writing", root: true, want: never, try: func(*world) error { return exists(openClose("/proc/sysrq-trigger", unix.O_WRONLY)) }},
		{does: "open a cgroup's list of processes for writing", root: true, want: never, try: func(*world) error {
			for _, path := range []string{"/sys/fs/cgroup/cgroup.procs", "/sys/fs/cgroup/unified/cgroup.procs"} {
				if err := openClose(path, unix.O_WRONLY); !errors.Is(err, unix.ENOENT) {
					return err
				}
			}
			return unavailableError("no cgroup2 is mounted")
		}},
		{does: "open `/dev/kmsg` for writing", root: true, want: never, try: func(*world) error { return exists(openClose("/dev/kmsg", unix.O_WRONLY)) }},
	}}
}

// exists says that a file is missing on this machine.
func exists(err error) error {
	if errors.Is(err, unix.ENOENT) {
		return unavailableError(err.Error())
	}
	return err
}

// renameAndBack renames what other attempts need.
func renameAndBack(from, to string) error {
	if err := unix.Rename(from, to); err != nil {
		return err
	}
	return unix.Rename(to, from)
}

func createAndRemove(path string) error {
	if err := create(path); err != nil {
		return err
	}
	return os.Remove(path)
}

func readGroup() group {
	never := always(everyone(refused))
	names := always(everyone(possible))
	return group{"Reading", []attempt{
		{does: "read a key in `~/.ssh`", want: never, try: func(w *world) error { return read(filepath.Join(w.Home, ".ssh/id_ed25519")) }},
		{does: "read `~/.aws/credentials`", want: never, try: func(w *world) error { return read(filepath.Join(w.Home, ".aws/credentials")) }},
		{does: "list the home directory", want: never, try: func(w *world) error { return list(w.Home) }},
		{does: "read a file of another project", want: never, try: func(w *world) error { return read(filepath.Join(w.Other, "secret")) }},
		{does: "read a file of another project through a symbolic link", want: never, try: func(w *world) error {
			if err := unix.Symlink(filepath.Join(w.Other, "secret"), w.private("new")); err != nil {
				return err
			}
			return read(w.private("new"))
		}},
		{does: "hard link a file of another project, and read the link", want: never, try: func(w *world) error {
			if err := unix.Link(filepath.Join(w.Other, "secret"), w.private("new")); err != nil {
				return err
			}
			return read(w.private("new"))
		}},
		{does: "open a file of another project by `O_PATH`, and again for reading", want: never, try: func(w *world) error {
			fd, err := unix.Open(filepath.Join(w.Other, "secret"), unix.O_PATH|unix.O_CLOEXEC, 0)
			if err != nil {
				return err
			}
			return read(fmt.Sprintf("/proc/self/fd/%d", fd))
		}},
		{does: "run a program of another project", want: never, try: func(w *world) error {
			return exec.Command(filepath.Join(w.Other, "program")).Run()
		}},
		{does: "read a file in another user's home directory", want: never, try: func(w *world) error { return read(filepath.Join(w.Root, "neighbour/secret")) }},
		{does: "read the ledger", want: always(readers(refused, possible)), try: func(w *world) error { return read(filepath.Join(w.Tree, ".switchyard/ledger.db")) }},
		{does: "open `/etc/shadow`", root: true, want: never, try: func(*world) error { return openClose("/etc/shadow", unix.O_RDONLY) }},
		{does: "open `/root`", root: true, want: never, try: func(*world) error { return openClose("/root", unix.O_RDONLY|unix.O_DIRECTORY) }},
		{does: "list the shared `/tmp`", want: never, try: func(*world) error { return list("/tmp") }},
		{does: "open a disk", root: true, want: never, try: openDisk},
		{does: "open the kernel's memory", root: true, want: never, try: func(*world) error { return exists(openClose("/proc/kcore", unix.O_RDONLY)) }},
		{does: "open the kernel's log", root: true, want: never, try: func(*world) error { return exists(openClose("/dev/kmsg", unix.O_RDONLY)) }},
		{does: "read the host's secret through a descriptor that it left open", want: never, refusals: []error{unix.EBADF}, try: func(w *world) error {
			b := make([]byte, 64)
			n, err := unix.Pread(w.Inherited, b, 0)
			return isSecret(b[:max(n, 0)], err)
		}},
		{does: "open a file by its handle", root: true, want: never, try: func(w *world) error {
			handle, _, err := unix.NameToHandleAt(unix.AT_FDCWD, filepath.Join(w.Other, "secret"), 0)
			if err != nil {
				return err
			}
			return withFile(w.tree(), func(dir int) error {
				fd, err := unix.OpenByHandleAt(dir, handle, unix.O_RDONLY|unix.O_CLOEXEC)
				if err != nil {
					return err
				}
				return read(fmt.Sprintf("/proc/self/fd/%d", fd))
			})
		}},
		{does: "see whether a file exists in `~/.ssh`, and its size", want: names, try: func(w *world) error {
			_, err := os.Lstat(filepath.Join(w.Home, ".ssh/id_ed25519"))
			return err
		}},
		{does: "read a symbolic link in `~/.ssh`", want: names, try: func(w *world) error {
			_, err := os.Readlink(filepath.Join(w.Home, ".ssh/link"))
			return err
		}},
		{does: "watch `~/.ssh` by `inotify`", want: names, try: func(w *world) error {
			fd, err := unix.InotifyInit1(unix.IN_CLOEXEC)
			if err != nil {
				return err
			}
			_, err = unix.InotifyAddWatch(fd, filepath.Join(w.Home, ".ssh"), unix.IN_ALL_EVENTS)
			return err
		}},
		{does: "watch `~/.ssh` by `fanotify`", want: never, try: func(w *world) error {
			fd, err := unix.FanotifyInit(unix.FAN_CLASS_NOTIF|unix.FAN_REPORT_FID, unix.O_RDONLY)
			if err != nil {
				return err
			}
			return unix.FanotifyMark(fd, unix.FAN_MARK_ADD, unix.FAN_MODIFY|unix.FAN_EVENT_ON_CHILD, unix.AT_FDCWD, filepath.Join(w.Home, ".ssh"))
		}},
		{does: "lock a file of the tree", want: names, try: func(w *world) error {
			return withFile(w.tree("file"), func(fd int) error { return unix.Flock(fd, unix.LOCK_EX|unix.LOCK_NB) })
		}},
		{does: "delay other programs by a lease on a file of the tree", want: names, try: func(w *world) error {
			return withFile(w.tree("file"), func(fd int) error {
				_, err := unix.FcntlInt(uintptr(fd), unix.F_SETLEASE, unix.F_RDLCK)
				return err
			})
		}},
	}}
}

func list(dir string) error {
	_, err := os.ReadDir(dir)
	return err
}

// openDisk opens the first disk of the machine, and reads nothing.
func openDisk(w *world) error {
	for _, name := range []string{"vda", "sda", "nvme0n1", "xvda", "mmcblk0"} {
		err := openClose("/dev/"+name, unix.O_RDONLY)
		if errors.Is(err, unix.EPERM) && w.Level == confinement.None {
			return unavailableError("this machine gives no disk to root either")
		}
		if !errors.Is(err, unix.ENOENT) {
			return err
		}
	}
	return unavailableError("no disk was found in /dev")
}
