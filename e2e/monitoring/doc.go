// Package monitoring tests the metrics of a real project with the programs that users
// monitor it with: Prometheus, node_exporter and the Pushgateway, as packaged by
// Debian.
//
// It contains only tests, and they run only if requested: make e2e, or go test with
// SWITCHYARD_E2E=1. The programs listen on free ports of the loopback interface and
// keep their data in temporary directories. If they are missing, the tests are skipped
// with a message. In CI, that is if the variable CI is true, they are required: the
// gate installs them, and if it cannot, it sets SWITCHYARD_E2E_WITHOUT_MONITORING.
//
// All exporters run at once, on one ledger: metrics serve is scraped, with native
// histograms and exemplars; the text file and the push happen after each command, as
// configured in switchyard.yaml. The values in Prometheus from each exporter are
// checked against metrics print, against the ledger's export, and against the known
// results of the package's workload.
package monitoring
