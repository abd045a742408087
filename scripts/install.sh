#!/bin/sh
# Installs switchyard on Linux and macOS:
#
#   sh install.sh [--version v1.0.0] [--dir ~/.local/bin] [--url URL]
#
# By default it installs the latest release. It verifies the checksum of an archive and the
# signature of the checksums before it runs or installs a program. docs/releases.md has the
# same steps by hand.
set -u

# The public key of releases. make release writes it. A copy without it refuses to install.
key=none

main() {
	url=https://github.com/switchyard-dev/switchyard/releases version='' dir=''
	while [ $# -gt 0 ]; do
		case $1 in
		--version | --dir | --url) [ $# -gt 1 ] || fail "$1 needs a value" ;;
		*) fail "unknown argument $1: there are --version VERSION, --dir DIR and --url URL" ;;
		esac
		case $1 in
		--version) version=v${2#v} ;;
		--dir) dir=$2 ;;
		--url) url=${2%/} ;;
		esac
		shift 2
	done
	[ "$key" != none ] || fail "this copy of install.sh has no key to verify releases with: take that of a release, $url"
	find_platform
	find_tools
	[ -n "$dir" ] || dir=${HOME:?is not set: name a directory with --dir}/.local/bin
	for program in switchyard switchyard-mcp; do
		[ ! -d "$dir/$program" ] || fail "$dir/$program is a directory: name another one with --dir"
	done
	# The download is next to its destination, since a rename within a file system is atomic.
	if ! mkdir -p "$dir" 2>/dev/null || ! tmp=$(mktemp -d "$dir/.switchyard.XXXXXX" 2>/dev/null); then
		fail "cannot write to $dir: name a directory that you can write to with --dir"
	fi
	trap 'rm -rf "$tmp"' EXIT
	trap 'exit 1' HUP INT TERM
	dir=$(CDPATH='' cd "$dir" && pwd) || fail "cannot find the directory" # As it is in PATH.

	from=$url/latest/download
	[ -z "$version" ] || from=$url/download/$version
	download SHA256SUMS
	download SHA256SUMS.sig
	verify_signature
	name=$(awk -v end="_$platform.tar.gz" '$2 ~ /^switchyard_/ && substr($2, length($2) - length(end) + 1) == end { print $2 }' "$tmp/SHA256SUMS")
	released=v${name#switchyard_}
	released=${released%"_$platform.tar.gz"}
	[ -n "$name" ] || fail "this release has nothing for $platform: $advice"
	[ -z "$version" ] || [ "$version" = "$released" ] || fail "$from is not $version but $released"
	download "$name"
	[ "$(sha256 "$tmp/$name")" = "$(awk -v name="$name" '$2 == name { print $1 }' "$tmp/SHA256SUMS")" ] ||
		fail "$name has another checksum than SHA256SUMS says: it is damaged or not ours"
	tar -xzf "$tmp/$name" -C "$tmp" || fail "cannot unpack $name"
	new=$tmp/${name%.tar.gz}
	"$new/switchyard" version >"$tmp/version" || fail "$released does not run here"

	old=
	[ ! -e "$dir/switchyard" ] || old=$("$dir/switchyard" version 2>/dev/null | awk 'NR == 1 { print $2 }')
	had=$([ -e "$dir/switchyard" ] && echo yes)
	mv -f "$new/switchyard-mcp" "$dir/" && mv -f "$new/switchyard" "$dir/" || fail "cannot write to $dir"
	case $had,$old in
	,) echo "installed switchyard $released in $dir" ;;
	yes,"$released") echo "installed switchyard $released in $dir again" ;;
	*) echo "replaced switchyard ${old:-of an unknown version} by $released in $dir" ;;
	esac
	case :$PATH: in
	*:"$dir":*) ;;
	*) echo "Your PATH does not have it. Add this line to ~/.profile:
  export PATH=\"$dir:\$PATH\"" ;;
	esac
	command -v git >/dev/null || echo "It needs git for most of what it does, which is not installed."
}

fail() {
	echo "install.sh: $1" >&2
	echo "Nothing was installed." >&2
	exit 1
}

advice="with Go, run go install github.com/switchyard-dev/switchyard/cmd/switchyard@latest"

# find_platform sets platform to the name of the system and processor in archives. The
# programs are static, so they do not depend on a C library.
find_platform() {
	system=$(uname -s) machine=$(uname -m) kernel=$(uname -r)
	major=${kernel%%.*}
	minor=${kernel#*.}
	minor=${minor%%[!0-9]*}
	case $system in
	Linux) [ "$major" -gt 3 ] || { [ "$major" = 3 ] && [ "$minor" -ge 2 ]; } ||
		fail "the kernel is Linux $kernel, but programs of Go need 3.2 or later: update the system" ;;
	Darwin) [ "$major" -ge 21 ] || fail "the kernel is Darwin $kernel, but programs of Go need macOS 12 or later: update the system" ;;
	MINGW* | MSYS* | CYGWIN*) fail "on Windows, run install.ps1 in PowerShell" ;;
	*) fail "there are no releases for $system: $advice" ;;
	esac
	case $machine in
	x86_64 | amd64) machine=amd64 ;;
	aarch64 | arm64) machine=arm64 ;;
	*) fail "there are no releases for $system on $machine: $advice" ;;
	esac
	platform=$(echo "$system" | tr LD ld)_$machine
}

find_tools() {
	command -v curl >/dev/null || command -v wget >/dev/null || fail "neither curl nor wget is installed: install one of them"
	command -v sha256sum >/dev/null || command -v shasum >/dev/null || fail "neither sha256sum nor shasum is installed: install one of them"
	command -v ssh-keygen >/dev/null || fail "ssh-keygen is not installed, which verifies signatures: install OpenSSH (openssh-client, or openssh-keygen)"
}

# download writes a file of the release to the temporary directory.
download() {
	if command -v curl >/dev/null; then
		refused=22
		curl -fsSL -o "$tmp/$1" "$from/$1" 2>"$tmp/error" && return
	else
		refused=8
		wget -nv -t 1 -O "$tmp/$1" "$from/$1" 2>"$tmp/error" && return
	fi
	[ $? != $refused ] || fail "the server refuses $from/$1: is there such a release?"
	fail "cannot download $from/$1: $(cat "$tmp/error")"
}

verify_signature() {
	echo "switchyard-release $key" >"$tmp/signers"
	ssh-keygen -Y verify -f "$tmp/signers" -I switchyard-release -n switchyard-release -s "$tmp/SHA256SUMS.sig" \
		<"$tmp/SHA256SUMS" >"$tmp/error" 2>&1 && return
	case $(cat "$tmp/error") in
	*'known option'* | *'illegal option'*) fail "this ssh-keygen cannot verify signatures: update OpenSSH to 8.1 or later" ;;
	esac
	fail "the signature of SHA256SUMS is not valid: the release is damaged or not ours"
}

sha256() {
	if command -v sha256sum >/dev/null; then sha256sum "$1"; else shasum -a 256 "$1"; fi | awk '{ print $1 }'
}

main "$@"
