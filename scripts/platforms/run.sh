#!/bin/sh
# run.sh [arm64|windows|native]
# Runs tests of the program and of its packages on other platforms: on linux/arm64 with QEMU,
# and on windows/amd64 with Wine. It prints the platforms that it skips because QEMU or Wine is
# missing.
set -eu
cd "$(dirname "$0")/../.."
work=$(mktemp -d)
export CGO_ENABLED=0 GOGC=400

# Packages that depend on the platform: files, locks, paths, generated machine code, and
# computations with numbers and bytes.
packages='finding task counters digest event errs compactjson jsonscan hook stats render
	plugin/document policy/adr policy/inputspace policy/regotest policy/replay'
# The scripts of cmd/switchyard that need no other programs.
scripts='platform.*|route-(text|merge|json|sarif|verify|unknown|exit-code)|round-(cap|next)|status|explain|findings
	|ledger-(verify|archive|older)|metrics-print|answer-(question|expiry)|policy-configured|plugin-list|usage|version'

list() { printf './internal/%s ' $packages; }
scripts=$(printf %s "$scripts" | tr -d '\n\t')
commands="^(TestScripts|TestLedgersOfEverySchema|TestManyProcessesOneTask)\$/^($scripts|init|doctor-broken|schema-.*)\$"
# In QEMU a program starts slowly, and only its machine code differs. It sometimes hangs when a
# program with threads starts another. Nothing here does, but for doctor, which is tried again.
emulated='platform.*|route-(text|merge)|round-next|findings|ledger-verify|policy-configured|version'

arm64() {
	command -v qemu-aarch64 >/dev/null || { echo 'skipped linux/arm64: no qemu-aarch64 (Debian: qemu-user)'; return; }
	echo 'linux/arm64, by QEMU'
	GOARCH=arm64 go build -o "$work/switchyard" ./cmd/switchyard
	SWITCHYARD_RUNNER="qemu-aarch64 $work/switchyard" go test -vet=off -timeout 60m -count=1 -run "^TestScripts\$/^($emulated)\$" ./cmd/switchyard
	mkdir "$work/empty"
	tries=3
	until timeout -s KILL 60 qemu-aarch64 "$work/switchyard" -C "$work/empty" doctor; do
		tries=$((tries - 1))
		[ $tries -gt 0 ]
	done
	GOARCH=arm64 go test -vet=off -timeout 60m -short -exec qemu-aarch64 $(list) ./internal/policy/opawasm
}

windows() {
	wine=/usr/lib/wine/wine64
	[ -x $wine ] && command -v x86_64-w64-mingw32-gcc >/dev/null ||
		{ echo 'skipped windows/amd64: no Wine (Debian: wine64, gcc-mingw-w64-x86-64)'; return; }
	echo 'windows/amd64, by Wine'
	export WINEPREFIX="$work/wine" WINEDEBUG=-all WINEDLLOVERRIDES='bcryptprimitives=n;mscoree=;mshtml='
	trap '/usr/lib/wine/wineserver64 -k || true; rm -rf "$work"' EXIT
	for _ in 1 2 3; do # Wine sometimes fails to create its directory.
		timeout 300 $wine cmd /c exit >/dev/null 2>&1 && break
		rm -rf "$WINEPREFIX"
	done
	x86_64-w64-mingw32-gcc -O1 -Wall -shared -o "$WINEPREFIX/drive_c/windows/system32/bcryptprimitives.dll" scripts/platforms/bcryptprimitives.c -ladvapi32
	GOOS=windows go build -o "$work/fakeagent.exe" ./internal/agent/fakeagent/fakeagent
	export GOOS=windows SWITCHYARD_FAKE_PROGRAM="Z:$work/fakeagent.exe"
	tries=2 # Wine sometimes fails to start a program. Then the tests run again.
	until go test -vet=off -timeout 60m -count=1 -exec $wine -run "$commands" ./cmd/switchyard >"$work/log" 2>&1; do
		cat "$work/log"
		grep -q 'fork/exec .*: Internal error' "$work/log"
		tries=$((tries - 1))
		[ $tries -gt 0 ]
	done
	cat "$work/log"
	go test -vet=off -timeout 60m -short -exec $wine $(list) ./internal/agent/lease ./internal/policy/opawasm
}

# native tests the same on this system.
native() {
	go test -timeout 60m -count=1 -run "$commands" ./cmd/switchyard
	go test -timeout 60m -short $(list) ./internal/agent/lease ./internal/policy/opawasm
}

trap 'rm -rf "$work"' EXIT
case ${1:-all} in
all)
	arm64
	windows
	;;
*) "$1" ;;
esac
