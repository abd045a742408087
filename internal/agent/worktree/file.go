package worktree

import (
	"bufio"
	"crypto/sha256"
	"encoding/binary"
	"io/fs"
)

// file is what is known of a file.
type file struct {
	mode fs.FileMode // its type and permissions
	// stat is what stands for the content where that was not hashed.
	stat   stat
	hashed bool
	sum    [sha256.Size]byte // of the content, or of a link's target
}

// stat is what changes along with a file's content, as far as the file system
// tells: reader.hash says why that is not enough. The time of the last change of the
// inode cannot be set back, but need not move on.
type stat struct {
	size int64
	// modified and changed are times, in nanoseconds since 1970: that of the content,
	// which anybody may set, and that of the inode, whose number is number.
	modified, changed, number int64
}

// changes says how a file differs from what it was.
func (f file) changes(is file) []Kind {
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

// write writes what identifies the file.
func (f file) write(w fields) {
	w.number(int64(f.mode))
	switch {
	case f.hashed:
		w.text("content", string(f.sum[:]))
	case f.mode.IsRegular():
		w.text("stat")
		w.number(f.stat.size, f.stat.modified, f.stat.changed, f.stat.number)
	default:
		w.text("other")
	}
}

// fields writes texts and numbers so that their ends are known.
type fields struct{ *bufio.Writer }

func (w fields) text(texts ...string) {
	for _, t := range texts {
		w.number(int64(len(t)))
		_, _ = w.WriteString(t) // A hash never fails.
	}
}

func (w fields) number(numbers ...int64) {
	for _, n := range numbers {
		_, _ = w.Write(binary.BigEndian.AppendUint64(w.AvailableBuffer(), uint64(n)))
	}
}
