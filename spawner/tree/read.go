package tree

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"sync"
	"sync/atomic"
	"syscall"
)

// readers is how many files are read at once.
const readers = 2

// read looks at the files that were found. One that is gone meanwhile is not
// there.
func (l *look) read(ctx context.Context) (map[string]file, []string, error) {
	names := sorted(l.paths)
	found := make([]*file, len(names))
	var large, content int64
	near := &nearby{place: l.place}
	defer near.close()
	for i, name := range names {
		if ctx.Err() != nil {
			return nil, nil, context.Cause(ctx)
		}
		info, err := l.there(near, name)
		if err != nil {
			return nil, nil, err
		}
		if info == nil {
			continue
		}
		f := &file{mode: info.Mode(), stat: newStat(info)}
		found[i] = f
		if !f.mode.IsRegular() {
			continue
		}
		// Which files are hashed depends on the tree alone, not on who is first.
		if f.hashed = f.stat.size <= maxContent && content+f.stat.size <= maxContents; f.hashed {
			content += f.stat.size
		} else {
			large++
		}
	}
	if err := l.readAll(ctx, names, found); err != nil {
		return nil, nil, err
	}
	files := make(map[string]file, len(names))
	for i, name := range names {
		if found[i] != nil {
			files[name] = *found[i]
		}
	}
	var notes []string
	if large > 0 {
		notes = []string{fmt.Sprintf("too large to be read: %d files, of which size, times and inode were compared", large)}
	}
	return files, notes, nil
}

// stretch is how many files in a row one reader takes: they lie in few folders.
const stretch = 64

// readAll reads the contents, some at a time, and stops at the first error.
func (l *look) readAll(ctx context.Context, names []string, found []*file) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var next atomic.Int64
	var workers sync.WaitGroup
	for range readers {
		workers.Go(func() {
			r := &reader{nearby: nearby{place: l.place}, buffer: make([]byte, 128<<10)}
			defer r.close()
			for {
				from := int(next.Add(stretch)) - stretch
				if from >= len(names) {
					return
				}
				for i := from; i < min(from+stretch, len(names)); i++ {
					var err error
					if found[i], err = r.content(ctx, names[i], found[i]); err != nil {
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

// reader reads files, one at a time.
type reader struct {
	nearby
	buffer []byte
}

// content reads a file's content or a link's target, as often as it takes to read
// it unchanged, within reason.
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
		// Somebody else is at work in the tree. What matters is how it is now.
		info, again := r.lstat(name)
		if again != nil {
			return nil, again
		}
		if info != nil && newStat(info) == f.stat {
			return nil, unreadable(name, err)
		}
		if f = nil; info != nil {
			f = &file{mode: info.Mode(), stat: newStat(info), hashed: info.Mode().IsRegular() && info.Size() <= maxContent}
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
		f.sum, err = r.hash(ctx, name, f.stat)
	}
	return err
}

// hash hashes the content of a regular file that looked like that.
func (r *reader) hash(ctx context.Context, name string, expected stat) (sum [sha256.Size]byte, err error) {
	f, err := r.open(name, os.O_RDONLY|syscall.O_NONBLOCK)
	if err != nil {
		return sum, err
	}
	defer f.Close()
	info, err := f.Stat()
	switch {
	case err != nil:
		return sum, err
	case !info.Mode().IsRegular() || newStat(info) != expected:
		return sum, errChanging
	}
	h := sha256.New()
	for left := expected.size; left > 0; {
		if ctx.Err() != nil {
			return sum, context.Cause(ctx)
		}
		n, err := f.Read(r.buffer[:min(int64(len(r.buffer)), left)])
		h.Write(r.buffer[:n])
		left -= int64(n)
		if err != nil && left > 0 {
			return sum, err
		}
	}
	if info, err = f.Stat(); err != nil || newStat(info) != expected {
		return sum, errors.Join(err, errChanging)
	}
	return [sha256.Size]byte(h.Sum(nil)), nil
}
