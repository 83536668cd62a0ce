// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// The same PTX gives the same bits in the emulator and on the GPU: everything that the kernels write is recorded on
// both and compared byte for byte, without an oracle in between.
#include "tests/gpu/Device.h"

#include "runtime/Memory/DeviceBuffer.h"
#include "runtime/Ops/RoundTripCheck.h"
#include "runtime/Ops/TestRows.h"

#include <fmt/format.h>

#include <algorithm>

using namespace interlock;
using test::GpuCase;

namespace {

/// Bytes that one kernel left somewhere.
struct Region {
  std::string name;
  std::vector<std::byte> bytes;
};

/// One device's run of a case; every step that fails is recorded as a failure of the test.
class Recorder {
public:
  Recorder(Driver &driver, Operation operation, const GpuCase &each)
      : driver(driver), operation(std::move(operation)), each(each) {}

  Result<std::vector<Region>> run() {
    const LayerSpec &layer = each.trip.layer;
    for (uint32_t rank = 0; rank < layer.ranks; ++rank) {
      ILK_ASSIGN_OR_RETURN(StreamId stream, driver.createStream(operation.device(rank)));
      streams.push_back(stream);
      tokens.push_back(each.trip.tokens[rank % each.trip.tokens.size()]);
    }
    tensors.resize(layer.ranks);
    for (uint32_t step = 0; step < each.steps; ++step)
      ILK_RETURN_IF_ERROR(oneStep(step));
    for (StreamId stream : streams)
      ILK_RETURN_IF_ERROR(driver.destroyStream(stream));
    return std::move(regions);
  }

private:
  struct Tensors {
    DeviceBuffer x, scales, ids, weights, out, outWeights;
    std::optional<RoutingHandle> handle;
  };

  Status put(uint32_t rank, DeviceBuffer &to, const void *from, size_t bytes) {
    ILK_ASSIGN_OR_RETURN(to, DeviceBuffer::create(driver, operation.device(rank), bytes));
    ILK_RETURN_IF_ERROR(driver.copyIn(streams[rank], to.address(), from, bytes));
    return driver.synchronize(streams[rank]);
  }
  Status canary(uint32_t rank, DeviceAddress at, uint64_t bytes) {
    return driver.fill(streams[rank], at, canaryByte, bytes);
  }
  Status record(uint32_t rank, std::string name, DeviceAddress at, uint64_t bytes) {
    Region region{fmt::format("rank {}: {}", rank, name), std::vector<std::byte>(bytes)};
    ILK_RETURN_IF_ERROR(driver.copyOut(streams[rank], region.bytes.data(), at, bytes));
    ILK_RETURN_IF_ERROR(driver.synchronize(streams[rank]));
    regions.push_back(std::move(region));
    return {};
  }
  Status recordResult(uint32_t rank, KernelKind kind) {
    ILK_ASSIGN_OR_RETURN(OperationResult r, operation.result(rank, streams[rank], kind));
    std::string text = fmt::format("{} {} {} {} {} {} {} {}", r.number, r.overflow, r.peerLost, r.badId, r.dropped,
                                   r.lost, r.received, r.wanted);
    auto bytes = std::as_bytes(std::span(text));
    regions.push_back({fmt::format("rank {}: {} result", rank, name(kind)), {bytes.begin(), bytes.end()}});
    return {};
  }

