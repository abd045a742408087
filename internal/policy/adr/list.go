package adr

import (
	"cmp"
	"errors"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"

	"github.com/switchyard-dev/switchyard/internal/safefile"
)

// maxBytes is the largest record, in bytes.
const maxBytes = 1 << 20

// maxAllBytes bounds the records of a folder together, in bytes: all are in memory at
// once.
const maxAllBytes = 16 << 20

// Found is a file of a folder of records.
type Found struct {
	// File is its path below the listed root.
	File string
	// Text is its content.
	Text []byte
	// Record is the parsed record, if Err is nil.
	Record Record
	// Err is the reason why the file is not a record.
	Err error
}

// List reads the records of a folder below root, sorted by file name. It reads files
// whose names end in .md and begin with a digit, and ignores others. A folder that does
// not exist has none.
//
// # Errors
//
// Those of the file system for the folder itself. The error of a single file is in its
// Found.
func List(root *os.Root, dir string) ([]Found, error) {
	entries, err := fs.ReadDir(root.FS(), dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	var all []Found
	bytes := 0
	for _, e := range entries { // sorted by name
		name := e.Name()
		if !strings.HasSuffix(name, ".md") || name[0] < '0' || name[0] > '9' {
			continue
		}
		f := read(root, path.Join(dir, name))
		if bytes += len(f.Text); bytes > maxAllBytes {
			f = Found{File: f.File, Err: invalid(f.File, 0, "it and the records before it have more than %d bytes together", maxAllBytes)}
		}
		all = append(all, f)
	}
	slices.SortFunc(all, func(a, b Found) int { return cmp.Compare(a.File, b.File) })
	return all, nil
}

func read(root *os.Root, file string) Found {
	f := Found{File: file}
	var err error
	if f.Text, err = safefile.Read(root, file, maxBytes); err != nil {
		f.Err = invalid(file, 0, "it cannot be read: %w", safefile.Reason(err))
		return f
	}
	f.Record, f.Err = Parse(file, f.Text)
	return f
}
