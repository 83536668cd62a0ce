// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// The local kernels beyond the wave test: element types, top-k, depths of the ring, chips, schedules; lists with faults
// in them; and the two conversions to rows that are packed by expert and back.
#include "runtime/Memory/DeviceBuffer.h"
#include "runtime/Ops/ExpertPacking.h"
#include "runtime/Ops/LocalRun.h"
#include "runtime/Ops/Numeric.h"
#include "runtime/Ops/Random.h"
#include "runtime/Ops/TestRows.h"
#include "tests/emulator/EndToEnd.h"

#include <gmock/gmock.h>

#include <cstring>

namespace interlock::test {
namespace {

constexpr KernelKind bothKinds[] = {KernelKind::dispatchEpilogue, KernelKind::combinePrologue};

void expectRight(const KernelSpec &spec, uint32_t groups, uint32_t grid, uint32_t residency, uint64_t seed,
                 bool weighted = true) {
  SCOPED_TRACE(canonicalForm(spec) + "seed " + std::to_string(seed));
  auto driver = openEmulator({.target = spec.target, .residency = residency, .seed = seed});
  ASSERT_TRUE(driver) << driver.error().message;
  auto report = runLocal(**driver, sharedCache(),
                         {.spec = spec, .groups = groups, .grid = grid, .seed = seed, .weighted = weighted});
  ASSERT_TRUE(report) << report.error().message;
  EXPECT_EQ(report->wrongRows, 0u) << report->firstWrong;
  EXPECT_EQ(report->status, 0u);
  EXPECT_EQ(report->launchMode, LaunchMode::any);
}

TEST(Local, TypesTopkAndChips) {
  for (KernelKind kind : bothKinds)
    for (const char *target : {"sm_80", "sm_90a", "sm_100a", "sm_103a", "sm_120a"})
      for (DType dtype : {DType::f32, DType::f16, DType::bf16})
        for (uint32_t topk : {1u, 32u})
          expectRight(localKernel(kind, topk, 200, dtype, target), 11, 4, 2, topk);
  for (DType dtype : {DType::f8e4m3fn, DType::f8e4m3fnuz, DType::f8e5m2})
    expectRight(localKernel(KernelKind::dispatchEpilogue, 4, 208, dtype), 11, 4, 2, 1);
  expectRight(localKernel(KernelKind::combinePrologue, 8, 64, DType::bf16), 9, 2, 1, 5, /*weighted=*/false);
}

// One packet, odd numbers of them, rows of several pieces with a shorter last one, rows longer than the whole ring.
TEST(Local, RowsOfAnyLengthThroughRingsOfAnyDepth) {
  for (KernelKind kind : bothKinds)
    for (uint32_t stages : {2u, 3u, 8u})
      for (uint32_t hidden : {4u, 2052u, 4108u, 16396u}) {
        KernelSpec spec = localKernel(kind, 3, hidden, DType::f32);
        spec.stages = stages;
        ASSERT_TRUE(validate(spec)) << validate(spec).error().message;
        expectRight(spec, 7, 2, 2, stages);
      }
}

TEST(Local, FewThreadsAndManySeeds) {
  KernelSpec narrow = localKernel(KernelKind::combinePrologue, 4, 1032, DType::bf16);
  narrow.blockThreads = 64; // one warp reduces, in pieces of 32 packets
  for (uint64_t seed = 0; seed < 6; ++seed) {
    expectRight(narrow, 9, 3, 2, seed);
    expectRight(localKernel(KernelKind::dispatchEpilogue, 8, 96, DType::bf16), 40, 3, 3, seed);
  }
}

/// Arrays on a device, and a kernel over them.
struct Bench {
  explicit Bench(const std::string &target = "sm_90a") {
    auto opened = openEmulator({.target = target, .residency = 2});
    EXPECT_TRUE(opened);
    driver = std::move(*opened);
    stream = *driver->createStream(0);
  }
  template <typename T> DeviceAddress put(const std::vector<T> &list) {
    buffers.push_back(*DeviceBuffer::create(*driver, 0, list.size() * sizeof(T)));
    EXPECT_TRUE(driver->copyIn(stream, buffers.back().address(), list.data(), list.size() * sizeof(T)));
    EXPECT_TRUE(driver->synchronize(stream));
    return buffers.back().address();
  }
  std::vector<std::byte> get(DeviceAddress from, size_t bytes) {
    std::vector<std::byte> list(bytes);
    EXPECT_TRUE(driver->copyOut(stream, list.data(), from, bytes));
    EXPECT_TRUE(driver->synchronize(stream));
    return list;
  }
  /// The status word that it leaves.
  uint32_t run(const KernelSpec &spec, LocalParams params, uint32_t grid = 3) {
    params.status = put(std::vector<uint32_t>{0});
    auto kernel = LocalKernel::load(*driver, sharedCache(), 0, spec);
    EXPECT_TRUE(kernel) << kernel.error().message;
    EXPECT_TRUE(kernel->launch(stream, grid, params));
    Status ran = driver->synchronize(stream);
    EXPECT_TRUE(ran) << ran.error().message;
    uint32_t status = 0;
    std::vector<std::byte> word = get(params.status, 4);
    std::memcpy(&status, word.data(), 4);
    return status;
  }

