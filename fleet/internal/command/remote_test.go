package command

import (
	"os/exec"
	"testing"

	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/project"
)

// TestRemoteSecret tests that a home does not start with a remote whose URL is a secret,
// whether it is named or given.
func TestRemoteSecret(t *testing.T) {
	t.Setenv("GIT_CONFIG_GLOBAL", "/dev/null")
	dir := t.TempDir()
	git := func(args ...string) {
		t.Helper()
		if out, err := exec.Command("git", append([]string{"-C", dir}, args...)...).CombinedOutput(); err != nil {
			t.Fatalf("git %q: %v\n%s", args, err, out)
		}
	}
	git("init", "-q")
	git("-c", "user.name=x", "-c", "user.email=x", "commit", "-q", "--allow-empty", "-m", "first")
	git("remote", "add", "origin", ".")
	token := "ghp_" + "0123456789abcdefghijklmnopqrstuvwxyz"
	for url, code := range map[string]errs.Code{
		"https://ada:hunter2@example.org/shop.git":     errs.FleetRemoteSecret,
		"https://ada:hunter2@example.org":              errs.FleetRemoteSecret,
		"https://ada:p@ss@example.org/shop.git":        errs.FleetRemoteSecret,
		"https://ada:100%@example.org/shop.git":        errs.FleetRemoteSecret,
		"https://" + token + "@github.com/a/shop.git":  errs.FleetRemoteSecret,
		"https://an-organization@example.org/shop.git": "",
		"https://example.org:8443/a@b:c/shop.git":      "",
		"ssh://git@example.org:22/shop.git":            "",
		"git@example.org:shop.git":                     "",
		"/srv/git/shop.git":                            "",
	} {
		git("remote", "set-url", "origin", url)
		for _, remote := range []string{"origin", url} {
			_, err := homeQueues(t.Context(), service{}, nil, project.Project{Root: dir}, "shop", remote)
			if got := errs.CodeOf(err); got != code {
				t.Errorf("with the remote %s at %s it gives %v, want %q", remote, url, err, code)
			}
		}
	}
}
