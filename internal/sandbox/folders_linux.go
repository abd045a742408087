//go:build amd64 || arm64

package sandbox

import (
	"os"
	"path/filepath"
)

// systemFolders are readable by every program: they have programs, libraries and settings, but
// no user data.
func systemFolders() []string {
	folders := []string{
		"/bin", "/sbin", "/usr", "/lib", "/lib32", "/lib64", "/libx32", "/opt", "/nix", "/snap", "/run/current-system", "/proc", "/sys", "/dev/fd",
	}
	// The settings of the resolver are often a link to another directory.
	if target, err := filepath.EvalSymlinks("/etc/resolv.conf"); err == nil {
		folders = append(folders, target)
	}
	if os.Geteuid() != 0 {
		return append(folders, "/etc")
	}
	for _, name := range rootSettings() {
		folders = append(folders, "/etc/"+name)
	}
	return folders
}

// rootSettings are the files in /etc that root's processes may read. Root could read all
// others too, such as passwords and private keys.
func rootSettings() []string {
	return []string{
		"alternatives", "bash.bashrc", "ca-certificates", "ca-certificates.conf", "crypto-policies", "debian_version", "environment", "fonts", "gai.conf",
		"gitconfig", "group", "host.conf", "hostname", "hosts", "java", "ld.so.cache", "ld.so.conf", "ld.so.conf.d", "locale.conf", "localtime",
		"machine-id", "magic", "mime.types", "nsswitch.conf", "os-release", "passwd", "perl", "pki/ca-trust", "pki/tls/certs", "profile", "profile.d",
		"protocols", "python3", "redhat-release", "resolv.conf", "services", "shells", "ssl/cert.pem", "ssl/certs", "ssl/openssl.cnf", "terminfo",
		"timezone",
	}
}
