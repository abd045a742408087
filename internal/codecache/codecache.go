// Package codecache keeps the machine code of WebAssembly modules on disk between
// runs. Each module has an entry, a folder in which wazero keeps its files, beside
// a seal: the checksum of those files. wazero's own checksum leaves out where
// functions begin and how much memory to ask for, so an entry whose seal does not
// fit is never shown to it.
//
// An entry is made under a temporary name and renamed when it is complete, and
// never changed: concurrent and interrupted runs see a whole entry or none.
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
	"time"

	"github.com/tetratelabs/wazero"

	"github.com/switchyard-dev/switchyard/internal/digest"
	"github.com/switchyard-dev/switchyard/internal/errs"
)

const (
	// codeDir is the folder of our own in the cache's folder: what lies beside it
	// may be somebody else's.
	codeDir = "switchyard-code"
	// sealFile is the seal in an entry, and unfinished begins the name of one that
	// is being made.
	sealFile   = "seal"
	unfinished = "new-"

	// An entry that nobody used for so long is removed, as those of other versions
	// are in time, and one that was not finished for so long was abandoned.
	entryLife      = 30 * 24 * time.Hour
	unfinishedLife = time.Hour
	// useGrain is how exactly an entry's last use is known.
	useGrain = 24 * time.Hour
	// maxCache is how many bytes all entries may have. The built-in plugins have 2 MiB.
	maxCache = 64 << 20
)

// Compile calls compile with a cache on disk below dir, in which it finds the code
// of wasm if an earlier call made it. Everything that compile compiles must follow
// from wasm. On success the cache is compile's to close.
//
// A cache saves time and is no reason to fail: if no folder can be had, the entry is
// damaged beyond repair or compile fails with it, ok is false and the caller compiles
// without a cache.
//
// # Errors
//
// plugin-cache-unsafe: others may write to the folder, whose content is machine code
// that would run as the user.
func Compile(ctx context.Context, dir string, wasm []byte, compile func(wazero.CompilationCache) error) (ok bool, err error) {
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
		if !info.IsDir() || !private(info) {
			return false, errs.New(errs.PluginCacheUnsafe, "the cache of compiled plugins can be written by others: %s", d).With("path", d)
		}
	}
	name := entryName(wasm)
	entry := filepath.Join(code, name)
	if sum, ok := checksum(name, entry); ok && isSealed(entry, sum) {
		touch(entry)
		return compileIn(ctx, entry, compile) == nil, nil
	}
	_ = os.RemoveAll(entry) // It is damaged, or was never there.
	sweep(code)
	making, err := os.MkdirTemp(code, unfinished)
	if err != nil {
		return false, nil
	}
	err = compileIn(ctx, making, compile)
	if err == nil {
		publish(name, making, entry)
	}
	_ = os.RemoveAll(making) // If it was not published, as when another process was faster.
	return err == nil, nil
}

// compileIn compiles with a folder for wazero. A damaged entry can make wazero panic.
func compileIn(ctx context.Context, dir string, compile func(wazero.CompilationCache) error) (err error) {
	cache, err := wazero.NewCompilationCacheWithDir(dir)
	if err != nil {
		return err
	}
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

// entryName is what an entry is called: after everything that its code depends
// on, except for the processor, which wazero looks at itself.
func entryName(wasm []byte) string {
	h := sha256.New()
	_, _ = io.WriteString(h, runtime.GOOS+"/"+runtime.GOARCH+" wazero "+wazeroVersion()+"\n")
	_, _ = h.Write(wasm)
	return hex.EncodeToString(h.Sum(nil))
}

// wazeroVersion is the version that this program was built with.
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

// publish seals what wazero made and puts it in its place.
func publish(name, making, entry string) {
	sum, ok := checksum(name, making)
	if !ok || os.WriteFile(filepath.Join(making, sealFile), []byte(sum), 0o600) != nil {
		return
	}
	_ = os.Rename(making, entry)
}

// isSealed reports whether an entry's seal holds its checksum.
func isSealed(entry, sum string) bool {
	seal, err := os.ReadFile(filepath.Join(entry, sealFile))
	return err == nil && string(seal) == sum
}

// checksum is that of an entry's name, and of the paths and the content of wazero's
// files in it.
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

// files are the paths of wazero's files in an entry, sorted. They are in one folder.
func files(entry string) []string {
	found, _ := fs.Glob(os.DirFS(entry), "*/*")
	return found
}

// touch notes that an entry is in use.
func touch(entry string) {
	now := time.Now()
	if info, err := os.Stat(entry); err == nil && now.Sub(info.ModTime()) > useGrain {
		_ = os.Chtimes(entry, now, now)
	}
}

// sweep removes what was not used for long, and of the rest what was used the longest
// time ago, until no more than maxCache is left. Another process that uses such an
// entry has its code in memory, or compiles the module again.
func sweep(dir string) {
	type stored struct {
		name string
		used time.Time
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return
	}
	var all []stored
	for _, e := range entries {
		info, err := e.Info()
		if err != nil {
			continue
		}
		making := strings.HasPrefix(e.Name(), unfinished)
		life := entryLife
		if making {
			life = unfinishedLife
		}
		switch {
		case time.Since(info.ModTime()) > life:
			_ = os.RemoveAll(filepath.Join(dir, e.Name()))
		case !making:
			all = append(all, stored{e.Name(), info.ModTime()})
		}
	}
	slices.SortFunc(all, func(a, b stored) int { return b.used.Compare(a.used) })
	var total int64
	for _, e := range all {
		entry := filepath.Join(dir, e.name)
		if total += entrySize(entry); total > maxCache {
			_ = os.RemoveAll(entry)
		}
	}
}

// entrySize is the size of the code in an entry.
func entrySize(entry string) int64 {
	var size int64
	for _, path := range files(entry) {
		if info, err := os.Stat(filepath.Join(entry, path)); err == nil {
			size += info.Size()
		}
	}
	return size
}
