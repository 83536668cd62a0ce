// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// The scalar oracle of dispatch and combine.
#include "runtime/Ops/Reference.h"

#include "runtime/Ops/Numeric.h"

#include <algorithm>
#include <cstring>

namespace interlock {

namespace {
/// One addend of a combined token: which rank's row, for which top-k index, times what.
struct Contribution {
  uint32_t rank, slot, k;
  float weight;
};

std::vector<Contribution> contributionsOf(const LayerSpec &layer, const int32_t *ids, const int32_t *slots,
                                          const float *weights) {
  std::vector<Contribution> list;
  for (uint32_t k = 0; k < layer.topk; ++k) {
    if (slots[k] < 0)
      continue;
    uint32_t rank = uint32_t(ids[k]) / layer.expertsPerRank();
    auto same = std::find_if(list.begin(), list.end(), [&](const Contribution &c) { return c.rank == rank; });
    if (layer.expertRows || same == list.end())
      list.push_back({rank, uint32_t(slots[k]), layer.expertRows ? k : 0, weights ? weights[k] : 1.0f});
    else if (weights)
      same->weight += weights[k];
  }
  return list;
}

uint32_t distinctRanks(const std::vector<Contribution> &list) {
  uint64_t seen = 0;
  for (const Contribution &c : list)
    seen |= uint64_t(1) << c.rank;
  return uint32_t(__builtin_popcountll(seen));
}
} // namespace

std::vector<ReferenceRank> referenceDispatch(const LayerSpec &layer, std::span<const SourceTokens> sources,
                                             uint64_t dead) {
  auto isDead = [&](uint32_t rank) { return (dead >> rank) & 1; };
  std::vector<ReferenceRank> result(layer.ranks);
  for (ReferenceRank &rank : result) {
    rank.counts.assign(layer.ranks, 0);
    rank.landed.resize(layer.ranks);
  }
  for (uint32_t me = 0; me < layer.ranks; ++me) {
    ReferenceRank &mine = result[me];
    mine.slots.assign(size_t(sources[me].tokens) * layer.topk, -1);
    if (isDead(me))
      continue;
    for (uint32_t t = 0; t < sources[me].tokens; ++t) {
      const int32_t *ids = &sources[me].ids[size_t(t) * layer.topk];
      int32_t *slots = &mine.slots[size_t(t) * layer.topk];
      uint64_t sent = 0; // a bit per rank that this token has gone to, or was dropped on the way to
      if (layer.ownInPlace) {
        sent |= uint64_t(1) << me;
        ++mine.counts[me];
        mine.landed[me].push_back(t);
      }
      for (uint32_t k = 0; k < layer.topk; ++k) {
        if (ids[k] < 0 || ids[k] >= int64_t(layer.experts)) {
          if (ids[k] != -1)
            mine.status |= opBadId;
          continue;
        }
        uint32_t to = uint32_t(ids[k]) / layer.expertsPerRank();
        if (isDead(to))
          continue;
        std::vector<uint32_t> &landed = result[to].landed[me];
        if (!((sent >> to) & 1)) {
          sent |= uint64_t(1) << to;
          ++result[to].counts[me];
          if (landed.size() < layer.rowsPerSource()) {
            landed.push_back(t);
          } else {
            ++mine.dropped;
            mine.status |= opOverflow;
          }
        }
        if (!landed.empty() && landed.back() == t)
          slots[k] = int32_t(landed.size() - 1);
      }
    }
  }
  for (uint32_t me = 0; me < layer.ranks; ++me)
    for (uint32_t source = 0; source < layer.ranks && !isDead(me); ++source) {
      result[me].received += uint32_t(result[me].landed[source].size());
      result[me].wanted += result[me].counts[source];
    }
  return result;
}

uint64_t sentRows(const LayerSpec &layer, std::span<const ReferenceRank> dispatched, uint32_t source) {
  uint64_t rows = 0;
  for (uint32_t to = 0; to < layer.ranks; ++to)
    if (to != source || !layer.ownInPlace)
      rows += dispatched[to].landed[source].size();
  return rows;
}

uint64_t gatheredRows(const LayerSpec &layer, const SourceTokens &source, std::span<const int32_t> slots) {
  uint64_t rows = 0;
  for (uint32_t t = 0; t < source.tokens; ++t) {
    size_t first = size_t(t) * layer.topk;
    rows += contributionsOf(layer, &source.ids[first], &slots[first], nullptr).size();
  }
  return rows;
}

void referenceMetaRow(const LayerSpec &layer, const SourceTokens &source, uint32_t token, std::span<std::byte> row) {
  WindowLayout layout = windowLayout(layer);
  size_t first = size_t(token) * layer.topk;
  std::memcpy(row.data(), &source.ids[first], layer.topk * sizeof(int32_t));
  std::memcpy(row.data() + layout.metaWeights, &source.weights[first], layer.topk * sizeof(float));
  std::memcpy(row.data() + layout.metaToken, &token, sizeof token);
  if (layer.scaleBytes)
    std::memcpy(row.data() + layout.metaScales, &source.scales[size_t(token) * layer.scaleBytes], layer.scaleBytes);
}

ReferenceCombined referenceCombine(const LayerSpec &layer, const SourceTokens &source, std::span<const int32_t> slots,
                                   bool weighted, const ExpertRow &expertRow) {
  ReferenceCombined result;
  uint64_t bytes = combineRowBytes(layer);
  result.out.resize(source.tokens * bytes);
  result.outWeights.assign(size_t(source.tokens) * layer.topk, 0.0f);
  std::vector<float> sum(layer.hidden);
  for (uint32_t t = 0; t < source.tokens; ++t) {
    size_t first = size_t(t) * layer.topk;
    auto list = contributionsOf(layer, &source.ids[first], &slots[first], weighted ? &source.weights[first] : nullptr);
    std::fill(sum.begin(), sum.end(), 0.0f);
    for (const Contribution &c : list) {
      const std::byte *row = expertRow(c.rank, c.slot, c.k);
      for (uint32_t h = 0; h < layer.hidden; ++h)
        sum[h] = fusedMultiplyAdd(c.weight, loadElement(layer.combineDType, row, h), sum[h]);
    }
    for (uint32_t h = 0; h < layer.hidden; ++h)
      storeElement(layer.combineDType, &result.out[t * bytes], h, sum[h]);
    // Every contributing rank holds the token's weights verbatim, so the sum is of equal addends.
    for (uint32_t k = 0; k < layer.topk; ++k)
      for (uint32_t i = 0; i < distinctRanks(list); ++i)
        result.outWeights[first + k] += source.weights[first + k];
  }
  return result;
}

void scaledExpertRow(const LayerSpec &layer, std::span<const std::byte> row, std::span<const std::byte> scales,
                     float factor, std::span<std::byte> out) {
  if (layer.dtype == layer.combineDType && factor == 1.0f) {
    std::memcpy(out.data(), row.data(), rowBytes(layer));
    return;
  }
  uint32_t blocks = isF8(layer.dtype) ? layer.scaleBytes / sizeof(float) : 0;
  for (uint32_t h = 0; h < layer.hidden; ++h) {
    float scale = 1.0f;
    if (blocks)
      std::memcpy(&scale, &scales[uint64_t(h) * blocks / layer.hidden * sizeof(float)], sizeof scale);
    storeElement(layer.combineDType, out.data(), h, loadElement(layer.dtype, row.data(), h) * scale * factor);
  }
}

} // namespace interlock
