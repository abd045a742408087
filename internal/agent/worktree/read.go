package worktree

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"hash"
	"io/fs"
	"sync"
	"sync/atomic"
)

// readers is how many files are read concurrently.
const readers = 2

// read reads the metadata and contents of the files that were found. A file that was
// removed meanwhile does not exist.
func (l *scanner) read(ctx context.Context) ([]pathFile, []string, error) {
	names := sorted(l.paths)
	found := make([]*file, len(names))
	if err := l.each(ctx, len(names), func(r *reader, i int) (err error) {
		if found[i] = l.paths[names[i]]; found[i] == nil {
			found[i], err = r.there(names[i])
		}
		return err
	}); err != nil {
		return nil, nil, err
	}
	var large, content int64
	for _, f := range found {
		if f == nil || !f.mode.IsRegular() {
			continue
		}
		// Which files are hashed depends only on the tree, not on timing.
		if f.hashed = f.stat.size <= maxContent && content+f.stat.size <= maxContents; f.hashed {
			content += f.stat.size
		} else {
			large++
		}
	}
	if err := l.each(ctx, len(names), func(r *reader, i int) (err error) {
		found[i], err = r.content(ctx, names[i], found[i])
		return err
	}); err != nil {
		return nil, nil, err
	}
	files := make([]pathFile, 0, len(names))
	for i, f := range found {
		if f != nil {
			files = append(files, pathFile{names[i], *f})
		}
	}
	var notes []string
	if large > 0 {
		notes = []string{fmt.Sprintf("too large to be read: %d files, of which size, times and inode were compared", large)}
	}
	return files, notes, nil
}

// batchSize is how many consecutive files one reader takes, since they share directories.
const batchSize = 64

// each calls do with the numbers below n, concurrently, and stops at the first error.
func (l *scanner) each(ctx context.Context, n int, do func(r *reader, i int) error) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var next atomic.Int64
	var workers sync.WaitGroup
	for range min(readers, (n+batchSize-1)/batchSize) {
		workers.Go(func() {
			r := &reader{dirCache: dirCache{rootDir: l.rootDir}, digest: sha256.New()}
			defer r.close()
			for {
				from := int(next.Add(batchSize)) - batchSize
				for i := from; i < min(from+batchSize, n); i++ {
					if ctx.Err() != nil {
						return
					}
					if err := do(r, i); err != nil {
						cancel(err)
						return
					}
				}
				if from >= n {
					return
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

// atOnce is how many bytes of a file are read at a time.
const atOnce = 64 << 10

// content reads a file's content or a link's target. If it changes meanwhile, it tries
// again, up to three times.
func (r *reader) content(ctx context.Context, name string, f *file) (*file, error) {
	for range 3 {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		if f == nil {
			return nil, nil
		}
		err := r.read(ctx, name, f)
		if err == nil {
			return f, nil
		}
		// The file changed. The current state is what matters.
		now, again := r.there(name)
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

// read reads a file once.
func (r *reader) read(ctx context.Context, name string, f *file) (err error) {
	switch {
	case f.mode.Type() == fs.ModeSymlink:
		var target string
		if target, err = r.readlink(name); err == nil {
			f.hashed, f.sum = true, sha256.Sum256([]byte(target))
		}
	case f.hashed:
		err = r.hash(ctx, name, f)
	}
	return err
}

// hash hashes a regular file, whose metadata must not change meanwhile.
//
// Every scan hashes every file, even if its metadata did not change: metadata need not
// reveal a changed content. On ext4, for example, a process that may write two files can
// exchange their blocks without changing any time.
func (r *reader) hash(ctx context.Context, name string, f *file) error {
	opened, err := r.open(name)
	if err != nil {
		return err
	}
	defer opened.close()
	if r.buffer == nil {
		r.buffer = make([]byte, atOnce)
	}
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
