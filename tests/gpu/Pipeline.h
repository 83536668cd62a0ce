// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// Steps of one operation that are enqueued without waiting: every step has its own tensors, so a row of another step,
// or of another operation, shows when all is compared at the end.
#pragma once

#include "interlock/operation.hpp"
#include "runtime/Memory/DeviceBuffer.h"
#include "runtime/Ops/Routing.h"

#include <memory>
#include <optional>
#include <vector>

namespace interlock::test {

struct PipelineOptions {
  LayerSpec layer; ///< dtype is combineDType: experts are the identity and stay on the device
  OperationOptions operation;
  std::vector<uint32_t> tokens; ///< per rank
  uint32_t steps = 6;
  uint64_t seed = 0;
};

class Pipeline {
public:
  /// Null, with a failure of the test recorded, if it cannot be made.
  static std::unique_ptr<Pipeline> create(Driver &driver, KernelCache &cache, const PipelineOptions &options);
  ~Pipeline();

  /// Enqueues one kernel of one rank; the dispatch is followed by the experts. Nothing waits.
  void dispatch(uint32_t rank, uint32_t step);
  void combine(uint32_t rank, uint32_t step);
  /// Waits for everything and compares every step's results with the reference.
  void expectRight();

private:
  struct Tensors {
    std::vector<std::byte> hostX;
    TokenRouting routing;
    DeviceBuffer x, ids, weights, out;
    std::optional<RoutingHandle> handle;
  };
  Pipeline(Driver &driver, Operation operation, const PipelineOptions &options)
      : driver(driver), operation(std::move(operation)), options(options) {}
  Status allocate();
  Status upload(uint32_t rank, Tensors &mine);

  Driver &driver;
  Operation operation;
  PipelineOptions options;
  std::vector<StreamId> streams;
  std::vector<std::vector<Tensors>> tensors; ///< [step][rank]
};

} // namespace interlock::test
