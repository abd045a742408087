package textfile_test

import (
	"testing"

	"github.com/switchyard-dev/switchyard/internal/errs"
)

// TestReadOnlyFolder uses /proc, where not even root can create files.
func TestReadOnlyFolder(t *testing.T) {
	t.Parallel()
	if _, err := writeMetrics(t.Context(), "/proc/switchyard.prom", metricsOf(5, 3)); errs.CodeOf(err) != errs.TextfileUnwritable {
		t.Error(err)
	}
}
