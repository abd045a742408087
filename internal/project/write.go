package project

import (
	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/safefile"
)

// newFile is the mode of a file that people edit and share, before the umask.
const newFile = 0o644

// unwritable returns a coded error for a file system error, without the names of
// temporary files.
func unwritable(name string, err error) *errs.Error {
	return errs.New(errs.FileUnwritable, "%s: %w", name, safefile.Reason(err)).With("path", name)
}
