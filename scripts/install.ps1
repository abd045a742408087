# Installs switchyard on Windows:
#
#   powershell -ExecutionPolicy Bypass -File install.ps1 [-Version v1.0.0] [-Dir DIR] [-Url URL]
#
# By default it installs the latest release. It verifies the checksum of an archive and the
# signature of the checksums before it runs or installs a program. docs/releases.md has the
# same steps by hand.
param(
	[string]$Version,
	[string]$Dir = "$env:LOCALAPPDATA\Programs\switchyard",
	[string]$Url = 'https://github.com/switchyard-dev/switchyard/releases'
)
$ErrorActionPreference = 'Stop'
$ProgressPreference = 'SilentlyContinue' # It makes downloads many times slower.

# The public key of releases. make release writes it. A copy without it refuses to install.
$key = 'none'

function Get-File($name) {
	try {
		Invoke-WebRequest -UseBasicParsing -Uri "$from/$name" -OutFile "$tmp\$name"
	} catch {
		throw "cannot download $from/${name}: $($_.Exception.Message)"
	}
}

# Get-Installed returns the version of a program, or $null.
function Get-Installed($program) {
	try { (& $program version | Select-Object -First 1).Split(' ')[1] } catch { }
}

$tmp = $null
try {
	if ($key -eq 'none') { throw "this copy of install.ps1 has no key to verify releases with: take that of a release, $Url" }
	$machine = @{ AMD64 = 'amd64'; ARM64 = 'arm64' }["$env:PROCESSOR_ARCHITECTURE"]
	if ($env:PROCESSOR_ARCHITEW6432) { $machine = @{ AMD64 = 'amd64'; ARM64 = 'arm64' }["$env:PROCESSOR_ARCHITEW6432"] }
	if (-not $machine) { throw "there are no releases for Windows on ${env:PROCESSOR_ARCHITECTURE}: with Go, run go install github.com/switchyard-dev/switchyard/cmd/switchyard@latest" }
	if ([Environment]::OSVersion.Version.Major -lt 10) { throw "programs of Go need Windows 10 or later: update the system" }
	if (-not (Get-Command ssh-keygen -ErrorAction SilentlyContinue)) {
		throw 'ssh-keygen is not installed, which verifies signatures: add the optional feature OpenSSH Client'
	}
	[Net.ServicePointManager]::SecurityProtocol = [Net.ServicePointManager]::SecurityProtocol -bor [Net.SecurityProtocolType]::Tls12

	# The download is next to its destination, since a rename within a file system is atomic.
	try {
		$Dir = (New-Item -ItemType Directory -Force -Path $Dir).FullName # As it is in PATH.
		$tmp = Join-Path $Dir ".switchyard.$PID"
		New-Item -ItemType Directory -Force -Path $tmp | Out-Null
	} catch {
		throw "cannot write to ${Dir}: name a directory that you can write to with -Dir"
	}
	$from = "$($Url.TrimEnd('/'))/latest/download"
	if ($Version) {
		$Version = 'v' + $Version.TrimStart('v')
		$from = "$($Url.TrimEnd('/'))/download/$Version"
	}
	Get-File SHA256SUMS
	Get-File SHA256SUMS.sig
	Set-Content -Encoding ascii -Path "$tmp\signers" -Value "switchyard-release $key"
	# PowerShell would change the line ends of its input.
	cmd /c "ssh-keygen -Y verify -f ""$tmp\signers"" -I switchyard-release -n switchyard-release -s ""$tmp\SHA256SUMS.sig"" < ""$tmp\SHA256SUMS"" > nul 2>&1"
	if ($LASTEXITCODE -ne 0) {
		throw 'the signature of SHA256SUMS is not valid: the release is damaged or not ours, or OpenSSH is older than 8.1'
	}
	$entry = Get-Content "$tmp\SHA256SUMS" | Where-Object { $_ -match "^([0-9a-f]{64})  (switchyard_(.+)_windows_$machine\.zip)$" } | Select-Object -First 1
	if (-not $entry) { throw "this release has nothing for windows_$machine" }
	$null = $entry -match "^([0-9a-f]{64})  (switchyard_(.+)_windows_$machine\.zip)$"
	$sum, $name, $released = $Matches[1], $Matches[2], "v$($Matches[3])"
	if ($Version -and $Version -ne $released) { throw "$from is not $Version but $released" }
	Get-File $name
	if ((Get-FileHash -Algorithm SHA256 "$tmp\$name").Hash -ne $sum) {
		throw "$name has another checksum than SHA256SUMS says: it is damaged or not ours"
	}
	Expand-Archive -Path "$tmp\$name" -DestinationPath $tmp
	$new = Join-Path $tmp ([IO.Path]::GetFileNameWithoutExtension($name))
	if ((Get-Installed "$new\switchyard.exe") -ne $released) { throw "$released does not run here" }

	$had = Test-Path "$Dir\switchyard.exe"
	$old = if ($had) { Get-Installed "$Dir\switchyard.exe" }
	foreach ($program in 'switchyard-mcp.exe', 'switchyard.exe') {
		# A running program can be renamed, but not replaced.
		Remove-Item -Force -ErrorAction SilentlyContinue "$Dir\$program.old"
		if (Test-Path "$Dir\$program") { Move-Item -Force "$Dir\$program" "$Dir\$program.old" }
		try { Move-Item -Force "$new\$program" "$Dir\$program" } catch {
			if (Test-Path "$Dir\$program.old") { Move-Item -Force "$Dir\$program.old" "$Dir\$program" }
			throw
		}
		Remove-Item -Force -ErrorAction SilentlyContinue "$Dir\$program.old"
	}
	if (-not $had) { "installed switchyard $released in $Dir" }
	elseif ($old -eq $released) { "installed switchyard $released in $Dir again" }
	else { "replaced switchyard $(if ($old) { $old } else { 'of an unknown version' }) by $released in $Dir" }
	if (($env:Path -split ';') -notcontains $Dir) {
		"Your PATH does not have it. Run this line once:"
		"  [Environment]::SetEnvironmentVariable('Path', [Environment]::GetEnvironmentVariable('Path', 'User') + ';$Dir', 'User')"
	}
	if (-not (Get-Command git -ErrorAction SilentlyContinue)) { 'It needs git for most of what it does, which is not installed.' }
} catch {
	[Console]::Error.WriteLine("install.ps1: $($_.Exception.Message)")
	[Console]::Error.WriteLine('Nothing was installed.')
	exit 1
} finally {
	if ($tmp) { Remove-Item -Recurse -Force -ErrorAction SilentlyContinue $tmp }
}
