package gitrepo

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/switchyard-dev/switchyard/internal/gitcmd"
)

// StoredFile is a file of a tree that WriteTree stored, as git read it.
type StoredFile struct {
	Path string // below the top of the worktree, with slashes
	// Changed is when the file was last written or moved before git read it, in nanoseconds
	// since 1970, or 0 if that is unknown. Inode has the last bits of its inode number.
	Changed int64
	Inode   uint32
}

// StoredFiles lists the files of the latest tree that this process stored for a worktree,
// without submodules.
//
// # Errors
//
// worktree-missing.
func (r *Repo) StoredFiles(ctx context.Context, path string) (files []StoredFile, err error) {
	p, err := r.place(path)
	if err != nil {
		return nil, err
	}
	err = inTemp(func(dir string) error {
		index := filepath.Join(dir, "index")
		saved := r.savedIndex(p)
		if saved == nil {
			return errors.New("no tree of the worktree was stored")
		}
		if err := saved.write(index); err != nil {
			return unwritable(err)
		}
		out, err := r.withIndex(ctx, p, index)("", "ls-files", "-z", "--stage", "--debug")
		if err == nil {
			files, err = parseStored(out)
		}
		return err
	})
	return files, err
}

// parseStored parses git's listing. After the name of each file, it has lines about what git
// knows of it; the name of the next file follows the last one.
func parseStored(out string) (files []StoredFile, err error) {
	for out != "" {
		attributes, rest, _ := strings.Cut(out, "\t")
		name, rest, _ := strings.Cut(rest, "\x00")
		f := StoredFile{Path: name}
		var seconds, nanoseconds, unused int64
		if _, err := fmt.Sscanf(rest, "  ctime: %d:%d\n  mtime: %d:%d\n  dev: %d\tino: %d\n", &seconds, &nanoseconds, &unused, &unused, &unused, &f.Inode); err != nil {
			return nil, fmt.Errorf("git's listing of the file %q is not understood: %w", name, err)
		}
		f.Changed = seconds*int64(time.Second) + nanoseconds
		if !strings.HasPrefix(attributes, gitcmd.Gitlink) {
			files = append(files, f)
		}
		_, rest, _ = strings.Cut(rest, "flags: ")
		_, out, _ = strings.Cut(rest, "\n")
	}
	return files, nil
}
