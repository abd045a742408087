package monitoring

import (
	"os"
	"os/exec"
	"runtime"
	"testing"
)

const (
	enableVariable = "SWITCHYARD_E2E"
	// withoutVariable is set if the programs cannot be installed here.
	withoutVariable = "SWITCHYARD_E2E_WITHOUT_MONITORING"
)

// programs are the paths of the programs that the tests run.
type programs struct{ prometheus, promtool, nodeExporter, gateway string }

// needPrograms skips a test unless it is enabled and its programs are installed.
func needPrograms(t *testing.T) programs {
	t.Helper()
	if os.Getenv(enableVariable) == "" {
		t.Skip("end-to-end tests run for those who ask: set " + enableVariable + "=1, or run make e2e")
	}
	if runtime.GOOS == "windows" {
		t.Skip("the fake agent needs signals")
	}
	// Debian's names first, then upstream's.
	return programs{
		prometheus:   find(t, "prometheus"),
		promtool:     find(t, "promtool"),
		nodeExporter: find(t, "prometheus-node-exporter", "node_exporter"),
		gateway:      find(t, "prometheus-pushgateway", "pushgateway"),
	}
}

// find returns the path of a program by one of its names.
func find(t *testing.T, names ...string) string {
	t.Helper()
	for _, name := range names {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	if os.Getenv("CI") == "true" && os.Getenv(withoutVariable) == "" {
		t.Fatalf("%s is missing, and .ci/run installs it", names[0])
	}
	t.Skipf("%s is missing: install the packages prometheus, prometheus-node-exporter and prometheus-pushgateway", names[0])
	return ""
}
