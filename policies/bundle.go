package policies

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"os"
	"strings"

	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/bundle"
)

// errBundleTooLarge stops unpacking at MaxBundleBytes.
var errBundleTooLarge = errors.New("unpacked, it is larger than the limit")

// readBundle reads the modules of an OPA bundle. Everything happens in memory,
// so the names in the archive lead nowhere.
func readBundle(ref string, f *os.File) ([]module, error) {
	packed, err := io.ReadAll(io.LimitReader(f, MaxBundleBytes+1))
	if err != nil {
		return nil, unreadable(ref, err)
	}
	if len(packed) > MaxBundleBytes {
		return nil, tooLarge(ref, "", "it is larger than %d bytes", MaxBundleBytes)
	}
	if err := measureBundle(ref, packed); err != nil {
		return nil, err
	}

	b, err := bundle.NewReader(bytes.NewReader(packed)).
		WithSizeLimitBytes(MaxModuleBytes).
		WithSkipBundleVerification(true).
		WithCapabilities(language()).
		WithRegoVersion(ast.RegoV1).
		Read()
	if err != nil {
		return nil, invalidRego(ref, err)
	}
	if len(b.Data) > 0 {
		return nil, invalid(ref, Problem{Message: "it carries data, which its digest does not cover: write it into the Rego"})
	}
	var modules []module
	for _, m := range b.Modules {
		if !isModule(m.Path) {
			continue
		}
		if len(modules) == MaxModules {
			return nil, tooLarge(ref, "", "it holds more than %d Rego files", MaxModules)
		}
		modules = append(modules, module{name: ref + ":" + strings.TrimPrefix(m.Path, "/"), source: string(m.Raw)})
	}
	return modules, nil
}

// measureBundle unpacks a bundle into nothing and refuses one that would not
// fit. OPA's reader limits each file but not their number nor their sum, and an
// archive can state files that are far larger than what it holds of them (holes
// of sparse files), so the stated sizes are summed up too.
func measureBundle(ref string, packed []byte) error {
	unzipped, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		return invalidBundle(ref, err)
	}
	limited := &limitedReader{r: unzipped, left: MaxBundleBytes}
	archive := tar.NewReader(limited)
	var entries int
	var stated int64
	for {
		header, err := archive.Next()
		if err == io.EOF {
			break
		}
		if err == nil {
			stated += min(header.Size, MaxBundleBytes+1) // the sum cannot overflow
			entries++
		}
		switch {
		case errors.Is(err, errBundleTooLarge), stated > MaxBundleBytes:
			return tooLarge(ref, "", "unpacked, it is larger than %d bytes", MaxBundleBytes)
		case err != nil:
			return invalidBundle(ref, err)
		case entries > MaxEntries:
			return tooLarge(ref, "", "it holds more than %d files", MaxEntries)
		case header.Typeflag == tar.TypeReg && header.Size > MaxModuleBytes:
			return tooLarge(ref, header.Name, "it is larger than %d bytes", MaxModuleBytes)
		}
	}
	// Behind the archive's end nothing may follow that is not checked.
	_, err = io.Copy(io.Discard, limited)
	switch {
	case errors.Is(err, errBundleTooLarge):
		return tooLarge(ref, "", "unpacked, it is larger than %d bytes", MaxBundleBytes)
	case err != nil:
		return invalidBundle(ref, err)
	}
	return nil
}

// limitedReader fails with errBundleTooLarge behind its limit, where
// io.LimitReader would pretend that the data ends.
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
		return 0, errBundleTooLarge
	}
	return n, err
}

// invalidBundle says that a file is no gzipped tar file.
func invalidBundle(ref string, err error) error {
	return invalid(ref, Problem{Message: "it is not a bundle: " + oneLine(err.Error())})
}
