// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// What a local kernel is given to do, made or checked on the host, and what it must leave behind, bit for bit.
#pragma once

#include "interlock/spec.hpp"

#include <cstddef>
#include <span>
#include <vector>

namespace interlock {

/// A list of dedup groups as LocalParams wants it, in host memory.
struct DedupGroups {
  uint32_t topk = 0;
  uint32_t tokenRows = 0, expertRows = 0; ///< rows of the two arrays
  std::vector<int32_t> tokens;            ///< [groups]: row of the group's token
  std::vector<int32_t> rows;              ///< [groups][topk]: its expert rows, -1 is none
  std::vector<float> weights;             ///< [groups][topk]
  uint32_t count() const { return uint32_t(tokens.size()); }
};

/// Refuses a list that a kernel could not work off as it stands: arrays of other lengths than the groups have, a row
/// that is out of range, or one that two groups name, who would then write it both.
[[nodiscard]] Status validate(const DedupGroups &groups);

/// `groups` groups in random order of rows, each with a random number of expert rows, none at times; some rows of both
/// arrays belong to nobody.
DedupGroups makeGroups(uint32_t groups, uint32_t topk, uint64_t seed);

/// What dispatch_epilogue makes of `expertRows` (or combine_prologue of `tokenRows`): rows that no group names are left
/// as they are. The order of the sum is that of the list, from +0 in f32 by fused multiply-adds, rounded once.
void referenceDispatchEpilogue(const KernelSpec &spec, const DedupGroups &groups, std::span<const std::byte> tokenRows,
                               std::span<std::byte> expertRows);
void referenceCombinePrologue(const KernelSpec &spec, const DedupGroups &groups, bool weighted,
                              std::span<const std::byte> expertRows, std::span<std::byte> tokenRows);

} // namespace interlock
