# Switchyard. make help lists the targets.

GO      ?= go
BIN     := bin/switchyard
# Functions of these packages are not inlined, which makes the binary 1 MB smaller. It is not
# slower: they run once, or only in servers.
COLD    := crypto/tls crypto/x509 github.com/DataDog/... github.com/lestrrat-go/... github.com/open-policy-agent/opa/internal/... \
	github.com/open-policy-agent/opa/v1/bundle github.com/open-policy-agent/opa/v1/compile github.com/open-policy-agent/opa/v1/format \
	github.com/open-policy-agent/opa/v1/tester github.com/prometheus/... github.com/sirupsen/... github.com/spf13/... \
	github.com/switchyard-dev/switchyard/cmd/... github.com/switchyard-dev/switchyard/host/internal/doctor \
	github.com/switchyard-dev/switchyard/internal/project github.com/switchyard-dev/switchyard/internal/render \
	github.com/switchyard-dev/switchyard/internal/stats github.com/switchyard-dev/switchyard/metrics/... github.com/vektah/... go.yaml.in/... google.golang.org/protobuf/... net/http
TOOL    := $(GO) tool -modfile=tools/go.mod
# The time-out is for tests that hang. Slow machines do not reach it. Tests do
# not vet their packages, since make vet does.
TEST    := $(GO) test -vet=off -timeout 60m
MEMORY  := scripts/in-memory.sh
GUESTS  := plugins/builtin
SAMPLES := plugins/sdk/examples
# The fleet is a separate module.
FLEET   := cd fleet &&
COMMA   := ,
# Depguard matches its patterns against whole paths. A checkout may be below a directory that is
# named host or internal, so the patterns begin with the module's directory here.
DEPGUARD = mkdir -p bin/depguard && sed "s|\(\"!*\)\*\*/|\1$$PWD/{**/,}|g" .depguard.yaml >bin/depguard/.depguard.yaml && \
	cd bin/depguard && $(GO) tool -modfile=$(CURDIR)/tools/go.mod depguard ../../...
# Programs, tests and tools are compiled with the same options, so that each package is compiled
# once. Without paths in them, a checkout in another directory finds all packages in the cache.
# Without tables for debuggers, compiling takes a sixth less time, and linking a fifth.
export GOFLAGS += -trimpath '-ldflags=-s -w' -gcflags=all=-dwarf=false $(COLD:%='-gcflags=%=-dwarf=false -l')
export CGO_ENABLED = 0
TARGETS := linux/amd64 linux/arm64 darwin/amd64 darwin/arm64 windows/amd64 windows/arm64

.DEFAULT_GOAL := help
.PHONY: help build mcp fleet temporal demo fleet-demo test test-exhaustive e2e race bench bench-report fuzz opa reviewdog policies check format vet lint tidy guests guests-check cross platforms man site vuln release release-check clean

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## / { printf "  %-16s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

# A copy starts a tenth faster than the linker's file: it is cached in larger pieces.
build: ## build bin/switchyard
	$(GO) build -o $(BIN).linked ./cmd/switchyard
	cp $(BIN).linked $(BIN).new && mv $(BIN).new $(BIN) && rm $(BIN).linked

mcp: ## build bin/switchyard-mcp, which switchyard mcp runs
	$(GO) build -o bin/switchyard-mcp ./cmd/switchyard-mcp

fleet: ## build bin/switchyard-fleet
	$(FLEET) $(GO) build -o ../bin/switchyard-fleet ./cmd/switchyard-fleet

temporal: bin/temporal ## build bin/temporal, the Temporal server of tests and trials, which takes minutes

bin/temporal: fleet/tools/go.mod
	cd fleet/tools && $(GO) build -o ../../bin/temporal github.com/temporalio/cli/cmd/temporal

demo: build ## show a whole run in a temporary project
	@$(BIN) demo

fleet-demo: build fleet temporal ## run tasks on a fleet of processes, and kill some of them
	$(GO) build -o bin/fakeagent ./internal/agent/fakeagent/fakeagent
	@sh scripts/fleet-demo.sh bin/switchyard-fleet $(BIN) bin/fakeagent bin/temporal testdata

# Collecting less often takes a sixth off the time of compilers and tests alike.
test race e2e check platforms: export GOGC = 400
test: ## run the tests, with a sample of the cases if there are many
	$(MEMORY) $(TEST) ./...
	$(FLEET) ../$(MEMORY) $(TEST) ./...
	cd fleet/tools && $(TEST) -count=1 ./... # They read files of another module, which the cache ignores.

test-exhaustive: export SWITCHYARD_EXHAUSTIVE = 1
test-exhaustive: test ## run the tests with all of their cases: kills before every write, room for every page, every damage

