package supervise

import "os"

// outputFiles are the files that a child writes to, with the sizes that they had when
// it started.
type outputFiles struct {
	output, errors *os.File // errors may be nil
	before         size
}

// size is that of both files, or by how much they have grown, in bytes.
type size struct{ output, errors int64 }

func (s size) sum() int64 { return s.output + s.errors }

// newOutputFiles begins with the files as they are now.
func newOutputFiles(output, errors *os.File) (outputFiles, error) {
	s := outputFiles{output: output, errors: errors}
	before, err := s.sizes()
	s.before = before
	return s, err
}

// grown is by how much the files have grown. A child that cut one short has
// written nothing to it.
func (s outputFiles) grown() (size, error) {
	now, err := s.sizes()
	return size{max(now.output-s.before.output, 0), max(now.errors-s.before.errors, 0)}, err
}

func (s outputFiles) sizes() (size, error) {
	output, err := fileSize(s.output)
	if err != nil || s.errors == nil {
		return size{output: output}, err
	}
	errors, err := fileSize(s.errors)
	return size{output, errors}, err
}

func fileSize(f *os.File) (int64, error) {
	info, err := f.Stat()
	if err != nil {
		return 0, err
	}
	return info.Size(), nil
}
