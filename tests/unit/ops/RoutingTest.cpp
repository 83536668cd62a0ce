// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// Generated routings and the trace readers, good files and bad ones.
#include "runtime/Ops/Routing.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <set>

using namespace interlock;
using testing::ElementsAre;
using testing::HasSubstr;

namespace {

LayerSpec layerOf(uint32_t experts, uint32_t topk) {
  LayerSpec layer;
  layer.ranks = 4;
  layer.experts = experts;
  layer.topk = topk;
  layer.hidden = 64;
  layer.maxTokens = 256;
  return layer;
}

std::vector<TokenRouting> make(const LayerSpec &layer, const RoutingOptions &options, uint64_t step = 0) {
  auto result = makeRouting(layer, options, {256, 0, 3, 256}, step);
  EXPECT_TRUE(result) << result.error().message;
  return result ? *result : std::vector<TokenRouting>();
}

void expectDistinct(const LayerSpec &layer, const TokenRouting &routing) {
  for (size_t at = 0; at < routing.ids.size(); at += layer.topk) {
    std::set<int32_t> seen(&routing.ids[at], &routing.ids[at] + layer.topk);
    ASSERT_EQ(seen.size(), layer.topk);
    ASSERT_GE(*seen.begin(), 0);
    ASSERT_LT(*seen.rbegin(), int32_t(layer.experts));
  }
}

TEST(Routing, IdsAreDistinctWhateverTheSkew) {
  for (const char *text : {"uniform", "zipf:0", "zipf:1.2", "zipf:16"}) {
    auto options = parseRouting(text);
    ASSERT_TRUE(options) << options.error().message;
    for (LayerSpec layer : {layerOf(64, 8), layerOf(32, 32), layerOf(5, 1)})
      for (const TokenRouting &routing : make(layer, *options))
        expectDistinct(layer, routing);
  }
}

TEST(Routing, SeedStepAndRankDecide) {
  LayerSpec layer = layerOf(64, 8);
  RoutingOptions options;
  auto first = make(layer, options), again = make(layer, options), nextStep = make(layer, options, 1);
  options.seed = 1;
  auto other = make(layer, options);
  EXPECT_EQ(first[0].ids, again[0].ids);
  EXPECT_EQ(first[0].weights, again[0].weights);
  EXPECT_NE(first[0].ids, first[3].ids);
  EXPECT_NE(first[0].ids, nextStep[0].ids);
  EXPECT_NE(first[0].ids, other[0].ids);
  EXPECT_EQ(first[1].ids.size(), 0u);
  EXPECT_EQ(first[2].ids.size(), 24u);
}

TEST(Routing, ZipfPrefersLowExpertsAndUniformDoesNot) {
  LayerSpec layer = layerOf(64, 2);
  auto share = [&](const char *text) {
    auto routing = make(layer, *parseRouting(text));
    return std::count_if(routing[0].ids.begin(), routing[0].ids.end(), [](int32_t id) { return id < 8; });
  };
  EXPECT_NEAR(double(share("uniform")), 512.0 / 8, 30);
  EXPECT_GT(share("zipf:1.5"), 350);
}

TEST(Routing, TheMaskHitsItsShare) {
  LayerSpec layer = layerOf(64, 8);
  RoutingOptions options;
  options.mask = 0.25;
  auto routing = make(layer, options);
  EXPECT_NEAR(double(std::count(routing[0].ids.begin(), routing[0].ids.end(), -1)), 512, 60);
  options.mask = 1;
  EXPECT_THAT(make(layer, options)[0].ids, testing::Each(-1));
}

TEST(Routing, WeightsAreInTheHalfOpenUnitInterval) {
  auto routing = make(layerOf(64, 8), {});
  EXPECT_THAT(routing[0].weights, testing::Each(testing::AllOf(testing::Gt(0.0f), testing::Le(1.0f))));
}

TEST(Routing, BadTextsAreRefused) {
  for (const char *text : {"zipf", "zipf:", "zipf:x", "zipf:-1", "zipf:nan", "zipf:1x", "random", ""}) {
    auto options = parseRouting(text);
    ASSERT_FALSE(options) << text;
    EXPECT_EQ(options.error().code, Code::badInput);
  }
  EXPECT_THAT(parseRouting("/nowhere/trace.csv").error().message, HasSubstr("expected a readable file"));
}

std::string npy(const std::string &descr, const std::string &order, const std::string &shape, const std::string &data,
                char version = 1) {
  std::string header = "{'descr': '" + descr + "', 'fortran_order': " + order + ", 'shape': " + shape + ", }\n";
  std::string bytes = std::string("\x93NUMPY") + version + '\0';
  for (int i = 0; i < (version == 1 ? 2 : 4); ++i)
    bytes += char(header.size() >> (8 * i) & 0xff);
  return bytes + header + data;
}

template <typename Int> std::string littleEndian(std::initializer_list<Int> values) {
  std::string data;
  for (Int value : values)
    for (size_t i = 0; i < sizeof value; ++i)
      data += char(uint64_t(value) >> (8 * i) & 0xff);
  return data;
}

TEST(RoutingTrace, ReadsNpy) {
  for (char version : {1, 2, 3}) {
    auto trace =
        parseRoutingTrace("a.npy", npy("<i4", "False", "(2, 3)", littleEndian<int32_t>({1, 2, 3, 4, -1, 6}), version));
    ASSERT_TRUE(trace) << trace.error().message;
    EXPECT_EQ(trace->tokens, 2u);
    EXPECT_EQ(trace->topk, 3u);
    EXPECT_THAT(trace->ids, ElementsAre(1, 2, 3, 4, -1, 6));
  }
  auto wide = parseRoutingTrace("a.npy", npy("<i8", "False", "(1,2)", littleEndian<int64_t>({300, -1})));
  ASSERT_TRUE(wide) << wide.error().message;
  EXPECT_THAT(wide->ids, ElementsAre(300, -1));
}

TEST(RoutingTrace, RefusesBadNpy) {
  std::string six = littleEndian<int32_t>({1, 2, 3, 4, 5, 6});
  struct Case {
    std::string bytes, says;
  };
  for (const Case &each : {Case{"", "NumPy magic"}, Case{"PK\x03\x04 not an array", "NumPy magic"},
                           Case{npy("<f4", "False", "(2, 3)", six), "little-endian integers"},
                           Case{npy(">i4", "False", "(2, 3)", six), "little-endian integers"},
                           Case{npy("<i4", "True", "(2, 3)", six), "Fortran order"},
                           Case{npy("<i4", "False", "(6,)", six), "shape (tokens, top-k)"},
                           Case{npy("<i4", "False", "(1, 2, 3)", six), "found (1, 2, 3)"},
                           Case{npy("<i4", "False", "(0, 3)", ""), "shape (tokens, top-k)"},
                           Case{npy("<i4", "False", "(3, 3)", six), "found 24 bytes"},
                           Case{npy("<i4", "False", "(4611686018427387905, 4)", six), "bytes of data"},
                           Case{npy("<i4", "False", "(2, 3)", six).substr(0, 30), "header of"},
                           Case{npy("<i4", "False", "(2, 3)", six, 9), "version 1, 2 or 3"},
                           Case{npy("<i8", "False", "(1, 1)", littleEndian<int64_t>({int64_t(1) << 40})), "32 bits"}}) {
    auto trace = parseRoutingTrace("bad.npy", each.bytes);
    ASSERT_FALSE(trace) << each.says;
    EXPECT_EQ(trace.error().code, Code::badInput);
    EXPECT_THAT(trace.error().message, testing::AllOf(HasSubstr("bad.npy"), HasSubstr(each.says)));
  }
}

TEST(RoutingTrace, NoBytesMakeTheReaderCrash) {
  std::string good = npy("<i4", "False", "(2, 3)", littleEndian<int32_t>({1, 2, 3, 4, 5, 6}));
  for (size_t at = 0; at < good.size(); ++at) {
    (void)parseRoutingTrace("a.npy", good.substr(0, at));
    for (int bit = 0; bit < 8; ++bit) {
      std::string flipped = good;
      flipped[at] = char(flipped[at] ^ (1 << bit));
      (void)parseRoutingTrace("a.npy", flipped);
      (void)parseRoutingTrace("a.csv", flipped);
    }
  }
}

TEST(RoutingTrace, ReadsCsv) {
  auto trace = parseRoutingTrace("a.csv", "e0,e1\r\n1, 2\r\n\n-1,4");
  ASSERT_TRUE(trace) << trace.error().message;
  EXPECT_EQ(trace->tokens, 2u);
  EXPECT_THAT(trace->ids, ElementsAre(1, 2, -1, 4));
}

TEST(RoutingTrace, RefusesBadCsvByLine) {
  EXPECT_THAT(parseRoutingTrace("a.csv", "1,2\n3\n").error().message, HasSubstr("line 2"));
  EXPECT_THAT(parseRoutingTrace("a.csv", "1,2\n3,x\n").error().message, HasSubstr("line 2"));
  EXPECT_THAT(parseRoutingTrace("a.csv", "1,2\n3,\n").error().message, HasSubstr("line 2"));
  EXPECT_THAT(parseRoutingTrace("a.csv", "a,b\n").error().message, HasSubstr("at least one line"));
  EXPECT_THAT(parseRoutingTrace("a.csv", "5000000000\n").error().message, HasSubstr("32 bits"));
}

TEST(RoutingTrace, RowsAreTakenInOrderAndBeginAgain) {
  LayerSpec layer = layerOf(8, 2);
  RoutingOptions options;
  options.kind = RoutingOptions::Kind::trace;
  options.trace = *parseRoutingTrace("a.csv", "0,1\n2,3\n4,5\n");
  auto routing = makeRouting(layer, options, {2, 0, 1, 1}, 0);
  ASSERT_TRUE(routing);
  EXPECT_THAT((*routing)[0].ids, ElementsAre(0, 1, 2, 3));
  EXPECT_THAT((*routing)[2].ids, ElementsAre(4, 5));
  EXPECT_THAT((*routing)[3].ids, ElementsAre(0, 1));
  EXPECT_THAT((*makeRouting(layer, options, {2, 0, 1, 1}, 1))[0].ids, ElementsAre(2, 3, 4, 5));
}

TEST(RoutingTrace, AWrongWidthOrIdIsRefused) {
  RoutingOptions options;
  options.kind = RoutingOptions::Kind::trace;
  options.trace = *parseRoutingTrace("a.csv", "0,1\n2,9\n");
  auto width = makeRouting(layerOf(16, 3), options, {1});
  ASSERT_FALSE(width);
  EXPECT_THAT(width.error().message, HasSubstr("expected a routing trace of 3 ids per token"));
  auto id = makeRouting(layerOf(8, 2), options, {1});
  ASSERT_FALSE(id);
  EXPECT_THAT(id.error().message,
              HasSubstr("expected ids from -1 to 7 in the routing trace, got 9 at token 1, column 1"));
}

} // namespace
