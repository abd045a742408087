package plugins

import (
	"os"
	"path/filepath"
	"strings"

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
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, nil
	}
	info, err := os.Lstat(dir)
	if err != nil {
		return nil, nil
	}
	if !info.IsDir() || !private(info) {
		return nil, fault.New(CodeCacheUnsafe, "the cache of compiled plugins can be written by others: %s", dir).With("path", dir)
	}
	cache, err := wazero.NewCompilationCacheWithDir(dir)
	if err != nil {
		return nil, nil
	}
	return cache, nil
}

// discardCache removes wazero's folders below dir, as far as that works.
func discardCache(dir string) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return
	}
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), "wazero-") {
			_ = os.RemoveAll(filepath.Join(dir, e.Name()))
		}
	}
}
