#!/bin/sh
# Builds a release for four targets, builds two of them again in another directory, and compares
# the bytes. Then it tries the signature, install.sh, the program on an empty root, and the Debian
# package.
set -eu
cd "$(dirname "$0")/.."
version=v0.0.1
tmp=$(mktemp -d)
trap 'chmod -R u+w "$tmp"; rm -rf "$tmp"' EXIT
ssh-keygen -q -t ed25519 -N '' -C '' -f "$tmp/key"

[ -z "$(git status --porcelain)" ] || echo 'It is built from the last commit, but some files are changed since.'
# To save time, only four targets are built, with the largest program among them, and the fleet
# only for two, which have every kind of archive and package. make cross builds all.
two='targets: [linux_amd64, windows_amd64]'
git clone -q . "$tmp/one"
sed -i 's/^    targets: .*/    targets: [linux_amd64, linux_arm64, darwin_amd64, windows_amd64]/' "$tmp/one/tools/release/goreleaser.yaml"
sed -i "s/^    dir: fleet/&\n    $two/" "$tmp/one/tools/release/goreleaser.yaml"
git clone -q . "$tmp/other"
sed -i "s/^    targets: .*/    $two/" "$tmp/other/tools/release/goreleaser.yaml"
for dir in one other; do
	make -C "$tmp/$dir" release VERSION=$version SIGNING_KEY="$tmp/key"
done
dist=$tmp/one/dist/release
if grep -vxFf "$dist/SHA256SUMS" "$tmp/other/dist/release/SHA256SUMS"; then
	echo 'These differ between directories.'
	exit 1
fi
echo 'Both releases have the same bytes.'
(cd tools/release && go vet . && go test -count=1 .)

mkdir -p "$tmp/page/latest"
ln -s "$dist" "$tmp/page/latest/download"
sh "$dist/install.sh" --url "file://$tmp/page" --dir "$tmp/bin"
PATH=$tmp/bin:$PATH
switchyard version | grep -q "^switchyard $version "

# try runs a round with a program. The exit status of a round depends on the next action.
try() {
	rm -rf "$tmp/project" && mkdir "$tmp/project" && cp testdata/reports/trace.json "$tmp/project"
	(cd "$tmp/project" && "$1" round M001-S001-T0001 --report trace.json) | grep '^researcher '
}
try switchyard

if [ "$(id -u)" != 0 ] || [ "${CI:-}" != true ] || ! command -v dpkg >/dev/null; then
	echo 'SKIP: the Debian package is tried only in CI, as root, on Debian: it is installed and removed.'
	exit
fi
arch=$(dpkg --print-architecture)
# Images of Debian do not install manuals.
dpkg --path-include='/usr/share/man/*' --path-include='/usr/share/doc/*' -i "$dist/switchyard_${version#v}_$arch.deb"
try /usr/bin/switchyard
for file in bash-completion/completions/switchyard zsh/vendor-completions/_switchyard fish/vendor_completions.d/switchyard.fish doc/switchyard/LICENSES.txt; do
	test -s "/usr/share/$file"
done
if command -v man >/dev/null; then
	man -w switchyard switchyard-policy-verify
else
	echo 'SKIP: man is not installed, so that only the files of its pages are looked for.'
	test -s /usr/share/man/man1/switchyard.1.gz
fi
dpkg -r switchyard
test ! -e /usr/bin/switchyard -a ! -e /usr/bin/switchyard-mcp -a ! -e /usr/share/man/man1/switchyard.1.gz
echo 'The Debian package was installed, used and removed.'

mkdir -p "$tmp/root/project" "$tmp/root/tmp"
cp "$tmp/bin/switchyard" "$tmp/root" && cp testdata/reports/trace.json "$tmp/root/project"
chroot "$tmp/root" /switchyard -C /project route --report trace.json | grep '^researcher '
echo 'The program works on an empty root, as in a container FROM scratch.'
