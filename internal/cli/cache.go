package cli

import (
	"os"
	"path/filepath"
)

// CacheVariable is the environment variable that names the directory of compiled plugins.
const CacheVariable = "SWITCHYARD_CACHE_DIR"

// CacheDir returns the directory of compiled plugins, or "" to compile without a cache. It
// belongs to the user and is never in the project: compiled plugins are machine code, which
// a repository must not supply.
func CacheDir() string {
	if dir := os.Getenv(CacheVariable); dir != "" {
		return dir
	}
	dir, err := os.UserCacheDir()
	if err != nil {
		return ""
	}
	return filepath.Join(dir, "switchyard", "plugins")
}
