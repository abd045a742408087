package plugins

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"github.com/tetratelabs/wazero"

	"github.com/switchyard-dev/switchyard/internal/errs"
)

// moduleCache is the folder of compiled code. Each module has an entry: a folder with
// one file of wazero's and a seal, the checksum of that file. wazero's own checksum
// does not cover the offsets of functions and the memory size, so wazero never sees
// an entry whose seal does not match.
//
// An entry is made under a temporary name and renamed when it is complete, and
// never changed: concurrent and interrupted runs see a whole entry or none.
type moduleCache struct{ dir string }

const (
	// codeDir is our folder in the cache's folder, which may hold other programs'
	// files.
	codeDir = "switchyard-code"
	// sealFile is the seal in an entry. unfinished is the prefix of entries that are
	// being written.
	sealFile   = "seal"
	unfinished = "new-"

	// An entry is removed if it was not used for entryLife, an unfinished one if it
	// is older than unfinishedLife.
	entryLife      = 30 * 24 * time.Hour
	unfinishedLife = time.Hour
	// useGrain is the precision of an entry's last use.
	useGrain = 24 * time.Hour
	// maxCache bounds the size of all entries, in bytes. The built-in plugins take 2 MiB.
	maxCache = 64 << 20
)

// openCache opens the folder of compiled code, creating it for the user alone. It
// returns nil if that fails: a command works without a cache. A folder that other
// users can write to is refused, because its content is machine code that would run
// as this user.
func openCache(dir string) (*moduleCache, error) {
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
			return nil, errs.New(errs.PluginCacheUnsafe, "the cache of compiled plugins can be written by others: %s", d).With("path", d)
		}
	}
	return &moduleCache{dir: code}, nil
}

// compile reads a module's code from its entry, or compiles it and writes an entry.
// It fails if the cache cannot be used or the module does not compile.
func (c *moduleCache) compile(ctx context.Context, wasm []byte) (*engine, wazero.CompiledModule, error) {
	name := entryName(wasm)
	entry := filepath.Join(c.dir, name)
	if sum, ok := checksum(name, entry); ok && isSealed(entry, sum) {
		touch(entry)
		return compileIn(ctx, entry, wasm)
	}
	_ = os.RemoveAll(entry) // It is damaged, or was never there.
	c.sweep()
	making, err := os.MkdirTemp(c.dir, unfinished)
	if err != nil {
		return nil, nil, err
	}
	engine, compiled, err := compileIn(ctx, making, wasm)
	if err == nil {
		publish(name, making, entry)
	}
	_ = os.RemoveAll(making) // It still exists if it was not published, as when another process was faster.
	return engine, compiled, err
}

// compileIn compiles a module with dir as wazero's cache.
func compileIn(ctx context.Context, dir string, wasm []byte) (*engine, wazero.CompiledModule, error) {
	cache, err := wazero.NewCompilationCacheWithDir(dir)
	if err != nil {
		return nil, nil, err
	}
	e := newEngine(ctx, wazero.NewRuntimeConfigCompiler(), cache)
	compiled, err := e.compile(ctx, wasm)
	if err != nil {
		_ = e.close(ctx)
		return nil, nil, err
	}
	return e, compiled, nil
}

// entryName returns the name of a module's entry. It covers everything that the code
// depends on, except for the processor, which wazero checks itself.
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

// publish seals a finished entry and renames it to its final name.
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

// checksum returns the checksum of an entry's name, and of the path and content of
// wazero's file in it.
func checksum(name, entry string) (string, bool) {
	path, ok := onlyFile(entry)
	if !ok {
		return "", false
	}
	data, err := os.ReadFile(filepath.Join(entry, path))
	if err != nil {
		return "", false
	}
	h := sha256.New()
	_, _ = io.WriteString(h, name+"/"+filepath.ToSlash(path)+"\n")
	_, _ = h.Write(data)
	return hex.EncodeToString(h.Sum(nil)), true
}

// onlyFile returns the path of wazero's one file in an entry. It lies in the entry's
// only subfolder.
func onlyFile(entry string) (string, bool) {
	var path string
	beside, err := os.ReadDir(entry)
	if err != nil {
		return "", false
	}
	for _, d := range beside {
		if d.Name() == sealFile {
			continue
		}
		files, err := os.ReadDir(filepath.Join(entry, d.Name()))
		if err != nil || len(files) != 1 || path != "" {
			return "", false
		}
		path = filepath.Join(d.Name(), files[0].Name())
	}
	return path, path != ""
}

// touch updates the time of an entry's last use.
func touch(entry string) {
	now := time.Now()
	if info, err := os.Stat(entry); err == nil && now.Sub(info.ModTime()) > useGrain {
		_ = os.Chtimes(entry, now, now)
	}
}

// sweep removes entries that were not used for entryLife, and then the least recently
// used ones until at most maxCache is left. Another process that uses a removed entry
// has its code in memory, or compiles the module again.
func (c *moduleCache) sweep() {
	type entry struct {
		name string
		used time.Time
	}
	entries, err := os.ReadDir(c.dir)
	if err != nil {
		return
	}
	var all []entry
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
			_ = os.RemoveAll(filepath.Join(c.dir, e.Name()))
		case !making:
			all = append(all, entry{e.Name(), info.ModTime()})
		}
	}
	slices.SortFunc(all, func(a, b entry) int { return b.used.Compare(a.used) })
	var total int64
	for _, e := range all {
		entry := filepath.Join(c.dir, e.name)
		if total += entrySize(entry); total > maxCache {
			_ = os.RemoveAll(entry)
		}
	}
}

// entrySize returns the size of an entry's code, in bytes.
func entrySize(entry string) int64 {
	path, ok := onlyFile(entry)
	if !ok {
		return 0
	}
	info, err := os.Stat(filepath.Join(entry, path))
	if err != nil {
		return 0
	}
	return info.Size()
}
