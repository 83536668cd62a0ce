#!/usr/bin/env bash
# Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
#
# bench/pack.sh BUILD ARCHIVE: puts what bench/device.sh needs into ARCHIVE (a .tar.xz): the command, the plugin, the
# benchmarks, the GPU tests, and the shared libraries that they need and that a bare machine may lack. It runs on this
# machine's glibc or a later one.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
build=${1:?expected a build folder, as in: bench/pack.sh build dist/bench.tar.xz}
archive=${2:?expected the archive to write, as in: bench/pack.sh build dist/bench.tar.xz}
limit=$((40 * 1000 * 1000))
name=interlock-bench

stage=$(mktemp -d)
trap 'rm -rf "$stage"' EXIT
mkdir -p "$stage/$name/bin" "$stage/$name/lib"

# Installed rather than copied: an installed program finds its libraries beside it.
for component in runtime compiler; do
  cmake --install "$build" --prefix "$stage/$name" --component "$component" --strip >/dev/null
done
rm -rf "$stage/$name/bin/interlock-opt" "$stage/$name/share"
for program in interlock-bench-gpu interlock-bench-two interlock-bench-handoff interlock-bench-contention interlock-bench-compile interlock-bench-abi interlock-gpu-tests; do
  [[ -x $build/bin/$program ]] || {
    echo "expected $build/bin/$program, found none: build it first" >&2
    exit 1
  }
  install -s "$build/bin/$program" "$stage/$name/bin/"
done
install bench/device.sh bench/nccl_all_to_all.py "$stage/$name/"
git rev-parse HEAD >"$stage/$name/COMMIT" 2>/dev/null || echo unknown >"$stage/$name/COMMIT"

# Everything outside glibc that something here loads; ldd fails on a static program.
{ find "$stage/$name/bin" "$stage/$name/lib" -type f -exec ldd {} + 2>/dev/null || true; } |
  awk '$2 == "=>" && $3 ~ /^\// { print $3 }' | sort -u |
  grep -vE '/(ld-linux[^/]*|lib(c|m|dl|rt|pthread))\.so[^/]*$' |
  while read -r library; do
    install -m 644 "$(readlink -f "$library")" "$stage/$name/lib/$(basename "$library")"
  done

mkdir -p "$(dirname "$archive")"
tar -C "$stage" --owner=0 --group=0 --sort=name -cf - "$name" | xz -3 -T0 >"$archive"
size=$(stat -c %s "$archive")
echo "$archive: $((size / 1000)) kB"
if ((size > limit)); then
  echo "expected at most $((limit / 1000)) kB" >&2
  exit 1
fi