# The fleet's packages here need a server. make test runs the others.
e2e: temporal ## run whole rounds with real agent CLIs from npm, watch metrics with a real Prometheus, and run the fleet on a real Temporal
	SWITCHYARD_E2E=1 $(TEST) -count=1 -p 1 ./e2e/...
	$(FLEET) SWITCHYARD_TEMPORAL=$(CURDIR)/bin/temporal $(TEST) -count=1 -p 1 ./e2e ./internal/command ./internal/flow ./internal/metrics

# Only packages that start goroutines are tested. Packages that only hold locks are covered by the
# tests of those that call them. The packages of host/internal are tested in host, which also covers
# the code that the scripts run. SQLite is translated from C, with locks of its own: to watch it
# multiplies the time of every test with a ledger.
RACE := CGO_ENABLED=1 $(TEST) -race -short '-gcflags=modernc.org/...=-dwarf=false -race=false -d=checkptr=0'
race: ## run the tests of concurrent packages under the race detector
	$(RACE) -skip '^TestScripts$$' ./host $$(grep -rlE --include='*.go' --exclude='*_test.go' --exclude-dir=fleet '\<go (func|[a-z.]+\()|sync\.WaitGroup' . | xargs -n1 dirname | sort -u)
	$(FLEET) $(RACE) ./...

bench: build ## measure the decision, the merge, a guest call, the ledger, a scrape and the whole process
	$(GO) test -run '^$$' -bench . -benchmem ./host/... ./internal/... ./metrics/... ./plugins/... ./spawner/...
	$(GO) test -run '^$$' -bench . -benchtime 40x ./cmd/switchyard
	$(FLEET) $(GO) test -run '^$$' -bench . -benchtime 1x ./internal/worker

# The version of conftest is fixed here, so that it needs no module of its own.
bench-report: build temporal ## measure whole processes beside other programs, and write docs/performance.md; takes ten minutes, and 7 GB of disk
	$(GO) build -o bin/empty ./host/internal/performance/empty
	$(GO) build -modfile=tools/go.mod -o bin/opa github.com/open-policy-agent/opa
	$(GO) build -modfile=tools/go.mod -o bin/reviewdog github.com/reviewdog/reviewdog/cmd/reviewdog
	GOBIN=$(CURDIR)/bin $(GO) install github.com/open-policy-agent/conftest@v0.71.1
	$(GO) run ./host/internal/performance

fuzz: ## run each fuzz test for 30 seconds
	@set -e; for file in $$(git grep -l '^func Fuzz' -- '*_test.go'); do \
		for name in $$(sed -n 's/^func \(Fuzz[A-Za-z]*\)(.*/\1/p' $$file); do \
			$(GO) test -run '^$$' -fuzz "^$$name$$" -fuzztime 30s -fuzzminimizetime 1x ./$${file%/*}; done; done

opa: ## check bundles against the real opa command, built from tools/go.mod
	CGO_ENABLED=1 $(GO) build -modfile=tools/go.mod -tags opa_wasm -o bin/opa github.com/open-policy-agent/opa
	SWITCHYARD_OPA=$(CURDIR)/bin/opa $(TEST) -count=1 -run OPACommand ./internal/policy/routing

reviewdog: ## let the real reviewdog command read our findings, built from tools/go.mod
	$(GO) build -modfile=tools/go.mod -o bin/reviewdog github.com/reviewdog/reviewdog/cmd/reviewdog
	SWITCHYARD_REVIEWDOG=$(CURDIR)/bin/reviewdog $(TEST) -count=1 -run Reviewdog ./internal/findingformat

policies: build ## check every version of the policy against its record, and exhaustively
	$(BIN) policy lint --ledger policies/testdata/recorded.jsonl
	$(BIN) policy verify --all

check: format vet lint tidy policies opa reviewdog test race guests-check site vuln release-check ## run all checks that must pass before a commit lands

format:
	@unformatted=$$(gofmt -l $$(git ls-files '*.go')); test -z "$$unformatted" || { echo "not gofmt-ed: $$unformatted"; exit 1; }

vet:
	$(GO) vet ./...
	$(FLEET) $(GO) vet ./... && cd tools && $(GO) vet ./...

lint: ## run staticcheck, and check imports, the determinism of workflows, and the workflows of .github
	$(TOOL) actionlint
	$(TOOL) staticcheck ./...
	$(DEPGUARD)
	$(FLEET) $(GO) tool -modfile=../tools/go.mod staticcheck ./...
	$(FLEET) $(DEPGUARD)
	$(FLEET) $(GO) tool -modfile=tools/go.mod workflowcheck ./internal/flow

tidy:
	$(GO) mod tidy -diff
	$(GO) mod verify
	$(FLEET) $(GO) mod tidy -diff && $(GO) mod verify

# If the network does not reach the database, the check is skipped.
vuln: ## look for known vulnerabilities in the functions that the programs call
	$(GO) build -modfile=tools/go.mod -o bin/govulncheck golang.org/x/vuln/cmd/govulncheck
	@for module in . fleet; do \
		(cd $$module && $(CURDIR)/bin/govulncheck $(VULNFLAGS) ./...) 2>bin/vuln.err && continue; cat bin/vuln.err; \
		grep -q 'fetching vulnerabilities' bin/vuln.err || exit 1; echo "$$module: not looked at, since the database cannot be reached"; done

guests: ## rebuild the WebAssembly guests and samples from their sources (needs Node.js)
	cd $(GUESTS) && npm ci && npm run build
	node $(SAMPLES)/build.mjs

guests-check: ## check the committed guests against their sources
	cd $(GUESTS) && npm ci && npm run check
	node $(SAMPLES)/build.mjs --check

cross: ## build for every platform
	@set -e; for t in $(TARGETS); do echo "build $$t"; \
		export GOOS=$${t%/*} GOARCH=$${t#*/}; $(GO) build -o /dev/null ./cmd/switchyard; $(GO) build -o /dev/null ./cmd/switchyard-mcp; \
		($(FLEET) $(GO) build -o /dev/null ./cmd/switchyard-fleet); done

