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

// moduleCache is the folder of compiled code. Each module has an entry, a folder of
// its own in which wazero keeps one file, beside a seal: the checksum of that
// file. wazero's own checksum leaves out where functions begin and how much memory
// to ask for, so an entry whose seal does not fit is never shown to it.
//
// An entry is made under a temporary name and renamed when it is complete, and
// never changed: concurrent and interrupted runs see a whole entry or none.
type moduleCache struct{ dir string }

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

// openCache opens the folder of compiled code, creating it for the user alone.
// It returns nil where no folder can be had: a cache saves time and is no
// reason to fail. A folder that others may write to is refused, because its
// content is machine code that would run as the user.
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

// compile takes a module's code from its entry, or compiles it and makes one. It
// fails where the cache does, or the module does not compile.
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
	_ = os.RemoveAll(making) // Where it was not published, as when another process was faster.
	return engine, compiled, err
}

// compileIn compiles with a folder for wazero.
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

// checksum is that of an entry's name, and of the path and the content of the one
// file that wazero has in it.
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

// onlyFile is the path of the one file that wazero has in an entry: in a folder of
// its own, which is the only one there.
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
func (c *moduleCache) sweep() {
	type kept struct {
		name string
		used time.Time
	}
	entries, err := os.ReadDir(c.dir)
	if err != nil {
		return
	}
	var all []kept
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
			all = append(all, kept{e.Name(), info.ModTime()})
		}
	}
	slices.SortFunc(all, func(a, b kept) int { return b.used.Compare(a.used) })
	var total int64
	for _, e := range all {
		entry := filepath.Join(c.dir, e.name)
		if total += entrySize(entry); total > maxCache {
			_ = os.RemoveAll(entry)
		}
	}
}

// entrySize is the size of the code in an entry.
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
