package main

import "testing"

// TestAmendingPage amends the policy of a new project by following docs/amending.md.
func TestAmendingPage(t *testing.T) {
	t.Parallel()
	follow(t, "docs/amending.md", true, inShell(t, t.TempDir()))
}
