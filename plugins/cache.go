package plugins

import (
	"os"
	"path/filepath"

	"github.com/tetratelabs/wazero"

	"github.com/switchyard-dev/switchyard/host/fault"
)

// openCache opens the folder of compiled code, creating it for the user alone.
// It returns nil where no folder can be had: a cache saves time and is no
// reason to fail. A folder that others may write to is refused, because its
// content is machine code that would run as the user.
//
// wazero keys an entry by the module's digest and its own version, writes it
// under a temporary name, syncs and renames it, so that concurrent and
// interrupted runs are safe.
func openCache(dir string) (wazero.CompilationCache, error) {
	code := filepath.Join(dir, codeDir)
	if err := os.MkdirAll(code, 0o700); err != nil {
		return nil, nil
	}
	for _, d := range []string{dir, code} {
		info, err := os.Lstat(d)
		if err != nil {
			return nil, nil
		}
		if !info.IsDir() || !private(info) {
			return nil, fault.New(CodeCacheUnsafe, "the cache of compiled plugins can be written by others: %s", d).With("path", d)
		}
	}
	cache, err := wazero.NewCompilationCacheWithDir(code)
	if err != nil {
		return nil, nil
	}
	return cache, nil
}

// codeDir is the folder of our own in the cache's folder: what lies beside it may
// be somebody else's.
const codeDir = "switchyard-code"

// discardCache removes the compiled code below dir, as far as that works.
func discardCache(dir string) { _ = os.RemoveAll(filepath.Join(dir, codeDir)) }
