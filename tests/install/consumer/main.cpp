// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// A program outside the tree that uses the installed library, and an example of doing so: two ranks on emulated devices
// send each token to its one expert and back. Experts leave rows as they are, so every token must return bit for bit.
// With the argument `without-compiler` it stops before the kernels are needed.
#include "interlock/interlock.hpp"

#include <cstdio>
#include <optional>
#include <string_view>

using namespace interlock;

namespace {

LayerSpec smallLayer() {
  LayerSpec layer;
  layer.ranks = 2;
  layer.experts = 4;
  layer.topk = 1;
  layer.hidden = 64;
  layer.dtype = layer.combineDType = DType::bf16;
  layer.maxTokens = 8;
  return layer;
}

/// What one rank has on its device, and what it sent.
struct Rank {
  StreamId stream{};
  DeviceAddress x = 0, ids = 0, weights = 0, out = 0;
  std::vector<uint16_t> rows;
  std::optional<RoutingHandle> handle;
};

template <typename T>
Result<DeviceAddress> upload(Driver &driver, uint32_t device, StreamId stream, const std::vector<T> &values) {
  ILK_ASSIGN_OR_RETURN(DeviceAddress address, driver.allocate(device, values.size() * sizeof(T)));
  ILK_RETURN_IF_ERROR(driver.copyIn(stream, address, values.data(), values.size() * sizeof(T)));
  ILK_RETURN_IF_ERROR(driver.synchronize(stream));
  return address;
}

Result<Rank> prepare(Driver &driver, uint32_t device, const LayerSpec &layer) {
  Rank rank;
  std::vector<int32_t> ids;
  for (uint32_t token = 0; token < layer.maxTokens; ++token) {
    ids.push_back(static_cast<int32_t>((token + device) % layer.experts));
    for (uint32_t column = 0; column < layer.hidden; ++column)
      rank.rows.push_back(static_cast<uint16_t>(0x3f00 + device * 64 + token * 7 + column)); // finite bf16 values
  }
  ILK_ASSIGN_OR_RETURN(rank.stream, driver.createStream(device));
  ILK_ASSIGN_OR_RETURN(rank.x, upload(driver, device, rank.stream, rank.rows));
  ILK_ASSIGN_OR_RETURN(rank.ids, upload(driver, device, rank.stream, ids));
  ILK_ASSIGN_OR_RETURN(rank.weights, upload(driver, device, rank.stream, std::vector<float>(ids.size(), 1.0f)));
  ILK_ASSIGN_OR_RETURN(rank.out, driver.allocate(device, rank.rows.size() * sizeof(uint16_t)));
  return rank;
}

Status roundTrip(Driver &driver, KernelCache &cache, const LayerSpec &layer) {
  ILK_ASSIGN_OR_RETURN(Operation operation, Operation::create(driver, cache, layer));
  std::vector<Rank> ranks;
  for (uint32_t r = 0; r < layer.ranks; ++r) {
    ILK_ASSIGN_OR_RETURN(Rank rank, prepare(driver, operation.device(r), layer));
    ranks.push_back(std::move(rank));
  }
  for (uint32_t r = 0; r < layer.ranks; ++r) {
    Rank &rank = ranks[r];
    DispatchArguments arguments{rank.x, 0, rank.ids, rank.weights, layer.maxTokens};
    ILK_ASSIGN_OR_RETURN(rank.handle, operation.dispatch(r, rank.stream, arguments));
    // The experts of this rank would run here, on the same stream.
    ILK_ASSIGN_OR_RETURN(LandedRows landed, operation.landed(*rank.handle));
    ILK_RETURN_IF_ERROR(driver.copy(rank.stream, landed.expertOut, landed.rows,
                                    uint64_t(layer.ranks) * layer.rowsPerSource() * landed.rowStride));
  }
  for (uint32_t r = 0; r < layer.ranks; ++r) {
    CombineArguments arguments{ranks[r].out, 0, 0, layer.maxTokens};
    ILK_RETURN_IF_ERROR(operation.combine(r, ranks[r].stream, *ranks[r].handle, arguments));
  }
  for (Rank &rank : ranks) {
    std::vector<uint16_t> back(rank.rows.size());
    ILK_RETURN_IF_ERROR(driver.copyOut(rank.stream, back.data(), rank.out, back.size() * sizeof(uint16_t)));
    ILK_RETURN_IF_ERROR(driver.synchronize(rank.stream));
    if (back != rank.rows)
      return makeError(Code::internal, "expected every token to return as it was sent, got other bits");
  }
  return {};
}

Status consume(bool withCompiler) {
  LayerSpec layer = smallLayer();
  ILK_RETURN_IF_ERROR(validate(layer));
  layer.topk = 33;
  if (validate(layer))
    return makeError(Code::internal, "expected a top-k of 33 to be refused, it was accepted");
  layer = smallLayer();
  ILK_ASSIGN_OR_RETURN(std::unique_ptr<Driver> driver, openEmulator({.target = "sm_90a", .devices = layer.ranks}));
  ILK_RETURN_IF_ERROR(driver->info(layer.ranks - 1));
  if (!withCompiler)
    return {};
  std::shared_ptr<KernelCache> cache = openKernelCache({});
  return roundTrip(*driver, *cache, layer);
}

} // namespace

int main(int argc, char **argv) {
  Status status = consume(argc < 2 || std::string_view(argv[1]) != "without-compiler");
  if (!status)
    std::fprintf(stderr, "%s\n", status.error().message.c_str());
  return status ? 0 : 1;
}
