// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// Lists of groups and the packing by expert: what is refused, in words, and what the plan says.
#include "runtime/Ops/ExpertPacking.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>

namespace interlock {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

void expectRefused(const Status &status, const char *why) {
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().code, Code::badInput);
  EXPECT_THAT(status.error().message, HasSubstr(why));
}

TEST(LocalWork, MadeGroupsAreGood) {
  for (uint32_t groups : {0u, 1u, 5u, 200u})
    for (uint32_t topk : {1u, 8u, 32u}) {
      DedupGroups made = makeGroups(groups, topk, 3);
      EXPECT_TRUE(validate(made));
      EXPECT_EQ(made.count(), groups);
      EXPECT_GT(made.tokenRows, groups) << "some rows are nobody's";
    }
}

TEST(LocalWork, RefusesRowsOutOfRangeAndRowsOfTwoGroups) {
  DedupGroups good = makeGroups(6, 4, 1);
  auto entry = std::find_if(good.rows.begin(), good.rows.end(), [](int32_t row) { return row >= 0; });
  ASSERT_NE(entry, good.rows.end());
  size_t at = size_t(entry - good.rows.begin());

  DedupGroups wrong = good;
  wrong.rows[at] = int32_t(good.expertRows);
  expectRefused(validate(wrong), "to name expert rows from 0 to");
  wrong = good;
  wrong.rows[at] = -2;
  expectRefused(validate(wrong), "got -2");
  wrong = good;
  wrong.tokens[2] = -1;
  expectRefused(validate(wrong), "expected group 2 to name token rows");
  wrong = good;
  wrong.tokens[5] = wrong.tokens[0];
  expectRefused(validate(wrong), "in groups 0 and 5");
  wrong = good;
  wrong.weights.pop_back();
  expectRefused(validate(wrong), "expected 24 rows and weights");
}

// The order of the sum is the list's, which shows where rounding depends on it.
TEST(LocalWork, TheSumIsInTheListsOrder) {
  KernelSpec spec = localKernel(KernelKind::combinePrologue, 3, 4, DType::f32);
  DedupGroups groups{
      .topk = 3, .tokenRows = 1, .expertRows = 3, .tokens = {0}, .rows = {0, 1, 2}, .weights = {1, 1, 1}};
  std::vector<float> rows{1e8f, 1e8f, 1e8f, 1e8f, -1e8f, -1e8f, -1e8f, -1e8f, 1, 1, 1, 1}, out(4);
  auto bytes = [](auto &list) { return std::as_writable_bytes(std::span(list)); };
  referenceCombinePrologue(spec, groups, true, bytes(rows), bytes(out));
  EXPECT_THAT(out, ElementsAre(1, 1, 1, 1));
  groups.rows = {0, 2, 1};
  referenceCombinePrologue(spec, groups, true, bytes(rows), bytes(out));
  EXPECT_THAT(out, ElementsAre(0, 0, 0, 0));
}

LayerSpec layer() {
  return {.ranks = 2, .experts = 5, .topk = 2, .hidden = 8, .maxTokens = 8}; // rank 0 has three experts, rank 1 two
}

TEST(ExpertPacking, CountsSourcesSlotMapAndAlignment) {
  std::vector<int32_t> ids{3, 4, 4, 0, -1, 3, 99, 1};
  std::vector<float> weights(ids.size(), 0.5f);
  auto packed = packByExpert(layer(), 1, ids, weights, 4);
  ASSERT_TRUE(packed) << packed.error().message;
  EXPECT_TRUE(validate(*packed));
  EXPECT_THAT(packed->counts, ElementsAre(2, 2, 0)) << "the last expert of the rank does not exist";
  EXPECT_THAT(packed->offsets, ElementsAre(0, 4, 8, 8));
  EXPECT_THAT(packed->groups.rows, ElementsAre(0, 4, 5, -1, -1, 1, -1, -1));
  EXPECT_THAT(packed->sources, ElementsAre(0, 2, -1, -1, 0, 1, -1, -1));
}

// What has no room is -1, counts and offsets end at the capacity, and the rest is as it was.
TEST(ExpertPacking, EndsAtTheCapacity) {
  std::vector<int32_t> ids{3, 4, 4, 0, -1, 3, 3, 4};
  std::vector<float> weights(ids.size(), 0.5f);
  auto packed = packByExpert(layer(), 1, ids, weights, 4, 4);
  ASSERT_TRUE(packed) << packed.error().message;
  EXPECT_TRUE(validate(*packed));
  EXPECT_THAT(packed->counts, ElementsAre(3, 0, 0));
  EXPECT_THAT(packed->offsets, ElementsAre(0, 4, 4, 4));
  EXPECT_THAT(packed->groups.rows, ElementsAre(0, -1, -1, -1, -1, 1, 2, -1));
  EXPECT_THAT(packed->sources, ElementsAre(0, 2, 3, -1));
  EXPECT_EQ(packed->wanted, 8u);
  EXPECT_EQ(packed->dropped, 3u);
  packed = packByExpert(layer(), 1, ids, weights, 1, 2);
  ASSERT_TRUE(packed);
  EXPECT_THAT(packed->counts, ElementsAre(2, 0, 0)) << "an expert that has room in part";
  EXPECT_EQ(packed->dropped, 4u);
}

TEST(ExpertPacking, RefusesWhatDoesNotAddUp) {
  std::vector<int32_t> ids{3, 4, 4, 3};
  std::vector<float> weights(ids.size());
  auto refused = [&](auto packed, const char *why) {
    ASSERT_FALSE(packed);
    EXPECT_THAT(packed.error().message, HasSubstr(why));
  };
  refused(packByExpert(layer(), 2, ids, weights), "expected a rank below 2");
  refused(packByExpert(layer(), 1, ids, weights, 0), "got 0");
  refused(packByExpert(layer(), 1, std::span(ids).first(3), std::span(weights).first(3)), "2 ids and as many weights");
  auto good = packByExpert(layer(), 1, ids, weights);
  ASSERT_TRUE(good);
  PackedExperts wrong = *good;
  wrong.counts[0] = 1;
  expectRefused(validate(wrong), "to add up to the 4 rows of the slot map, got 3");
  wrong = *good;
  wrong.counts[0] = 3;
  expectRefused(validate(wrong), "to end before the next one's begin");
  wrong = *good;
  wrong.sources.pop_back();
  expectRefused(validate(wrong), "a source for each of 4 packed rows");
}

} // namespace
} // namespace interlock
