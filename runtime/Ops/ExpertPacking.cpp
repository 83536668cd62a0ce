// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
#include "runtime/Ops/ExpertPacking.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <optional>

namespace interlock {

namespace {
/// The local expert that an id names at a rank.
std::optional<uint32_t> localExpert(const LayerSpec &layer, uint32_t rank, int32_t id) {
  if (id < 0 || uint32_t(id) >= layer.experts || uint32_t(id) / layer.expertsPerRank() != rank)
    return std::nullopt;
  return uint32_t(id) % layer.expertsPerRank();
}
} // namespace

Result<PackedExperts> packByExpert(const LayerSpec &layer, uint32_t rank, std::span<const int32_t> ids,
                                   std::span<const float> weights, uint32_t alignment, uint32_t capacity) {
  ILK_RETURN_IF_ERROR(validate(layer));
  if (rank >= layer.ranks)
    return makeError(Code::badInput, fmt::format("expected a rank below {}, got {}", layer.ranks, rank));
  if (alignment == 0)
    return makeError(Code::badInput, "expected rows of an expert to begin at a multiple of at least 1, got 0");
  if (ids.size() % layer.topk || weights.size() != ids.size())
    return makeError(Code::badInput,
                     fmt::format("expected {} ids and as many weights for each received row, got {} and {}", layer.topk,
                                 ids.size(), weights.size()));
  PackedExperts packed;
  packed.counts.assign(layer.expertsPerRank(), 0);
  for (int32_t id : ids)
    if (auto expert = localExpert(layer, rank, id))
      ++packed.counts[*expert];
  packed.offsets.assign(1, 0);
  for (uint32_t count : packed.counts) {
    uint64_t next = (uint64_t(packed.offsets.back()) + count + alignment - 1) / alignment * alignment;
    if (next > INT32_MAX)
      return makeError(
          Code::badInput,
          fmt::format("expected at most {} packed rows, got {}: a smaller alignment would do", INT32_MAX, next));
    packed.offsets.push_back(uint32_t(next));
  }
  std::vector<uint32_t> next(packed.offsets.begin(), packed.offsets.end() - 1);
  packed.wanted = packed.rows();
  for (size_t e = 0; e < packed.counts.size(); ++e) {
    uint32_t room = std::min(packed.counts[e], capacity - std::min(capacity, packed.offsets[e]));
    packed.dropped += packed.counts[e] - room;
    packed.counts[e] = room;
  }
  for (uint32_t &offset : packed.offsets)
    offset = std::min(offset, capacity);
  packed.sources.assign(packed.rows(), -1);

  DedupGroups &groups = packed.groups;
  groups.topk = layer.topk;
  groups.tokenRows = uint32_t(ids.size() / layer.topk);
  groups.expertRows = packed.rows();
  groups.tokens.resize(groups.tokenRows);
  std::iota(groups.tokens.begin(), groups.tokens.end(), 0);
  groups.weights.assign(weights.begin(), weights.end());
  for (size_t i = 0; i < ids.size(); ++i) {
    auto expert = localExpert(layer, rank, ids[i]);
    uint32_t row = expert ? next[*expert]++ : capacity;
    groups.rows.push_back(row < capacity ? int32_t(row) : -1);
    if (row < capacity)
      packed.sources[row] = int32_t(i / layer.topk);
  }
  return packed;
}

Status validate(const PackedExperts &packed) {
  ILK_RETURN_IF_ERROR(validate(packed.groups));
  if (packed.offsets.size() != packed.counts.size() + 1)
    return makeError(Code::badInput, fmt::format("expected an offset more than the {} experts, got {}",
                                                 packed.counts.size(), packed.offsets.size()));
  for (size_t e = 0; e < packed.counts.size(); ++e)
    if (packed.offsets[e + 1] < packed.offsets[e] || packed.offsets[e + 1] - packed.offsets[e] < packed.counts[e])
      return makeError(Code::badInput,
                       fmt::format("expected the {} rows of expert {} to end before the next one's begin "
                                   "at {}, got an offset of {}",
                                   packed.counts[e], e, packed.offsets[e + 1], packed.offsets[e]));
  if (packed.sources.size() != packed.rows() || packed.groups.expertRows != packed.rows())
    return makeError(Code::badInput, fmt::format("expected a source for each of {} packed rows, got {}", packed.rows(),
                                                 packed.sources.size()));
  uint64_t counted = std::accumulate(packed.counts.begin(), packed.counts.end(), uint64_t(0));
  uint64_t mapped = uint64_t(
      std::count_if(packed.groups.rows.begin(), packed.groups.rows.end(), [](int32_t row) { return row >= 0; }));
  if (counted != mapped)
    return makeError(Code::badInput,
                     fmt::format("expected the experts' counts to add up to the {} rows of the slot map, "
                                 "got {}",
                                 mapped, counted));
  return {};
}

Status zeroPadding(Driver &driver, StreamId stream, const PackedExperts &packed, DeviceAddress rows,
                   uint64_t rowBytes) {
  for (size_t e = 0; e < packed.counts.size(); ++e) {
    uint64_t end = uint64_t(packed.offsets[e]) + packed.counts[e], next = packed.offsets[e + 1];
    if (end < next)
      ILK_RETURN_IF_ERROR(driver.fill(stream, rows + end * rowBytes, 0, (next - end) * rowBytes));
  }
  return {};
}

} // namespace interlock