  std::unique_ptr<Driver> driver;
  StreamId stream{};
  std::vector<DeviceBuffer> buffers;
};

// What the host did not check the kernel does not follow out of its arrays; it says so, and does the rest.
TEST(Local, GroupsThatNameRowsOutOfRangeAreLeftOut) {
  for (const char *target : {"sm_80", "sm_90a"})
    for (KernelKind kind : bothKinds) {
      SCOPED_TRACE(std::string(target) + " " + std::string(name(kind)));
      KernelSpec spec = localKernel(kind, 2, 4, DType::f32, target);
      Bench bench(target);
      std::vector<float> tokens(3 * 4), experts(4 * 4);
      for (size_t i = 0; i < tokens.size(); ++i)
        tokens[i] = float(i + 1);
      for (size_t i = 0; i < experts.size(); ++i)
        experts[i] = float(100 + i);
      LocalParams params{.groups = 4, .tokenRowCount = 3, .expertRowCount = 4};
      params.tokenRows = bench.put(tokens);
      params.expertRows = bench.put(experts);
      params.tokens = bench.put(std::vector<int32_t>{2, 7, 0, -5});
      params.rows = bench.put(std::vector<int32_t>{1, 4, 0, 2, -9, 3, 2, -1});
      EXPECT_EQ(bench.run(spec, params), uint32_t(localBadToken | localBadRow));
      // Group 0 has row 1 left, group 2 row 3; the other two have no token.
      if (kind == KernelKind::dispatchEpilogue) {
        std::memcpy(&experts[4], &tokens[8], 16);
        std::memcpy(&experts[12], &tokens[0], 16);
      } else {
        std::memcpy(&tokens[8], &experts[4], 16);
        std::memcpy(&tokens[0], &experts[12], 16);
      }
      auto same = [&](DeviceAddress at, const std::vector<float> &wanted) {
        std::vector<std::byte> got = bench.get(at, wanted.size() * 4);
        EXPECT_EQ(std::memcmp(got.data(), wanted.data(), got.size()), 0);
      };
      same(params.tokenRows, tokens);
      same(params.expertRows, experts);
    }
}

// The number of groups may lie in device memory, where a kernel before this one has left it.
TEST(Local, TheDeviceMayCountTheGroups) {
  KernelSpec spec = localKernel(KernelKind::dispatchEpilogue, 1, 8, DType::bf16);
  for (uint32_t count : {0u, 2u, 9u}) {
    Bench bench;
    std::vector<uint32_t> tokens(4 * 4, 7), experts(4 * 4, 0);
    LocalParams params{.groups = 4, .tokenRowCount = 4, .expertRowCount = 4};
    params.tokenRows = bench.put(tokens);
    params.expertRows = bench.put(experts);
    params.rows = bench.put(std::vector<int32_t>{3, 2, 1, 0});
    params.count = bench.put(std::vector<uint32_t>{count});
    EXPECT_EQ(bench.run(spec, params), 0u);
    uint32_t written = std::min(count, 4u);
    std::fill(experts.end() - 4 * written, experts.end(), 7);
    EXPECT_EQ(std::memcmp(bench.get(params.expertRows, 64).data(), experts.data(), 64), 0);
  }
}

// convert_dispatch_output, identity experts, convert_combine_input: sum_k w[k] * x over the local experts.
TEST(Local, PackedByExpertAndBack) {
  LayerSpec layer{.ranks = 3, .experts = 10, .topk = 4, .hidden = 136, .maxTokens = 64};
  constexpr uint32_t received = 23, rank = 1;
  Random random(5);
  std::vector<int32_t> ids;
  std::vector<float> weights;
  for (uint32_t i = 0; i < received * layer.topk; ++i) {
    ids.push_back(int32_t(random.below(layer.experts + 1)) - 1);
    weights.push_back(float(random.unit()));
  }
  auto packed = packByExpert(layer, rank, ids, weights, 8);
  ASSERT_TRUE(packed) << packed.error().message;
  ASSERT_TRUE(validate(*packed));
  KernelSpec out = localKernel(KernelKind::dispatchEpilogue, layer.topk, layer.hidden, DType::bf16);
  KernelSpec in = localKernel(KernelKind::combinePrologue, layer.topk, layer.hidden, DType::bf16);
  uint64_t rowBytes = localRowBytes(out);
  std::vector<std::byte> x(received * rowBytes), poisoned(packed->rows() * rowBytes, std::byte(0xff));
  fillTestRows(DType::bf16, 1, 0, 0, x);
  Bench bench;
  LocalParams params{.groups = received, .tokenRowCount = received, .expertRowCount = packed->rows()};
  params.tokenRows = bench.put(x);
  params.expertRows = bench.put(poisoned);
  params.rows = bench.put(packed->groups.rows);
  params.weights = bench.put(packed->groups.weights);
  ASSERT_TRUE(zeroPadding(*bench.driver, bench.stream, *packed, params.expertRows, rowBytes));
  EXPECT_EQ(bench.run(out, params), 0u);
  std::vector<std::byte> rows = bench.get(params.expertRows, poisoned.size()), zeros(rowBytes);
  for (uint32_t row = 0; row < packed->rows(); ++row) {
    const std::byte *wanted = packed->sources[row] < 0 ? zeros.data() : &x[size_t(packed->sources[row]) * rowBytes];
    EXPECT_EQ(std::memcmp(&rows[row * rowBytes], wanted, rowBytes), 0) << "packed row " << row;
  }
  params.tokenRows = bench.put(std::vector<std::byte>(received * rowBytes, std::byte(0xff)));
  EXPECT_EQ(bench.run(in, params), 0u);
  std::vector<std::byte> back = bench.get(params.tokenRows, x.size());
  for (uint32_t g = 0; g < received; ++g)
    for (uint32_t h = 0; h < layer.hidden; ++h) {
      float sum = 0;
      for (uint32_t k = 0; k < layer.topk; ++k)
        if (int32_t id = ids[g * layer.topk + k]; id >= 4 && id < 8) // the experts of rank 1
          sum = fusedMultiplyAdd(weights[g * layer.topk + k], loadElement(DType::bf16, &x[g * rowBytes], h), sum);
      std::vector<std::byte> wanted(2);
      storeElement(DType::bf16, wanted.data(), 0, sum);
      ASSERT_EQ(std::memcmp(&back[g * rowBytes + 2 * h], wanted.data(), 2), 0) << "row " << g << ", element " << h;
    }
}

} // namespace
} // namespace interlock::test
