// Package codecache stores the machine code of WebAssembly modules on disk between runs.
// Each module has an entry: a directory with wazero's files and a seal, their checksum.
// wazero's own checksum does not cover function offsets and memory sizes, so an entry
// without a matching seal is never passed to it.
//
// An entry is created under a temporary name, renamed when complete, and never changed, so
// that concurrent and interrupted runs see only complete entries.
package codecache

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/tetratelabs/wazero"

	"github.com/switchyard-dev/switchyard/internal/digest"
	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/safefile"
)

const (
	// codeDir is the subdirectory for the code: other files in the cache directory may belong
	// to other programs.
	codeDir = "switchyard-code"
	// sealFile is the seal in an entry, and unfinishedPrefix is the name prefix of an
	// incomplete entry.
	sealFile         = "seal"
	unfinishedPrefix = "new-"

	// An entry that was not used for entryLife is removed, such as an entry of another
	// version, and an incomplete one after unfinishedLife. An entry's modification time is
	// the time of its last use.
	entryLife      = 30 * 24 * time.Hour
	unfinishedLife = time.Hour
	// maxCache limits the size of all entries, in bytes. The built-in plugins have 2 MiB.
	maxCache = 64 << 20
)

// Compile calls compile with a cache on disk below dir, which has the code of wasm if an
// earlier call stored it. The modules that compile compiles must depend only on wasm. On
// success compile owns the cache that it received.
//
// A cache only saves time, so its failures are not errors: if dir is "", the directory is not
// available or compile fails with the cache, compile is called with a cache in memory.
//
// # Errors
//
// plugin-cache-unsafe if others may write to the directory, because its machine code would
// run as the user, or if it is a symbolic link, which can lead to files of others. Otherwise
// the error of compile; a panic of compile is an error too.
func Compile(ctx context.Context, dir string, wasm []byte, compile func(wazero.CompilationCache) error) error {
	readVersion()
	if done, err := compileOnDisk(ctx, dir, wasm, compile); done || err != nil {
		return err
	}
	return compileIn(ctx, wazero.NewCompilationCache(), compile)
}

// readVersion makes wazero look up its version, which it stores without synchronization at
// the first use. The call creates nothing: no path has a zero byte.
var readVersion = sync.OnceFunc(func() { _, _ = wazero.NewCompilationCacheWithDir("\x00") })

// compileOnDisk is Compile without the cache in memory. It reports whether it succeeded.
func compileOnDisk(ctx context.Context, dir string, wasm []byte, compile func(wazero.CompilationCache) error) (done bool, err error) {
	if dir == "" {
		return false, nil
	}
	code := filepath.Join(dir, codeDir)
	if os.MkdirAll(code, 0o700) != nil {
		return false, nil
	}
	for _, d := range []string{dir, code} {
		info, err := os.Lstat(d)
		if err != nil {
			return false, nil
		}
		if !info.IsDir() {
			return false, errs.New(errs.PluginCacheUnsafe, "the cache of compiled plugins is a symbolic link, which is not followed: %s", d).
				WithHint("set SWITCHYARD_CACHE_DIR to the directory that it leads to").With("path", d)
		}
		// On Windows, a user's cache directory inherits access rules that a mode does not show.
		private := runtime.GOOS == "windows" || info.Mode().Perm()&0o022 == 0 && safefile.OwnedByUser(info)
		if !private {
			return false, errs.New(errs.PluginCacheUnsafe, "the cache of compiled plugins can be written by others: %s", d).With("path", d)
		}
	}
	name := entryName(wasm)
	entry := filepath.Join(code, name)
	seal, err := os.ReadFile(filepath.Join(entry, sealFile))
	if sum, ok := checksum(name, entry); ok && err == nil && string(seal) == sum {
		now := time.Now()
		_ = os.Chtimes(entry, now, now)
		return compileInFolder(ctx, entry, compile) == nil, nil
	}
	_ = os.RemoveAll(entry) // It may be damaged.
	sweep(code)
	making, err := os.MkdirTemp(code, unfinishedPrefix)
	if err != nil {
		return false, nil
	}
	defer os.RemoveAll(making) // It stays if it cannot be renamed, for example because another process was faster.
	if compileInFolder(ctx, making, compile) != nil {
		return false, nil
	}
	if sum, ok := checksum(name, making); ok && os.WriteFile(filepath.Join(making, sealFile), []byte(sum), 0o600) == nil {
		_ = os.Rename(making, entry)
	}
	return true, nil
}

func compileInFolder(ctx context.Context, dir string, compile func(wazero.CompilationCache) error) error {
	cache, err := wazero.NewCompilationCacheWithDir(dir)
	if err != nil {
		return err
	}
	return compileIn(ctx, cache, compile)
}

// compileIn compiles with a cache. It recovers because a damaged entry can make wazero
// panic.
func compileIn(ctx context.Context, cache wazero.CompilationCache, compile func(wazero.CompilationCache) error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("compile module: %v", p)
		}
		if err != nil {
			_ = cache.Close(ctx)
		}
	}()
	return compile(cache)
}

// entryName returns the name of an entry. It depends on all inputs of the compiler except
// for the processor, which wazero checks itself.
func entryName(wasm []byte) string {
	h := sha256.New()
	_, _ = io.WriteString(h, runtime.GOOS+"/"+runtime.GOARCH+" wazero "+wazeroVersion()+"\n")
	_, _ = h.Write(wasm)
	return hex.EncodeToString(h.Sum(nil))
}

func wazeroVersion() string {
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, dep := range info.Deps {
			if dep.Path == "github.com/tetratelabs/wazero" {
				return dep.Version
			}
		}
	}
	return "unknown"
}

// checksum covers an entry's name, and the paths and contents of wazero's files in it.
func checksum(name, entry string) (string, bool) {
	paths := files(entry)
	h := sha256.New()
	for _, path := range paths {
		data, err := os.ReadFile(filepath.Join(entry, path))
		if err != nil {
			return "", false
		}
		_, _ = fmt.Fprintf(h, "%s/%s %d\n", name, path, len(data))
		_, _ = h.Write(data)
	}
	return digest.OfHash(h), len(paths) > 0
}

// files returns the paths of wazero's files in an entry, sorted. They are in one directory.
func files(entry string) []string {
	found, _ := fs.Glob(os.DirFS(entry), "*/*")
	return found
}

// sweep removes expired entries, and then the least recently used ones until the others
// have at most maxCache bytes. Another process that uses a removed entry has its code in
// memory, or compiles the module again.
func sweep(dir string) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return
	}
	var all []fs.FileInfo
	for _, e := range entries {
		info, err := e.Info()
		if err != nil {
			continue
		}
		making := strings.HasPrefix(e.Name(), unfinishedPrefix)
		life := entryLife
		if making {
			life = unfinishedLife
		}
		switch {
		case time.Since(info.ModTime()) > life:
			_ = os.RemoveAll(filepath.Join(dir, e.Name()))
		case !making:
			all = append(all, info)
		}
	}
	slices.SortFunc(all, func(a, b fs.FileInfo) int { return b.ModTime().Compare(a.ModTime()) })
	var total int64
	for _, info := range all {
		entry := filepath.Join(dir, info.Name())
		for _, path := range files(entry) {
			if info, err := os.Stat(filepath.Join(entry, path)); err == nil {
				total += info.Size()
			}
		}
		if total > maxCache {
			_ = os.RemoveAll(entry)
		}
	}
}