  Status prepare(uint32_t rank, uint32_t step, const TokenRouting &routing) {
    const LayerSpec &layer = each.trip.layer;
    Tensors &mine = tensors[rank];
    std::vector<std::byte> x(tokens[rank] * rowBytes(layer)), scales(uint64_t(tokens[rank]) * layer.scaleBytes);
    fillTestRows(layer.dtype, 1, step, rank, x);
    fillTestScales(layer.dtype, 1, step, rank, scales);
    ILK_RETURN_IF_ERROR(put(rank, mine.x, x.data(), x.size()));
    ILK_RETURN_IF_ERROR(put(rank, mine.scales, scales.data(), scales.size()));
    ILK_RETURN_IF_ERROR(put(rank, mine.ids, routing.ids.data(), routing.ids.size() * 4));
    ILK_RETURN_IF_ERROR(put(rank, mine.weights, routing.weights.data(), routing.weights.size() * 4));
    uint64_t out = tokens[rank] * combineRowBytes(layer), outWeights = uint64_t(tokens[rank]) * layer.topk * 4;
    uint32_t device = operation.device(rank);
    ILK_ASSIGN_OR_RETURN(mine.out, DeviceBuffer::create(driver, device, out));
    ILK_ASSIGN_OR_RETURN(mine.outWeights, DeviceBuffer::create(driver, device, outWeights));
    ILK_RETURN_IF_ERROR(canary(rank, mine.out.address(), out));
    ILK_RETURN_IF_ERROR(canary(rank, mine.outWeights.address(), outWeights));

    ILK_ASSIGN_OR_RETURN(LandedRows landed, operation.landed(rank, step % 2));
    ILK_ASSIGN_OR_RETURN(DeviceAddress slots, operation.slotMap(rank, step % 2));
    uint64_t rows = uint64_t(layer.ranks) * layer.rowsPerSource();
    ILK_RETURN_IF_ERROR(canary(rank, landed.rows, rows * landed.rowStride));
    ILK_RETURN_IF_ERROR(canary(rank, landed.meta, rows * landed.metaStride));
    ILK_RETURN_IF_ERROR(canary(rank, slots, uint64_t(layer.maxTokens) * layer.topk * 4));
    // What the experts would write; any rows do, since both devices get the same.
    std::vector<std::byte> experts(rows * (layer.expertRows ? layer.topk : 1) * landed.combineRowStride);
    fillTestRows(layer.combineDType, 2, step, rank, experts);
    ILK_RETURN_IF_ERROR(driver.copyIn(streams[rank], landed.expertOut, experts.data(), experts.size()));
    return driver.synchronize(streams[rank]);
  }

  Status synchronize() {
    for (StreamId stream : streams)
      ILK_RETURN_IF_ERROR(driver.synchronize(stream));
    return {};
  }

  Status oneStep(uint32_t step) {
    const LayerSpec &layer = each.trip.layer;
    ILK_ASSIGN_OR_RETURN(auto routing, makeRouting(layer, each.routing, tokens, step));
    for (uint32_t rank = 0; rank < layer.ranks; ++rank)
      ILK_RETURN_IF_ERROR(prepare(rank, step, routing[rank]));
    for (uint32_t rank = 0; rank < layer.ranks; ++rank) {
      Tensors &mine = tensors[rank];
      ILK_ASSIGN_OR_RETURN(mine.handle, operation.dispatch(rank, streams[rank],
                                                           {mine.x.address(), mine.scales.address(), mine.ids.address(),
                                                            mine.weights.address(), tokens[rank]}));
    }
    ILK_RETURN_IF_ERROR(synchronize());
    for (uint32_t rank = 0; rank < layer.ranks; ++rank)
      ILK_RETURN_IF_ERROR(recordDispatch(rank, step));
    for (uint32_t rank = 0; rank < layer.ranks; ++rank) {
      Tensors &mine = tensors[rank];
      ILK_RETURN_IF_ERROR(operation.combine(rank, streams[rank], *mine.handle,
                                            {mine.out.address(), mine.outWeights.address(),
                                             each.trip.weighted ? mine.weights.address() : 0, tokens[rank]}));
    }
    ILK_RETURN_IF_ERROR(synchronize());
    for (uint32_t rank = 0; rank < layer.ranks; ++rank) {
      Tensors &mine = tensors[rank];
      std::string at = fmt::format("step {}", step);
      ILK_RETURN_IF_ERROR(record(rank, at + ", out", mine.out.address(), mine.out.bytes()));
      ILK_RETURN_IF_ERROR(record(rank, at + ", weights", mine.outWeights.address(), mine.outWeights.bytes()));
      ILK_RETURN_IF_ERROR(recordResult(rank, KernelKind::combine));
    }
    return {};
  }

  Status recordDispatch(uint32_t rank, uint32_t step) {
    const LayerSpec &layer = each.trip.layer;
    ILK_ASSIGN_OR_RETURN(LandedRows landed, operation.landed(*tensors[rank].handle));
    uint64_t rows = uint64_t(layer.ranks) * layer.rowsPerSource();
    std::string at = fmt::format("step {}", step);
    ILK_RETURN_IF_ERROR(record(rank, at + ", landing", landed.rows, rows * landed.rowStride));
    ILK_RETURN_IF_ERROR(record(rank, at + ", meta", landed.meta, rows * landed.metaStride));
    ILK_RETURN_IF_ERROR(record(rank, at + ", counts", landed.counts, layer.ranks * 4));
    ILK_RETURN_IF_ERROR(
        record(rank, at + ", slots", tensors[rank].handle->slots(), uint64_t(layer.maxTokens) * layer.topk * 4));
    return recordResult(rank, KernelKind::dispatch);
  }