platforms: ## run the program and its packages' tests on linux/arm64 (QEMU) and windows/amd64 (Wine)
	sh scripts/platforms/run.sh

man: ## write the manual pages to dist/man
	SWITCHYARD_MAN=$(CURDIR)/dist/man $(GO) test -count=1 -run '^TestManPages$$' ./cmd/switchyard

site: ## write the documentation as a static site to dist/site (needs Node.js)
	rm -rf site/commands
	SWITCHYARD_COMMANDS=$(CURDIR)/site/commands $(GO) test -count=1 -run '^TestCommandPages$$' ./cmd/switchyard
	cd site && npm ci && npx vitepress build

# The other files of a release are made in bin/release.
release: export GORELEASER_CURRENT_TAG = $(VERSION)
release: build ## build a release in dist/release: make release VERSION=v1.0.0 SIGNING_KEY=FILE; without a key it is not signed
	@test -n '$(VERSION)' || { echo 'name the version: make release VERSION=v1.0.0'; exit 1; }
	@git diff --quiet HEAD || echo 'Files are changed since the commit that the release will name.'
	rm -rf bin/release && mkdir -p bin/release/man.gz bin/release/completions
	SWITCHYARD_MAN=$(CURDIR)/bin/release/man $(GO) test -count=1 -run '^TestManPages$$' ./cmd/switchyard
	for page in bin/release/man/*; do gzip -9n <$$page >bin/release/man.gz/$${page##*/}.gz || exit; done
	$(FLEET) $(GO) build -o ../bin/release/switchyard-fleet ./cmd/switchyard-fleet
	for shell in bash zsh fish powershell; do \
		$(BIN) completion $$shell >bin/release/completions/switchyard.$$shell && \
		bin/release/switchyard-fleet completion $$shell >bin/release/completions/switchyard-fleet.$$shell || exit; done
	key=$(if $(SIGNING_KEY),"$$(cut -d' ' -f1,2 '$(SIGNING_KEY).pub')",none) && \
		sed "s|^key=none|key='$$key'|" scripts/install.sh >bin/release/install.sh && \
		sed "s|^.key = 'none'|\$$key = '$$key'|" scripts/install.ps1 >bin/release/install.ps1
	cd tools/release && $(GO) run . -root ../.. -out ../../bin/release -version $(VERSION)
	SIGNING_KEY='$(SIGNING_KEY)' $(GO) tool -modfile=tools/release/go.mod goreleaser release \
		--config tools/release/goreleaser.yaml --clean --parallelism 2 --release-notes bin/release/notes.md \
		--skip validate,publish,announce$(if $(SIGNING_KEY),,$(COMMA)sign)
	cp bin/release/install.* scripts/Containerfile dist/release
	@$(if $(SIGNING_KEY),:,echo 'It is not signed: its installers refuse to install it. SIGNING_KEY=FILE names an SSH key.')

# It also tries the Debian package, as root on Debian.
release-check: ## build a release, build a part again in another directory, compare the bytes, and try the programs
	sh scripts/release-check.sh

clean: ## remove all files of the build
	rm -rf bin fleet/bin dist site/commands site/node_modules $(GUESTS)/node_modules $(SAMPLES)/*/node_modules
