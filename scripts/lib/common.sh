# shellcheck shell=bash
# Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
#
# What quickstart and test share: installing what is missing, configuring, building, and a table of where the time
# went. Source it from a bash script that has set -euo pipefail; it changes to the repository's root.

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
cd "$root"
build=$root/build
jobs=${INTERLOCK_JOBS:-$(nproc)}

say() { printf '== %s\n' "$*"; }

# die SENTENCE: to stderr, exit 1.
die() {
  printf '%s: %s\n' "${0##*/}" "$*" >&2
  exit 1
}

# step NAME COMMAND…: runs it and remembers how long it took, also when it fails.
step_names=()
step_seconds=()
step() {
  local step_name=$1 step_begin=$SECONDS step_rc=0
  shift
  say "$step_name"
  "$@" || step_rc=$?
  step_names+=("$step_name")
  step_seconds+=($((SECONDS - step_begin)))
  return $step_rc
}

# The table of all steps so far.
print_times() {
  local i total=0
  printf '\n%-12s %8s\n' step seconds
  for i in "${!step_names[@]}"; do
    printf '%-12s %8d\n' "${step_names[$i]}" "${step_seconds[$i]}"
    total=$((total + step_seconds[i]))
  done
  printf '%-12s %8d\n' total "$total"
}

# Names in scripts/packages that dpkg does not have installed.
missing_packages() {
  local name group rest
  while read -r name group rest; do
    [[ -z $name || $name == \#* || $group == wheels ]] && continue
    [[ $(dpkg-query -W -f '${db:Status-Status}' "$name" 2>/dev/null) == installed ]] || echo "$name"
  done <scripts/packages
}

# apt-get as root, or through sudo; never asks.
apt() {
  local sudo=()
  if [[ $(id -u) != 0 ]]; then
    command -v sudo >/dev/null || die "installing packages needs root or sudo: as root run apt-get install $*"
    sudo=(sudo)
  fi
  "${sudo[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -qq -o Dpkg::Use-Pty=0 -o DPkg::Lock::Timeout=300 "$@"
}

# Installs every package of scripts/packages that is missing. Where LLVM 22 is not in the distribution, one sentence
# with the commands that bring it.
install_missing() {
  local missing absent=() name
  mapfile -t missing < <(missing_packages)
  if ((${#missing[@]} == 0)); then
    echo "every package of scripts/packages is installed"
    return 0
  fi
  if [[ ${INTERLOCK_NO_INSTALL:-} == 1 ]]; then
    die "INTERLOCK_NO_INSTALL is set and these packages are missing: ${missing[*]}; unset it or run apt-get install ${missing[*]}"
  fi
  command -v apt-get >/dev/null || die "these packages are missing and there is no apt-get to install them: ${missing[*]}"
  echo "installing ${missing[*]}"
  apt update || echo "apt-get update failed: going on with the package lists that are here" >&2
  for name in "${missing[@]}"; do
    [[ $(LC_ALL=C apt-cache policy "$name" 2>/dev/null) == *'Candidate: '[!\(]* ]] || absent+=("$name")
  done
  if ((${#absent[@]})); then
    [[ " ${absent[*]}" == *-22* ]] && explain_llvm
    die "the package sources know no ${absent[*]}: enable the ones that do (universe on Ubuntu), then run this again"
  fi
  apt install -y --no-install-recommends "${missing[@]}" >/dev/null || die "apt-get install ${missing[*]} failed"
}

# LLVM 22 is in Debian 12's security archive; elsewhere it comes from LLVM's own package archive.
explain_llvm() {
  local codename sudo=
  codename=$(. /etc/os-release && echo "${VERSION_CODENAME:-}")
  [[ $(id -u) == 0 ]] || sudo='sudo '
  if [[ $codename == bookworm ]]; then
    die "LLVM 22 is not in this machine's package sources, and on Debian 12 it comes from the security archive: run" \
      "echo 'deb http://deb.debian.org/debian-security bookworm-security main' | ${sudo}tee /etc/apt/sources.list.d/security.list && ${sudo}apt-get update," \
      "then run this again"
  fi
  die "LLVM 22 is not in this machine's package sources, and comes from LLVM's own archive: run" \
    "${sudo}apt-get install -y ca-certificates curl &&" \
    "curl -fsSL https://apt.llvm.org/llvm-snapshot.gpg.key | ${sudo}tee /etc/apt/trusted.gpg.d/apt.llvm.org.asc >/dev/null &&" \
    "echo 'deb http://apt.llvm.org/${codename:-noble}/ llvm-toolchain-${codename:-noble}-22 main' | ${sudo}tee /etc/apt/sources.list.d/llvm-22.list," \
    "then run this again"
}

# Wheels of scripts/packages that build/wheels does not have in that version.
missing_wheels() {
  local name group rest
  while read -r name group rest; do
    [[ $group == wheels ]] || continue
    [[ -d $build/wheels/$(tr - _ <<<"${name%%==*}")-${name##*==}.dist-info ]] || echo "$name"
  done <scripts/packages
}

# Puts them there. Tests that need one are skipped where that fails, so it is no failure.
install_wheels() {
  local missing
  mapfile -t missing < <(missing_wheels)
  if ((${#missing[@]} == 0)); then
    echo "every wheel of scripts/packages is in build/wheels"
  elif [[ ${INTERLOCK_NO_INSTALL:-} == 1 ]]; then
    echo "INTERLOCK_NO_INSTALL is set and these wheels are missing, so their tests will be skipped: ${missing[*]}"
  elif ! python3 -m pip install --quiet --disable-pip-version-check --no-input --root-user-action=ignore --no-deps --only-binary :all: --upgrade \
    --target "$build/wheels" "${missing[@]}"; then
    echo "these wheels could not be had, so their tests will be skipped: ${missing[*]}" >&2
  fi
}

configure() { cmake --preset default; }
compile() { cmake --build "$build" -j "$jobs"; }

# Where the build's time went, if it did anything worth telling.
slowest_units() { python3 scripts/build-times --build "$build" --top 8; }
