package project

import (
	"github.com/switchyard-dev/switchyard/host/fault"
	"github.com/switchyard-dev/switchyard/host/folder"
)

// CodeUnwritable: a file of the project cannot be written.
const CodeUnwritable fault.Code = "file-unwritable"

// newFile is the mode of a file that people edit and share, before the umask.
const newFile = 0o644

// unwritable gives an error of the file system its code, without the names of
// temporary files.
func unwritable(name string, err error) *fault.Error {
	return fault.New(CodeUnwritable, "%s: %w", name, folder.Reason(err)).With("path", name)
}