  Driver &driver;
  Operation operation;
  const GpuCase &each;
  std::vector<StreamId> streams;
  std::vector<uint32_t> tokens;
  std::vector<Tensors> tensors;
  std::vector<Region> regions;
};

class GpuSameBits : public test::GpuTest {
protected:
  Result<std::vector<Region>> recordOn(Driver &driver, const GpuCase &each, std::vector<KernelSpec> &specs) {
    ILK_ASSIGN_OR_RETURN(Operation operation,
                         Operation::create(driver, test::sharedCache(), each.trip.layer, each.trip.operation));
    specs = {operation.kernel(KernelKind::dispatch).spec, operation.kernel(KernelKind::combine).spec};
    return Recorder(driver, std::move(operation), each).run();
  }

  void expectSame(GpuCase each) {
    SCOPED_TRACE(each.label);
    each.trip.layer.maxTokens = *std::max_element(each.trip.tokens.begin(), each.trip.tokens.end());
    each.trip.layer.capacity = std::min(each.trip.layer.capacity, each.trip.layer.maxTokens);
    auto info = test::device()->info(0);
    ASSERT_TRUE(info) << info.error().message;
    EmulatorOptions options;
    options.target = info->target;
    options.devices = test::device()->deviceCount();
    options.seed = 3;
    auto emulator = openEmulator(options);
    ASSERT_TRUE(emulator) << emulator.error().message;

    std::vector<KernelSpec> here, there;
    auto real = recordOn(*test::device(), each, here);
    ASSERT_TRUE(real) << real.error().message;
    auto emulated = recordOn(**emulator, each, there);
    ASSERT_TRUE(emulated) << emulated.error().message;
    ASSERT_EQ(here, there); // the same entry of the same cache: the same PTX
    ASSERT_EQ(real->size(), emulated->size());
    for (size_t i = 0; i < real->size(); ++i) {
      const Region &a = (*real)[i], &b = (*emulated)[i];
      ASSERT_EQ(a.bytes.size(), b.bytes.size()) << a.name;
      auto differs = std::mismatch(a.bytes.begin(), a.bytes.end(), b.bytes.begin());
      EXPECT_TRUE(differs.first == a.bytes.end())
          << a.name << " differs first at byte " << differs.first - a.bytes.begin() << " of " << a.bytes.size();
    }
  }

  /// Small and with an explicit geometry, which both devices are given.
  GpuCase small() {
    GpuCase each;
    each.trip.layer.hidden = 96;
    each.trip.tokens = {19, 0, 8, 33};
    each.trip.operation.dispatch = {8, 128, 4};
    each.trip.operation.combine = {8, 128, 2};
    each.routing.mask = 0.1;
    return each;
  }
};

TEST_F(GpuSameBits, EveryType) {
  for (DType dtype : {DType::f32, DType::f16, DType::bf16, DType::f8e4m3fn, DType::f8e5m2})
    for (DType combine : {DType::f32, DType::f16, DType::bf16}) {
      GpuCase each = small();
      each.label = fmt::format("{} to {}", name(dtype), name(combine));
      each.trip.layer.dtype = dtype;
      each.trip.layer.combineDType = combine;
      each.trip.layer.scaleBytes = byteSize(dtype) == 1 ? 16 : 0;
      expectSame(each);
    }
}

TEST_F(GpuSameBits, EveryScheduleAndCluster) {
  auto info = test::device()->info(0);
  ASSERT_TRUE(info) << info.error().message;
  auto target = findTarget(info->target);
  ASSERT_TRUE(target) << target.error().message;
  for (Schedule schedule : {Schedule::gridStride, Schedule::claimed})
    for (uint32_t cluster : {1u, 2u, 4u, 8u}) {
      if (cluster > 1 && !target->clusters)
        continue;
      GpuCase each = small();
      each.label = fmt::format("{}, cluster {}", name(schedule), cluster);
      each.trip.operation.schedule = schedule;
      each.trip.operation.cluster = cluster;
      expectSame(each);
    }
}

TEST_F(GpuSameBits, CapacitySumsAndExpertRows) {
  for (bool expertRows : {false, true})
    for (uint32_t capacity : {0u, 5u}) {
      GpuCase each = small();
      each.label = fmt::format("expert rows {}, capacity {}", expertRows, capacity);
      each.trip.layer.expertRows = expertRows;
      each.trip.layer.capacity = capacity;
      each.trip.weighted = !expertRows;
      expectSame(each);
    }
}

TEST_F(GpuSameBits, TwoAndEightRanks) {
  for (uint32_t ranks : {2u, 8u}) {
    GpuCase each = small();
    each.label = fmt::format("{} ranks", ranks);
    each.trip.layer.ranks = ranks;
    each.trip.tokens = {21, 6};
    expectSame(each);
  }
}

} // namespace
