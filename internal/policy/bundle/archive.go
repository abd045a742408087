package bundle

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"strings"
)

// errTooLong stops unpacking at Limits.Unpacked.
var errTooLong = errors.New("unpacked, it is larger than the limit")

// unpack unpacks an archive in memory. The archive must be unambiguous: one gzip stream
// with one tar file in it, no data after either, and no two entries with the same name.
func unpack(packed []byte, l Limits) ([]File, error) {
	if int64(len(packed)) > l.Packed {
		return nil, malformed("it is larger than %d bytes", l.Packed)
	}
	stream := bytes.NewReader(packed) // an io.ByteReader, so gzip reads nothing beyond its stream
	unzipped, err := gzip.NewReader(stream)
	if err != nil {
		return nil, unreadable(err, l)
	}
	unzipped.Multistream(false)
	limited := &limitedReader{r: unzipped, left: l.Unpacked}

	files, err := untar(limited, l)
	if err != nil {
		return nil, err
	}
	if err := checkPadding(limited); err != nil {
		return nil, unreadable(err, l)
	}
	if stream.Len() > 0 {
		return nil, malformed("%d bytes follow its end", stream.Len())
	}
	return files, nil
}

func untar(r io.Reader, l Limits) ([]File, error) {
	archive := tar.NewReader(r)
	names := make(nameSet)
	var files []File
	for entries := 1; ; entries++ {
		header, err := archive.Next()
		switch {
		case err == io.EOF:
			return files, nil
		case err != nil && !errors.Is(err, tar.ErrInsecurePath): // names are checked below
			return nil, unreadable(err, l)
		case entries > l.Entries:
			return nil, malformed("it holds more than %d files", l.Entries)
		}
		name, err := entryName(header)
		if err != nil {
			return nil, err
		}
		if header.Typeflag == tar.TypeDir {
			continue
		}
		if err := names.add(name); err != nil {
			return nil, err
		}
		if isRego(name) && header.Size > l.Module {
			return nil, malformedFile(header.Name, "it is larger than %d bytes", l.Module)
		}
		data, err := io.ReadAll(archive)
		if err != nil {
			return nil, unreadable(err, l)
		}
		files = append(files, File{Name: name, Data: data})
	}
}

// entryName returns the name of an entry within the bundle. It accepts only files and
// directories: a link can lead out of the bundle, and the holes of a sparse file take more
// space than the archive.
func entryName(header *tar.Header) (string, error) {
	switch header.Typeflag {
	case tar.TypeReg, tar.TypeDir:
	case tar.TypeSymlink, tar.TypeLink:
		return "", malformedFile(header.Name, "it is a link")
	case tar.TypeGNUSparse:
		return "", malformedFile(header.Name, "it is a sparse file")
	default:
		return "", malformedFile(header.Name, "it is neither a file nor a directory")
	}
	for key := range header.PAXRecords {
		if strings.HasPrefix(key, "GNU.sparse.") {
			return "", malformedFile(header.Name, "it is a sparse file")
		}
	}
	return localName(header.Name, header.Typeflag == tar.TypeDir)
}

// checkPadding reads to the end, and requires zeros: other data after the end of a tar file
// would not be checked.
func checkPadding(r io.Reader) error {
	rest, err := io.ReadAll(r)
	if err != nil {
		return err
	}
	if len(bytes.Trim(rest, "\x00")) > 0 {
		return errors.New("more follows the end of the archive")
	}
	return nil
}

// unreadable returns the error for an archive that could not be read.
func unreadable(err error, l Limits) error {
	if errors.Is(err, errTooLong) {
		return malformed("unpacked, it is larger than %d bytes", l.Unpacked)
	}
	return malformed("it is not a bundle: %w", err)
}

// limitedReader fails with errTooLong after its limit; io.LimitReader would report the
// end of the data.
type limitedReader struct {
	r    io.Reader
	left int64
}

func (l *limitedReader) Read(p []byte) (int, error) {
	if int64(len(p)) > l.left+1 {
		p = p[:l.left+1]
	}
	n, err := l.r.Read(p)
	if l.left -= int64(n); l.left < 0 {
		return 0, errTooLong
	}
	return n, err
}
