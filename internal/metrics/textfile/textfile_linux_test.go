package textfile_test

import (
	"testing"

	"github.com/switchyard-dev/switchyard/internal/errs"
	"github.com/switchyard-dev/switchyard/internal/metrics/textfile"
)

// TestReadOnlyFolder: nobody can make files in /proc, not even root.
func TestReadOnlyFolder(t *testing.T) {
	t.Parallel()
	if _, err := textfile.Write(t.Context(), "/proc/switchyard.prom", metricsOf(5, 3)); errs.CodeOf(err) != errs.TextfileUnwritable {
		t.Error(err)
	}
}
