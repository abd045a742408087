package worktree

import (
	"bufio"
	"crypto/sha256"
	"encoding/binary"
	"io/fs"
)

// file is what is known of a file.
type file struct {
	mode fs.FileMode // type and permissions
	// stat replaces the content if that was not hashed.
	stat   stat
	hashed bool
	sum    [sha256.Size]byte // of the content, or of a link's target
}

// stat is metadata that changes with a file's content, with exceptions; see reader.hash.
// The inode's change time cannot be set back, but need not advance.
type stat struct {
	size int64
	// modified and changed are the times of the content and of the inode, in nanoseconds
	// since 1970; number is the inode number.
	modified, changed, number int64
}

// changes lists how a file differs.
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

// fields writes texts and numbers unambiguously.
type fields struct{ *bufio.Writer }

func (w fields) text(texts ...string) {
	for _, t := range texts {
		w.number(int64(len(t)))
		_, _ = w.WriteString(t)
	}
}

func (w fields) number(numbers ...int64) {
	for _, n := range numbers {
		_, _ = w.Write(binary.BigEndian.AppendUint64(w.AvailableBuffer(), uint64(n)))
	}
}
