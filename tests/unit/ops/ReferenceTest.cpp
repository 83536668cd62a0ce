// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// The oracle against cases worked out by hand: it is small enough to be checked by reading, and these are what is easy
// to read wrongly.
#include "runtime/Ops/Reference.h"

#include "runtime/Ops/Numeric.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>

using namespace interlock;
using testing::ElementsAre;

namespace {

/// Host memory of one rank, with rows whose first element says which token they are.
struct Rank {
  std::vector<std::byte> x;
  std::vector<int32_t> ids;
  std::vector<float> weights;

  Rank(const LayerSpec &layer, std::vector<int32_t> ids) : ids(std::move(ids)), weights(this->ids.size()) {
    x.resize(tokens(layer) * rowBytes(layer));
    for (uint32_t t = 0; t < tokens(layer); ++t)
      for (uint32_t h = 0; h < layer.hidden; ++h)
        storeElement(layer.dtype, &x[t * rowBytes(layer)], h, float(t + 1));
    for (size_t i = 0; i < weights.size(); ++i)
      weights[i] = float(i + 1) * 0.25f;
  }
  uint32_t tokens(const LayerSpec &layer) const { return uint32_t(ids.size() / layer.topk); }
  SourceTokens view(const LayerSpec &layer) const { return {tokens(layer), x, {}, ids, weights}; }
};

LayerSpec smallLayer() {
  LayerSpec layer;
  layer.ranks = 3;
  layer.experts = 8; // 3 a rank: rank 2 has two
  layer.topk = 3;
  layer.hidden = 4;
  layer.dtype = layer.combineDType = DType::f32;
  layer.maxTokens = 4;
  return layer;
}

std::vector<SourceTokens> views(const LayerSpec &layer, const std::vector<Rank> &ranks) {
  std::vector<SourceTokens> list;
  for (const Rank &rank : ranks)
    list.push_back(rank.view(layer));
  return list;
}

TEST(Reference, ATokenGoesOncePerRankAndSlotsFollowTheTokensOrder) {
  LayerSpec layer = smallLayer();
  std::vector<Rank> ranks = {Rank(layer, {0, 1, 7, /**/ 4, 3, 5, /**/ 6, 0, 4}), Rank(layer, {}),
                             Rank(layer, {7, 6, -1})};
  auto result = referenceDispatch(layer, views(layer, ranks));
  EXPECT_THAT(result[0].slots, ElementsAre(0, 0, 0, /**/ 0, 0, 0, /**/ 1, 1, 1));
  EXPECT_THAT(result[0].landed[0], ElementsAre(0, 2));
  EXPECT_THAT(result[1].landed[0], ElementsAre(1, 2));
  EXPECT_THAT(result[2].landed[0], ElementsAre(0, 2));
  EXPECT_THAT(result[2].landed[2], ElementsAre(0));
  EXPECT_THAT(result[2].counts, ElementsAre(2, 0, 1));
  EXPECT_THAT(result[2].slots, ElementsAre(0, 0, -1));
  EXPECT_EQ(result[2].received, 3u);
  EXPECT_EQ(result[2].wanted, 3u);
  EXPECT_EQ(result[0].status | result[1].status | result[2].status, opOk);
}

// Rank 0 has the tokens of the test above; its second one has no expert there, and yet a row and a slot.
TEST(Reference, OwnRowsInPlaceAreAllTokensInTheirOrder) {
  LayerSpec layer = smallLayer();
  layer.ownInPlace = true;
  std::vector<Rank> ranks = {Rank(layer, {0, 1, 7, /**/ 4, 3, 5, /**/ 6, 0, 4}), Rank(layer, {}),
                             Rank(layer, {7, 6, -1, /**/ 0, 1, 2})};
  auto result = referenceDispatch(layer, views(layer, ranks));
  EXPECT_THAT(result[0].slots, ElementsAre(0, 0, 0, /**/ 0, 0, 0, /**/ 1, 2, 1));
  EXPECT_THAT(result[0].landed[0], ElementsAre(0, 1, 2));
  EXPECT_THAT(result[1].landed[0], ElementsAre(1, 2));
  EXPECT_THAT(result[2].landed[2], ElementsAre(0, 1));
  EXPECT_THAT(result[0].counts, ElementsAre(3, 0, 1));
  EXPECT_EQ(result[0].received, 4u);
  EXPECT_EQ(sentRows(layer, result, 0), 4u); // two to each of the others
  EXPECT_EQ(gatheredRows(layer, ranks[0].view(layer), result[0].slots), 6u);
  EXPECT_EQ(gatheredRows(layer, ranks[2].view(layer), result[2].slots), 2u);
  layer.ownInPlace = false;
  EXPECT_EQ(sentRows(layer, referenceDispatch(layer, views(layer, ranks)), 0), 6u);
}

TEST(Reference, BadIdsAreMaskedAndReported) {
  LayerSpec layer = smallLayer();
  std::vector<Rank> ranks = {Rank(layer, {8, -2, 0}), Rank(layer, {-1, -1, -1}), Rank(layer, {})};
  auto result = referenceDispatch(layer, views(layer, ranks));
  EXPECT_THAT(result[0].slots, ElementsAre(-1, -1, 0));
  EXPECT_EQ(result[0].status, opBadId);
  EXPECT_EQ(result[1].status, opOk);
  EXPECT_EQ(result[2].wanted, 0u);
}

TEST(Reference, OverTheCapacityRowsAreDroppedAndTheTrueCountIsTold) {
  LayerSpec layer = smallLayer();
  layer.capacity = 1;
  std::vector<Rank> ranks = {Rank(layer, {0, 1, 2, /**/ 1, 2, 3}), Rank(layer, {0, -1, -1}), Rank(layer, {})};
  auto result = referenceDispatch(layer, views(layer, ranks));
  EXPECT_THAT(result[0].slots, ElementsAre(0, 0, 0, /**/ -1, -1, 0));
  EXPECT_THAT(result[0].counts, ElementsAre(2, 1, 0));
  EXPECT_EQ(result[0].dropped, 1u); // one (token, rank) pair, though two of its experts live there
  EXPECT_EQ(result[0].status, opOverflow);
  EXPECT_EQ(result[0].received, 2u);
  EXPECT_EQ(result[0].wanted, 3u);
  EXPECT_EQ(result[1].dropped, 0u);
}

TEST(Reference, DeadRanksNeitherSendNorReceive) {
  LayerSpec layer = smallLayer();
  std::vector<Rank> ranks = {Rank(layer, {0, 3, 6}), Rank(layer, {0, 3, 6}), Rank(layer, {})};
  auto result = referenceDispatch(layer, views(layer, ranks), 1u << 1);
  EXPECT_THAT(result[0].slots, ElementsAre(0, -1, 0));
  EXPECT_THAT(result[1].slots, ElementsAre(-1, -1, -1));
  EXPECT_EQ(result[0].received, 1u);
  EXPECT_EQ(result[1].wanted, 0u);
}

TEST(Reference, CombineAddsARankOnceWithTheSumOfItsWeights) {
  LayerSpec layer = smallLayer();
  Rank rank(layer, {0, 6, 1}); // rank 0 twice, rank 2 once; weights 0.25, 0.5, 0.75
  float rows[3][4] = {{1, 2, 3, 4}, {}, {10, 20, 30, 40}};
  std::vector<int32_t> slots = {0, 0, 0};
  auto row = [&](uint32_t at, uint32_t, uint32_t k) {
    EXPECT_EQ(k, 0u);
    return reinterpret_cast<const std::byte *>(rows[at]);
  };
  auto out = referenceCombine(layer, rank.view(layer), slots, true, row);
  float got[4];
  std::memcpy(got, out.out.data(), sizeof got);
  EXPECT_THAT(got, ElementsAre(6, 12, 18, 24));               // 1.0 * row0 + 0.5 * row2
  EXPECT_THAT(out.outWeights, ElementsAre(0.5f, 1.0f, 1.5f)); // two ranks hold the token's weights

  out = referenceCombine(layer, rank.view(layer), slots, false, row);
  std::memcpy(got, out.out.data(), sizeof got);
  EXPECT_THAT(got, ElementsAre(11, 22, 33, 44));
}

TEST(Reference, CombineAddsInTheOrderOfTheFirstExperts) {
  // 2^24, 1 and -2^24 sum to 1 or 0 in f32, by the order: the sum below is right only if rank 2 comes first, then 0.
  LayerSpec layer = smallLayer();
  Rank rank(layer, {6, 0, 3});
  float rows[3][4] = {{1, 1, 1, 1}, {-0x1p24f, -0x1p24f, -0x1p24f, -0x1p24f}, {0x1p24f, 0x1p24f, 0x1p24f, 0x1p24f}};
  std::vector<int32_t> slots = {0, 0, 0};
  auto row = [&](uint32_t at, uint32_t, uint32_t) { return reinterpret_cast<const std::byte *>(rows[at]); };
  auto out = referenceCombine(layer, rank.view(layer), slots, false, row);
  float got;
  std::memcpy(&got, out.out.data(), sizeof got);
  EXPECT_EQ(got, 0.0f); // (2^24 + 1) rounds to 2^24
  rank.ids = {6, 3, 0};
  out = referenceCombine(layer, rank.view(layer), slots, false, row);
  std::memcpy(&got, out.out.data(), sizeof got);
  EXPECT_EQ(got, 1.0f);
}

TEST(Reference, WithARowPerExpertEveryExpertCounts) {
  LayerSpec layer = smallLayer();
  layer.expertRows = true;
  Rank rank(layer, {0, 6, 1});
  std::vector<int32_t> slots = {3, -1, 3};
  std::vector<float> value(4);
  auto row = [&](uint32_t at, uint32_t slot, uint32_t k) {
    EXPECT_EQ(at, 0u);
    EXPECT_EQ(slot, 3u);
    std::fill(value.begin(), value.end(), float(k + 1));
    return reinterpret_cast<const std::byte *>(value.data());
  };
  auto out = referenceCombine(layer, rank.view(layer), slots, true, row);
  float got;
  std::memcpy(&got, out.out.data(), sizeof got);
  EXPECT_EQ(got, 0.25f * 1 + 0.75f * 3);
  EXPECT_THAT(out.outWeights, ElementsAre(0.25f, 0.5f, 0.75f)); // one rank contributed
}

TEST(Reference, ATokenWithoutContributionsIsZero) {
  LayerSpec layer = smallLayer();
  Rank rank(layer, {-1, -1, -1});
  std::vector<int32_t> slots = {-1, -1, -1};
  auto out = referenceCombine(layer, rank.view(layer), slots, true,
                              [](uint32_t, uint32_t, uint32_t) -> const std::byte * { return nullptr; });
  EXPECT_THAT(out.out, testing::Each(std::byte(0)));
  EXPECT_THAT(out.outWeights, testing::Each(0.0f));
}

TEST(Reference, Fp8RowsAreScaledByBlocks) {
  LayerSpec layer = smallLayer();
  layer.dtype = DType::f8e4m3fn;
  layer.combineDType = DType::bf16;
  layer.hidden = 16;
  layer.scaleBytes = 8;
  std::vector<std::byte> row(16, std::byte(0x38)), out(32); // ones
  float scales[2] = {0.5f, 3.0f};
  scaledExpertRow(layer, row, std::as_bytes(std::span(scales)), 1.0f, out);
  for (uint32_t h = 0; h < 16; ++h)
    EXPECT_EQ(loadElement(DType::bf16, out.data(), h), h < 8 ? 0.5f : 3.0f);
  layer.scaleBytes = 0;
  scaledExpertRow(layer, row, {}, 2.0f, out);
  EXPECT_EQ(loadElement(DType::bf16, out.data(), 15), 2.0f);
}

} // namespace
