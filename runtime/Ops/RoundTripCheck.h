// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// What a step left in memory, compared with the oracle bit for bit.
#pragma once

#include "interlock/operation.hpp"
#include "runtime/Ops/ExpertPacking.h"
#include "runtime/Ops/Reference.h"
#include "runtime/Ops/RoundTrip.h"

namespace interlock {

/// Written everywhere before a step, so that a byte outside the written rows shows.
inline constexpr uint8_t canaryByte = 0xA5;

/// A factor per (rank, top-k index) that has few bits, so that products stay distinct after rounding.
inline float expertFactor(bool distinct, uint32_t rank, uint32_t k) {
  return distinct ? 0.5f + float(rank % 8) * 0.125f + float(k % 4) * 0.03125f : 1.0f;
}

/// Gathers differences, keeping the first few as sentences.
class Differences {
public:
  explicit Differences(StepReport &report) : report(report) {}
  void add(uint32_t rank, std::string sentence) {
    ++report.mismatches;
    ++report.ranks[rank].mismatches;
    if (report.findings.size() < 16)
      report.findings.push_back(std::move(sentence));
  }

private:
  StepReport &report;
};

/// Everything that the checks of one step look at.
struct CheckedStep {
  Driver &driver;
  const LayerSpec &layer;
  std::span<const SourceTokens> sources;
  std::span<const ReferenceRank> expected;
  std::span<const PackedExperts> packed; ///< of every rank, with packing
  uint64_t step = 0;                     ///< of every rank, from 0
  uint64_t dead = 0;
};

/// Compares one rank's slots, counts, landing rows, meta rows and result after the dispatch; rows that nothing should
/// have written must still be canaries. `slots` is the handle's device address.
[[nodiscard]] Status checkDispatch(const CheckedStep &step, uint32_t rank, StreamId stream, const LandedRows &landed,
                                   DeviceAddress slots, const OperationResult &result, Differences &differences);

/// What every rank's packing must be.
[[nodiscard]] Result<std::vector<PackedExperts>> referencePacking(const LayerSpec &layer,
                                                                  std::span<const SourceTokens> sources,
                                                                  std::span<const ReferenceRank> expected,
                                                                  const PackingOptions &options);

/// Where a rank's packed rows are.
struct PackedArrays {
  PackedRows lists;
  PackingOptions options;
  DeviceAddress rows = 0, scales = 0;
};

/// Compares one rank's lists and packed rows after convertDispatchOutput. Padding rows must be zero or still canaries,
/// as asked for, and rows behind the last one canaries.
[[nodiscard]] Status checkPacked(const CheckedStep &step, uint32_t rank, StreamId stream, const PackedArrays &at,
                                 const PackingResult &result, Differences &differences);

/// Compares one rank's combined rows, weights and result; rows behind the last token must still be canaries.
[[nodiscard]] Status checkCombine(const CheckedStep &step, uint32_t rank, StreamId stream, DeviceAddress out,
                                  DeviceAddress outWeights, bool weighted, bool distinctExperts,
                                  const OperationResult &result, Differences &differences);

} // namespace interlock
