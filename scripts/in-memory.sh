#!/bin/sh
# in-memory.sh COMMAND...
# Runs a command with its temporary files in memory, if Linux has room for them and lets
# programs run there. Tests create thousands of files and sync many of them, so that they wait
# for a disk for much of their time. TMPDIR names another directory.
set -eu
memory=/dev/shm
dir=$memory/test-$(id -u) # always the same, so that the go command finds cached results
free=$(df -k $memory 2>/dev/null | awk 'END { print $4 + 0 }')
if [ -z "${TMPDIR:-}" ] && [ "${free:-0}" -gt 4194304 ] && mkdir -p $dir && [ -O $dir ]; then
	printf '#!/bin/sh\n' >$dir/program && chmod +x $dir/program
	if $dir/program 2>/dev/null; then
		export TMPDIR=$dir # GOTMPDIR would be for what the go command builds, but t.TempDir uses it too
	fi
fi
exec "$@"
