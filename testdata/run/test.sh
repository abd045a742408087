# Uploads with a curl that fails the first two times.
set -eu
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
printf '#!/bin/sh\necho try >>"%s/tries"\ntest "$(wc -l <"%s/tries")" -ge 3\n' "$dir" "$dir" >"$dir/curl"
chmod +x "$dir/curl"
PATH=$dir:$PATH PAUSE=0 sh upload.sh file
