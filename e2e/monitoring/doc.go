// Package monitoring shows the metrics of a real project to the programs that people
// watch them with: Prometheus, node_exporter and the Pushgateway, as Debian has them.
//
// It has tests alone, for those who ask: make e2e, or go test with SWITCHYARD_E2E=1.
// The programs listen on free ports of the loopback interface and keep what they keep
// in temporary folders. Where they are missing the tests are skipped and say so. In
// CI, that is where the variable CI is true, they must be there: the gate installs
// them, and where it cannot, it says so in SWITCHYARD_E2E_WITHOUT_MONITORING.
//
// All ways out are open at once, for one ledger: metrics serve is scraped, with native
// histograms and exemplars; the text file and the push happen after each command, as
// switchyard.yaml has it. What Prometheus then knows by each way is held against
// metrics print, against the ledger's export, and against what the workload of this
// package comes to by its construction.
package monitoring
