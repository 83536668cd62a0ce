// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
#include "runtime/Ops/LocalWork.h"

#include "runtime/Ops/Numeric.h"
#include "runtime/Ops/Random.h"
#include "runtime/Spec/LocalKernels.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <numeric>

namespace interlock {

namespace {
/// Row → the group that names it.
class Owners {
public:
  Owners(const char *what, uint32_t rows) : what(what), owner(rows, -1) {}
  Status take(uint32_t group, int32_t row) {
    if (row < 0 || size_t(row) >= owner.size())
      return makeError(Code::badInput, fmt::format("expected group {} to name {} rows from 0 to {}, got {}", group,
                                                   what, int64_t(owner.size()) - 1, row));
    if (owner[size_t(row)] >= 0)
      return makeError(Code::badInput, fmt::format("expected {} row {} in one group, got it in groups {} and {}", what,
                                                   row, owner[size_t(row)], group));
    owner[size_t(row)] = group;
    return {};
  }

private:
  const char *what;
  std::vector<int64_t> owner;
};

std::vector<int32_t> shuffled(uint32_t count, Random &random) {
  std::vector<int32_t> list(count);
  std::iota(list.begin(), list.end(), 0);
  for (uint32_t i = count; i > 1; --i)
    std::swap(list[i - 1], list[random.below(i)]);
  return list;
}
} // namespace

Status validate(const DedupGroups &groups) {
  size_t entries = size_t(groups.count()) * groups.topk;
  if (groups.rows.size() != entries || groups.weights.size() != entries)
    return makeError(Code::badInput,
                     fmt::format("expected {} rows and weights, top-k {} for each of {} groups, got {} "
                                 "and {}",
                                 entries, groups.topk, groups.count(), groups.rows.size(), groups.weights.size()));
  Owners tokens("token", groups.tokenRows), experts("expert", groups.expertRows);
  for (uint32_t g = 0; g < groups.count(); ++g) {
    ILK_RETURN_IF_ERROR(tokens.take(g, groups.tokens[g]));
    for (uint32_t k = 0; k < groups.topk; ++k)
      if (int32_t row = groups.rows[size_t(g) * groups.topk + k]; row != -1)
        ILK_RETURN_IF_ERROR(experts.take(g, row));
  }
  return {};
}

DedupGroups makeGroups(uint32_t count, uint32_t topk, uint64_t seed) {
  Random random(seed, count, topk);
  DedupGroups groups;
  groups.topk = topk;
  // Some rows more than there are groups: they must stay as they are.
  groups.tokenRows = count + 3;
  std::vector<int32_t> tokens = shuffled(groups.tokenRows, random);
  groups.tokens.assign(tokens.begin(), tokens.begin() + count);
  std::vector<bool> named(size_t(count) * topk);
  for (size_t i = 0; i < named.size(); ++i)
    named[i] = random.below(3) != 0;
  if (count)
    std::fill_n(named.begin() + std::ptrdiff_t(random.below(count)) * topk, topk,
                false); // a group without an expert here
  groups.expertRows = uint32_t(std::count(named.begin(), named.end(), true)) + 5;
  std::vector<int32_t> rows = shuffled(groups.expertRows, random);
  size_t next = 0;
  for (bool each : named) {
    groups.rows.push_back(each ? rows[next++] : -1);
    groups.weights.push_back(float(random.unit()) - 0.25f);
  }
  return groups;
}

void referenceDispatchEpilogue(const KernelSpec &spec, const DedupGroups &groups, std::span<const std::byte> tokenRows,
                               std::span<std::byte> expertRows) {
  uint64_t bytes = localRowBytes(spec);
  for (uint32_t g = 0; g < groups.count(); ++g)
    for (uint32_t k = 0; k < groups.topk; ++k)
      if (int32_t row = groups.rows[size_t(g) * groups.topk + k]; row >= 0)
        std::memcpy(&expertRows[uint64_t(row) * bytes], &tokenRows[uint64_t(groups.tokens[g]) * bytes], bytes);
}

void referenceCombinePrologue(const KernelSpec &spec, const DedupGroups &groups, bool weighted,
                              std::span<const std::byte> expertRows, std::span<std::byte> tokenRows) {
  uint64_t bytes = localRowBytes(spec);
  DType dtype = spec.layer.combineDType;
  std::vector<float> sum(spec.layer.hidden);
  for (uint32_t g = 0; g < groups.count(); ++g) {
    std::fill(sum.begin(), sum.end(), 0.0f);
    for (uint32_t k = 0; k < groups.topk; ++k) {
      size_t entry = size_t(g) * groups.topk + k;
      if (groups.rows[entry] < 0)
        continue;
      const std::byte *row = &expertRows[uint64_t(groups.rows[entry]) * bytes];
      float weight = weighted ? groups.weights[entry] : 1.0f;
      for (uint32_t h = 0; h < spec.layer.hidden; ++h)
        sum[h] = fusedMultiplyAdd(weight, loadElement(dtype, row, h), sum[h]);
    }
    for (uint32_t h = 0; h < spec.layer.hidden; ++h)
      storeElement(dtype, &tokenRows[uint64_t(groups.tokens[g]) * bytes], h, sum[h]);
  }
}

} // namespace interlock
