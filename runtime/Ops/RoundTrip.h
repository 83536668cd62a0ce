// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// A whole step on every rank of this process: dispatch, test experts, combine, and the comparison of everything that
// was written with the scalar oracle. What `interlock run`, the benchmarks and the end-to-end tests share. Where other
// processes have ranks too, each of them runs the same steps; rows and routings follow from seeds, so the oracle is
// whole in every one.
#pragma once

#include "interlock/operation.hpp"
#include "runtime/Ops/Routing.h"

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace interlock {

struct RoundTripOptions {
  LayerSpec layer; ///< maxTokens may be 0: the largest of `tokens`
  OperationOptions operation;
  std::optional<ProcessGroup> group; ///< none: all ranks are in this process
  std::vector<uint32_t> tokens;      ///< per rank, repeated cyclically; empty: maxTokens everywhere
  uint32_t listOffset = 0;           ///< bytes behind a multiple of 16 where ids and weights begin, a multiple of 4
  uint64_t seed = 0;                 ///< of the token rows and their scales
  bool weighted = true;              ///< combine applies the weights; else it sums rows
  bool distinctExperts = false;      ///< every (rank, top-k index) multiplies its rows by another factor; else identity
  bool graph = false;                ///< capture each kernel's launch once and replay it
  bool check = true;                 ///< compare everything, bit for bit
  /// Called before each phase of a step ("upload", "dispatch", …), for those who show progress.
  std::function<void(std::string_view phase)> progress;
};

/// One kernel's run on one rank.
struct PhaseReport {
  uint64_t bytes = 0; ///< payload: rows that this rank sent, or gathered
  double ns = 0;      ///< device time from launch to end (emulated time in the emulator)
  OperationResult result;
};

struct RankReport {
  uint32_t tokens = 0;
  PhaseReport dispatch, combine;
  std::optional<PackingResult> packing; ///< with packing, where it was checked
  uint64_t mismatches = 0;              ///< places where something else was found than the oracle says
};

struct StepReport {
  std::vector<RankReport> ranks;     ///< of all ranks; those of other processes have their bytes only
  uint64_t mismatches = 0;           ///< of all ranks
  std::vector<std::string> findings; ///< the first few, a sentence each
};

/// Owns an operation, a stream per rank and the caller's tensors. Steps run one after another; every step has new rows.
class RoundTrip {
public:
  [[nodiscard]] static Result<RoundTrip> create(Driver &driver, KernelCache &cache, RoundTripOptions options);
  RoundTrip(RoundTrip &&) noexcept;
  RoundTrip &operator=(RoundTrip &&) noexcept;
  ~RoundTrip();

  const LayerSpec &layer() const;
  /// Token counts of the ranks, as makeRouting takes them.
  const std::vector<uint32_t> &tokens() const;
  /// The ranks of this process.
  const std::vector<uint32_t> &own() const;
  Operation &operation();

  /// Runs one step with this routing (one entry per rank). An error is a failure of the device; a wrong result is a
  /// finding in the report. Ranks in `dead` take no part and the others leave them out. With a check the processes of a
  /// group meet before the step; without one only the kernels keep them together.
  [[nodiscard]] Result<StepReport> step(const std::vector<TokenRouting> &routing, uint64_t dead = 0);
  /// The same, but the ranks in `missing` do nothing and the others are not told: their waits run out. Statuses are
  /// reported, nothing is compared.
  [[nodiscard]] Result<StepReport> stepWithout(const std::vector<TokenRouting> &routing, uint64_t missing);

private:
  struct State;
  explicit RoundTrip(std::unique_ptr<State> state);
  std::unique_ptr<State> state;
};

} // namespace interlock
