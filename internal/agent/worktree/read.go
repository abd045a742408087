package worktree

import (
	"context"
	"crypto/sha256"
	"errors"
	"hash"
	"io/fs"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
)

type file struct {
	mode fs.FileMode // type and permissions
	// stat is compared instead of the content if that was not hashed.
	stat   stat
	hashed bool
	sum    [sha256.Size]byte // of the content, or of a link's target
	// settled is set if the content cannot change without a change of stat.
	settled bool
}

// stat is metadata that changes with a file's content, with exceptions; see reader.hash. The
// change time of the inode cannot be set back, but need not advance.
type stat struct {
	size int64
	// modified and changed are the times of the content and of the inode, in nanoseconds
	// since 1970; number is the inode number.
	modified, changed, number int64
}

// changes lists the differences between f, which is nil if the file did not exist, and is.
func (f *file) changes(is *file) []Kind {
	if f == nil {
		return []Kind{Added}
	}
	if f.mode.Type() != is.mode.Type() {
		return []Kind{Type}
	}
	var kinds []Kind
	if f.hashed && is.hashed && f.sum != is.sum || f.hashed != is.hashed || !f.hashed && f.mode.IsRegular() && f.stat != is.stat {
		kinds = append(kinds, Content)
	}
	if f.mode != is.mode {
		kinds = append(kinds, Mode)
	}
	return kinds
}

type entry struct {
	path string
	*file
}

// lstat returns the metadata of files, nil for files that do not exist. It uses latestNow if
// that has the file.
func (s *scanner) lstat(ctx context.Context, names []string) ([]*file, error) {
	found := make([]*file, len(names))
	err := s.each(ctx, len(names), func(r *reader, i int) (err error) {
		if s.latestNow != nil {
			if at, ok := s.latest.find(names[i]); ok {
				found[i] = s.latestNow[at]
				return nil
			}
		}
		found[i], err = r.lstatFile(names[i])
		return err
	})
	return found, err
}

// read reads the metadata and contents of the files that were found, and returns them sorted
// by path. It skips files that were removed meanwhile, and shares unchanged files with the
// latest snapshot.
func (s *scanner) read(ctx context.Context) (files []entry, err error) {
	names := slices.Compact(slices.Sorted(slices.Values(s.names)))
	found := s.latestNow
	if found == nil || !slices.EqualFunc(names, s.latest.files, func(name string, e entry) bool { return name == e.path }) {
		if found, err = s.lstat(ctx, names); err != nil {
			return nil, err
		}
	}
	var content int64
	for _, f := range found {
		if f == nil || !f.mode.IsRegular() {
			continue
		}
		// The choice of the files to hash depends only on the tree, not on timing.
		if f.hashed = f.stat.size <= maxContent && content+f.stat.size <= maxContents; f.hashed {
			content += f.stat.size
		}
	}
	if err := s.each(ctx, len(names), func(r *reader, i int) (err error) {
		was, is := s.latest.file(names[i]), found[i]
		if was.isUnchanged(is) && !s.reread(names[i]) {
			found[i] = was
			return nil
		}
		if is, err = r.content(ctx, names[i], is); is != nil {
			is.settled = is.hashed && is.stat.settled(s.began)
			if was != nil && *was == *is {
				is = was
			}
		}
		found[i] = is
		return err
	}); err != nil {
		return nil, err
	}
	files = make([]entry, 0, len(names))
	for i, f := range found {
		if f != nil {
			files = append(files, entry{names[i], f})
		}
	}
	return files, nil
}

// batchSize is the number of consecutive files that one reader takes, since they share
// directories.
const batchSize = 64

// each calls do concurrently with the numbers from 0 to n-1, and stops at the first error.
func (s *scanner) each(ctx context.Context, n int, do func(r *reader, i int) error) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var next atomic.Int64
	var workers sync.WaitGroup
	for range min(max(runtime.GOMAXPROCS(0), 2), 8) { // System calls take most of the time.
		workers.Go(func() {
			r := &reader{dirCache: dirCache{root: s.root}, digest: sha256.New(), buffer: make([]byte, 64<<10)}
			defer r.close()
			for from := 0; from < n; {
				from = int(next.Add(batchSize)) - batchSize
				for i := from; i < min(from+batchSize, n); i++ {
					if ctx.Err() != nil {
						return
					}
					if err := do(r, i); err != nil {
						cancel(err)
						return
					}
				}
			}
		})
	}
	workers.Wait()
	return context.Cause(ctx)
}

// reader reads files. It is not for concurrent use.
type reader struct {
	dirCache
	digest hash.Hash
	buffer []byte
}

// content reads a file's content or a link's target. If that changes meanwhile, it tries
// again, up to three times in all.
func (r *reader) content(ctx context.Context, name string, f *file) (*file, error) {
	for range 3 {
		if f == nil {
			return nil, nil
		}
		var err error
		switch {
		case f.mode.Type() == fs.ModeSymlink:
			var target string
			target, err = r.readlink(name)
			f.hashed, f.sum = true, sha256.Sum256([]byte(target))
		case f.hashed:
			err = r.hash(ctx, name, f)
		}
		if err == nil {
			return f, nil
		}
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		// The file changed, so read its current state.
		now, again := r.lstatFile(name)
		if again != nil {
			return nil, again
		}
		if now != nil && now.stat == f.stat {
			return nil, unreadable(name, err)
		}
		if f = now; f != nil {
			f.hashed = f.mode.IsRegular() && f.stat.size <= maxContent
		}
	}
	return nil, unreadable(name, errChanging)
}

var errChanging = errors.New("it keeps changing")

// hash hashes a regular file. It fails if the metadata of the file changes meanwhile.
//
// Without a Cache, or with Tree.Reread, every scan hashes every file, even if its metadata
// did not change: metadata need not reveal a changed content. On ext4, for example, a
// process that may write two files can exchange their blocks without changing any time.
func (r *reader) hash(ctx context.Context, name string, f *file) error {
	opened, err := r.open(name)
	if err != nil {
		return err
	}
	defer opened.close()
	r.digest.Reset()
	for left := f.stat.size; left > 0; {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		n, err := opened.read(r.buffer[:min(int64(len(r.buffer)), left)])
		if err != nil {
			return err
		}
		if n == 0 {
			return errChanging
		}
		r.digest.Write(r.buffer[:n])
		left -= int64(n)
	}
	now, err := opened.stat()
	if err != nil || !now.mode.IsRegular() || now.stat != f.stat {
		return errors.Join(err, errChanging)
	}
	r.digest.Sum(f.sum[:0])
	return nil
}
