#!/usr/bin/env bash
# Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
#
# Everything that needs a GPU, in one go: device.sh OUT [ARCHIVE] [STEP…]. ARCHIVE is what bench/pack.sh made (without
# one: the programs beside this script). Steps: query tests sanitizer run bench handoff contention abi two two_sweep profile
# sweep; all but the last four if none is named. A step that fails or runs too long does not stop the next; the summary comes
# last, and the exit code is the number of checks that failed.
set -uo pipefail
out=${1:?expected a folder for the results}
shift
mkdir -p "$out"
out=$(cd "$out" && pwd)
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

if [[ $# -gt 0 && -f $1 ]]; then
  # A bare machine may lack xz.
  tar -C "$work" -xf "$1" 2>/dev/null ||
    python3 -c 'import sys, tarfile; tarfile.open(sys.argv[1]).extractall(sys.argv[2])' "$1" "$work" || {
    echo "expected to unpack $1, could not" >&2
    exit 1
  }
  here=$work/interlock-bench
  shift
fi
bin=$here/bin
[[ -x $bin/interlock ]] || {
  echo "expected the programs in $bin, found none" >&2
  exit 1
}
# Ranks that share a GPU wait for each other's kernels: every stream gets a hardware queue of its own.
export CUDA_DEVICE_MAX_CONNECTIONS=32
export INTERLOCK_CACHE_DIR=$work/cache
commit=$(cat "$here/COMMIT" 2>/dev/null || echo unknown)
steps=${*:-query tests sanitizer run bench handoff contention abi}
summary=$out/summary.txt
: >"$summary"
failed=0

say() { echo "$*" | tee -a "$summary"; }

# check NAME SECONDS LOG COMMAND…: runs it with a limit, appends what it says to LOG, and counts a failure.
check() {
  local name=$1 limit=$2 log=$out/$3 rc=0 begin=$SECONDS
  shift 3
  echo "== $name: $*" >>"$log"
  timeout -k 10 "$limit" "$@" >>"$log" 2>&1 || rc=$?
  if ((rc == 0)); then
    say "ok      $name ($((SECONDS - begin)) s)"
  else
    failed=$((failed + 1))
    say "FAILED  $name: exit code $rc after $((SECONDS - begin)) s; the end of $(basename "$log"):"
    tail -n 12 "$log" | sed 's/^/        /' | cut -c1-400 | tee -a "$summary"
  fi
}

query() {
  check "nvidia-smi" 60 device.txt nvidia-smi
  local fields=name,driver_version,clocks.sm,clocks.mem,clocks.max.sm,clocks.max.mem,power.limit,temperature.gpu
  nvidia-smi --query-gpu="$fields" --format=csv >>"$out/device.txt" 2>&1
  uname -a >>"$out/device.txt"
  check "interlock doctor" 60 device.txt "$bin/interlock" doctor
}

tests() {
  check "gpu tests" 400 tests.log "$bin/interlock-gpu-tests" --device cuda --gtest_brief=1
  grep -E '^\[  (PASSED|FAILED|SKIPPED) ' "$out/tests.log" | tail -n 12 | tee -a "$summary"
}

sanitizer() {
  local tool how sanitizer
  sanitizer=$(command -v compute-sanitizer || command -v /usr/local/cuda/bin/compute-sanitizer)
  if [[ -z $sanitizer ]]; then
    say "skipped compute-sanitizer: not on this machine"
    return
  fi
  # One rank as well: a tool that runs kernels one after another would let two ranks wait for each other in vain.
  for tool in memcheck racecheck; do
    for how in "--ranks 2" "--ranks 2 --schedule claimed --cluster 2" "--ranks 1"; do
      # shellcheck disable=SC2086
      check "$tool, $how" 150 sanitizer.log "$sanitizer" --tool "$tool" --error-exitcode 9 "$bin/interlock" run \
        --device cuda --experts 8 --topk 2 --hidden 256 --tokens 16 --timeout-ms 60000 --check $how
    done
  done
}

run() {
  local device=(--device cuda --check)
  check "deepseek-v3, 8 ranks" 120 run.log "$bin/interlock" run "${device[@]}" --ranks 8 --model deepseek-v3 \
    --tokens 256
  check "odd shapes" 120 run.log "$bin/interlock" run "${device[@]}" --ranks 3 --experts 10 --topk 5 --hidden 2888 \
    --dtype bf16 --tokens 0,1,17 --mask 0.2
  check "claimed, clusters of 4" 120 run.log "$bin/interlock" run "${device[@]}" --ranks 4 --experts 64 --topk 32 \
    --hidden 64 --dtype f32 --tokens 40 --schedule claimed --cluster 4
  check "fp8 with scales" 120 run.log "$bin/interlock" run "${device[@]}" --ranks 8 --model deepseek-v3 \
    --dtype f8e4m3fn --scale-bytes 224 --tokens 128
  check "zipf, graph" 120 run.log "$bin/interlock" run "${device[@]}" --ranks 4 --model qwen3-235b-a22b --tokens 200 \
    --routing zipf:1.2 --graph --steps 20
  check "4096 tokens, 8 ranks" 300 run.log "$bin/interlock" run "${device[@]}" --ranks 8 --model deepseek-v3 \
    --tokens 4096
}

bench() {
  check "bench: one GPU" 300 bench.log "$bin/interlock-bench-gpu" --own-in-place 0,1 --commit "$commit" \
    --cache-dir "$work/cache" -o "$out/single_gpu.json"
  grep -E 'ranks, .* us, ' "$out/bench.log" | tee -a "$summary"
}

abi() {
  check "bench: calls of the C ABI" 120 abi.log "$bin/interlock-bench-abi" --commit "$commit" -o "$out/abi.json"
  grep -E '^(ilk_operation_dispatch|disk hit) ' "$out/abi.log" | tee -a "$summary"
}

# Two GPUs: the shapes with a rank a GPU and with more, the benchmark with the ceilings beside it, the shapes in two
# processes, and all GPU tests. Some ten minutes.
two() {
  shapes
  check "two GPUs: 8 ranks, 4096 tokens" 60 two.log "$bin/interlock" run --device cuda --check --ranks 8 \
    --model deepseek-v3 --tokens 4096
  check "bench: two GPUs" 200 two-bench.log "$bin/interlock-bench-two" --ctas 8,12,14,16,24,32,64,132 \
    --tile 0 --commit "$commit" --cache-dir "$work/cache" -o "$out/two_gpus.json"
  grep -E 'GB/s|round trip' "$out/two-bench.log" | tee -a "$summary"
  check "NCCL all-to-all" 60 nccl.log python3 "$here/nccl_all_to_all.py"
  shapes --processes 2
  # Without those of the local kernels, which need one GPU and start a process for each launch.
  check "gpu tests on two GPUs" 420 two-tests.log "$bin/interlock-gpu-tests" --device cuda --gtest_brief=1 \
    --test-seconds 120 --gtest_filter='-Local/*'
  grep -E '^\[  (PASSED|FAILED|SKIPPED) ' "$out/two-tests.log" | tail -n 12 | tee -a "$summary"
}

# What the hardware's counters say of two GPUs: the way out of a multiprocessor and the link. A profiler runs one kernel at
# a time, so no peer answers: the dispatch writes its rows and then gives up its wait, which is what is to be seen.
profile() {
  local ncu=$(command -v ncu) ctas port=l1tex__m_l1tex2xbar link=nvltx__bytes_packet_request_data
  if [[ -z $ncu ]]; then
    say "skipped profile: no ncu on this machine"
    return
  fi
  local how=("$ncu" --clock-control none --cache-control none --devices 0 --launch-count 1 --metrics
    "gpu__time_duration.sum,sm__cycles_elapsed.max,${port}_write_bytes.sum,${port}_write_bytes.max.pct_of_peak_sustained_elapsed,${port}_req_cycles_active.max,${port}_req_cycles_stalled.max,${link}_user.sum,${link}_protocol.sum")
  for ctas in 8 12 14 16 24 132; do
    check "profile: fan_out, $ctas CTAs" 60 profile.log "${how[@]}" -k regex:^fan_out "$bin/interlock-bench-two" --ctas $ctas \
      --tokens 128 --runs 1 --warmups 0 --chain 2 -o "$work/profile.json"
  done
  for ctas in 12 14; do
    # The wait that is given up is no fault here.
    check "profile: dispatch, $ctas CTAs" 60 profile.log bash -c '"$@" || true' - "${how[@]}" -k regex:^ep_dispatch "$bin/interlock" run \
      --device cuda --ranks 2 --model deepseek-v3 --tokens 8192 --grid $ctas --timeout-ms 100 --steps 1
  done
}

# Over geometries; a minute.
two_sweep() {
  check "sweep: two GPUs" 200 two-sweep.log "$bin/interlock-bench-two" --tokens 8192,128 --block 512,1024 \
    --tile 4,16,32 --ctas 8,12,14,16,24,32,132 --runs 7 --warmups 2 --chain 8 --commit "$commit" \
    --cache-dir "$work/cache" -o "$out/two_sweep.json"
  grep -E 'GB/s|round trip|CTAs' "$out/two-sweep.log" >>"$summary"
}

# shapes [OPTION…]: what the tests' acceptance names, with these options.
shapes() {
  local run=("$bin/interlock" run --device cuda --check "$@") how="two GPUs${*:+, $*}"
  check "$how: deepseek-v3" 25 two.log "${run[@]}" --ranks 2 --model deepseek-v3 --tokens 256
  check "$how: odd shapes, 3 ranks" 25 two.log "${run[@]}" --ranks 3 --experts 10 --topk 5 --hidden 2888 --dtype bf16 \
    --tokens 0,1,17 --mask 0.2
  check "$how: claimed, clusters of 4" 25 two.log "${run[@]}" --ranks 2 --experts 64 --topk 32 --hidden 64 --dtype f32 \
    --tokens 40 --schedule claimed --cluster 4
  check "$how: fp8 with scales" 25 two.log "${run[@]}" --ranks 2 --model deepseek-v3 --dtype f8e4m3fn \
    --scale-bytes 224 --tokens 128
  check "$how: zipf, graph" 25 two.log "${run[@]}" --ranks 2 --model qwen3-235b-a22b --tokens 200 --routing zipf:1.2 \
    --graph --steps 50
}

# One hand-off within a cluster: one ring alone, then a ring on every cluster that fits twelve times.
handoff() {
  for rings in 1 12; do
    check "bench: hand-off, $rings rings" 120 handoff.log "$bin/interlock-bench-handoff" --commit "$commit" \
      --rings $rings -o "$out/handoff_$rings.json"
  done
  grep -E '^cluster of ' "$out/handoff.log" | tee -a "$summary"
}

# The local kernels alone and under matrix multiplications.
contention() {
  check "bench: contention" 120 contention.log "$bin/interlock-bench-contention" --commit "$commit" \
    --cache-dir "$work/cache" -o "$out/contention.json"
  grep -E ' us on ' "$out/contention.log" | tee -a "$summary"
}

# Over the geometries of the target figure; few runs each.
sweep() {
  check "sweep" 560 sweep.log "$bin/interlock-bench-gpu" --commit "$commit" --cache-dir "$work/cache" --ranks 8 \
    --tokens 4096 --block 256,512,1024 --tile 2,4,8,16 --ctas-per-rank 16,32,48 --runs 7 --warmups 2 \
    -o "$out/sweep.json"
  for phase in dispatch combine; do
    # The best three by time.
    sed -nE "s/^(.*: $phase ([0-9.]+) us, .*)\$/\2\t\1/p" "$out/sweep.log" |
      sort -n | head -n 3 | cut -f2- | tee -a "$summary"
  done
}

for step in $steps; do
  case $step in
  query | tests | sanitizer | run | bench | handoff | contention | abi | two | two_sweep | profile | sweep) "$step" ;;
  *)
    say "expected steps among query tests sanitizer run bench handoff contention abi two two_sweep profile sweep, got $step"
    failed=$((failed + 1))
    ;;
  esac
done
echo
echo "== summary ($commit) =="
cat "$summary"
echo "$failed checks failed"
exit "$failed"
