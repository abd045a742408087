package cli

import (
	"os"
	"path/filepath"
)

// CacheVariable is the environment variable that names the directory of compiled plugins.
const CacheVariable = "SWITCHYARD_CACHE_DIR"

// CacheDir returns the directory of compiled plugins, "" for none. It is the user's, never
// one of the project: compiled plugins are machine code, and a repository must not supply
// any.
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
