package bundle

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"strings"

	"github.com/switchyard-dev/switchyard/internal/safefile"
)

// unpack unpacks an archive in memory. The archive must be unambiguous: one gzip stream
// with one tar file in it, no data after either, and no two entries with the same name.
func unpack(packed []byte, l Limits) ([]File, error) {
	if int64(len(packed)) > l.Packed {
		return nil, malformed("it is larger than %d bytes", l.Packed)
	}
	stream := bytes.NewReader(packed) // an io.ByteReader, so gzip reads nothing beyond its stream
	unzipped, err := gzip.NewReader(stream)
	if err != nil {
		return nil, unreadable(err)
	}
	unzipped.Multistream(false)
	unpacked, err := safefile.ReadAll(unzipped, l.Unpacked)
	switch _, large := errors.AsType[safefile.TooLargeError](err); {
	case large:
		return nil, malformed("unpacked, it is %w", err)
	case err != nil:
		return nil, unreadable(err)
	case stream.Len() > 0:
		return nil, malformed("%d bytes follow its end", stream.Len())
	}

	archive := bytes.NewReader(unpacked)
	files, err := untar(archive, l)
	if err != nil {
		return nil, err
	}
	// Only zeros may follow: other data after the end of a tar file would not be checked.
	if padding := unpacked[len(unpacked)-archive.Len():]; len(bytes.Trim(padding, "\x00")) > 0 {
		return nil, unreadable(errors.New("more follows the end of the archive"))
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
			return nil, unreadable(err)
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
			return nil, unreadable(err)
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

// unreadable returns the error for an archive that could not be read.
func unreadable(err error) error { return malformed("it is not a bundle: %w", err) }
