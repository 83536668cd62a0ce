// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// The operation object: kernels from the cache, windows from the arena, and the bookkeeping of steps that makes it
// impossible to give combine something else than its own dispatch.
#include "interlock/operation.hpp"

#include "runtime/Memory/DeviceBuffer.h"
#include "runtime/Memory/SymmetricArena.h"
#include "runtime/Memory/WindowExchange.h"
#include "runtime/Ops/Conversion.h"
#include "runtime/Ops/OperationKernels.h"

#include <fmt/format.h>

#include <array>
#include <cstddef>
#include <cstring>

namespace interlock {

struct RoutingHandle::State {
  const void *owner = nullptr; ///< only compared, never followed: a handle may outlive its operation
  uint32_t rank = 0, tokens = 0, buffer = 0;
  uint64_t step = 0;
  DeviceAddress slots = 0, ids = 0;
  bool used = false;
};

RoutingHandle::RoutingHandle(std::shared_ptr<State> state) : state(std::move(state)) {}
RoutingHandle::RoutingHandle(RoutingHandle &&) noexcept = default;
RoutingHandle &RoutingHandle::operator=(RoutingHandle &&) noexcept = default;
RoutingHandle::~RoutingHandle() = default;
uint32_t RoutingHandle::rank() const { return state->rank; }
uint32_t RoutingHandle::tokens() const { return state->tokens; }
uint64_t RoutingHandle::step() const { return state->step; }
DeviceAddress RoutingHandle::slots() const { return state->slots; }

namespace {
struct RankState {
  std::optional<uint32_t> device;                          ///< none where another process has the rank
  uint64_t steps = 0;                                      ///< dispatches so far; step n uses buffer n % buffers
  std::array<DeviceBuffer, WindowLayout::buffers> slots{}; ///< i32 [maxTokens][topk] each
  /// Steps that were given up: nothing on the stream says when the rows in their buffer have been read.
  std::array<bool, WindowLayout::buffers> uncombined{};
};

tl::unexpected<Error> misuse(std::string message) { return makeError(Code::badInput, std::move(message)); }

Status requireAligned(const char *what, DeviceAddress address, uint32_t alignment, bool mayBeNull) {
  if (!address && !mayBeNull)
    return misuse(fmt::format("expected a device pointer for {}, got none", what));
  if (address % alignment)
    return misuse(fmt::format("expected {} at a multiple of {} bytes, got {:#x}", what, alignment, address));
  return {};
}

template <typename T> Status statusOf(const Result<T> &result) {
  return result ? Status() : Status(tl::unexpected(result.error()));
}

template <typename Params> std::span<const std::byte> bytesOf(const Params &params) {
  return std::as_bytes(std::span<const Params, 1>(&params, 1));
}
} // namespace

struct Operation::State {
  State(Driver &driver, SymmetricArena arena, OperationKernels kernels, std::optional<Conversion> conversion,
        const OperationOptions &options)
      : driver(&driver), arena(std::move(arena)), kernels(std::move(kernels)), conversion(std::move(conversion)),
        options(options), ranks(this->arena.layer().ranks), inFlight(ranks.size()) {}
  State(const State &) = delete;
  State &operator=(const State &) = delete;

  const LayerSpec &layer() const { return arena.layer(); }
  Status requireRank(uint32_t rank) const {
    if (rank >= ranks.size())
      return misuse(fmt::format("expected a rank below {}, got {}", ranks.size(), rank));
    if (!ranks[rank].device)
      return misuse(fmt::format("expected a rank of this process, got {}, which another process has", rank));
    return {};
  }
  Status requireBuffer(uint32_t rank, uint32_t buffer) const {
    ILK_RETURN_IF_ERROR(requireRank(rank));
    if (buffer < WindowLayout::buffers)
      return {};
    return misuse(fmt::format("expected a buffer below {}, got {}", WindowLayout::buffers, buffer));
  }
  /// A handle that a call of this rank may use.
  Status requireHandle(uint32_t rank, const RoutingHandle::State *routing) const;
  Status requireConversion() const {
    if (conversion)
      return {};
    return misuse("expected an operation whose options ask for packing, got one without");
  }
  /// The same for a call that must come before the step's combine.
  Status requireConvertible(uint32_t rank, const RoutingHandle::State *routing) const {
    ILK_RETURN_IF_ERROR(requireConversion());
    ILK_RETURN_IF_ERROR(requireHandle(rank, routing));
    if (!routing->used)
      return {};
    return misuse(fmt::format("expected rows to be converted before their step is combined, got step {}, which is",
                              routing->step));
  }
  Status allocateSlots(const OwnRank &own);
  template <typename Params> Status launch(KernelKind kind, uint32_t rank, StreamId stream, const Params &params) {
    return kernels.launch(kind, *ranks[rank].device, stream, bytesOf(params));
  }

  Driver *driver;
  SymmetricArena arena;
  OperationKernels kernels;
  std::optional<Conversion> conversion;
  KernelReport noKernel; ///< of a kind that the operation has not
  OperationOptions options;
  std::vector<RankState> ranks;
  /// Handles of the steps in flight, by rank and buffer.
  std::vector<std::array<std::weak_ptr<RoutingHandle::State>, WindowLayout::buffers>> inFlight;
};

Status Operation::State::allocateSlots(const OwnRank &own) {
  size_t bytes = size_t(layer().maxTokens) * layer().topk * sizeof(int32_t);
  ranks[own.rank].device = own.device;
  for (DeviceBuffer &slots : ranks[own.rank].slots) {
    ILK_ASSIGN_OR_RETURN(slots, DeviceBuffer::create(*driver, own.device, bytes));
  }
  return {};
}

Status Operation::State::requireHandle(uint32_t rank, const RoutingHandle::State *routing) const {
  ILK_RETURN_IF_ERROR(requireRank(rank));
  if (!routing)
    return misuse("expected a routing handle of a dispatch, got one that was moved away");
  if (routing->owner != this)
    return misuse("expected a routing handle of this operation, got one of another");
  if (routing->rank != rank)
    return misuse(fmt::format("expected a routing handle of rank {}, got one of rank {}", rank, routing->rank));
  return {};
}

Result<Operation> Operation::create(Driver &driver, KernelCache &cache, const LayerSpec &layer,
                                    const OperationOptions &options) {
  ILK_RETURN_IF_ERROR(validate(layer)); // the number of ranks is used
  if (driver.deviceCount() == 0)
    return makeError(Code::notFound, "expected a driver with at least one device, found none");
  ProcessGroup alone;
  for (uint32_t rank = 0; rank < layer.ranks; ++rank)
    alone.own.push_back({rank, rank % driver.deviceCount()});
  return create(driver, cache, layer, alone, options);
}

Result<Operation> Operation::create(Driver &driver, KernelCache &cache, const LayerSpec &layer,
                                    const ProcessGroup &group, const OperationOptions &options) {
  // Everything that can be refused is refused before memory is taken; and whatever fails in one process, none goes on.
  std::optional<Conversion> conversion;
  auto kernels = [&]() -> Result<OperationKernels> {
    ILK_RETURN_IF_ERROR(validate(layer));
    ILK_RETURN_IF_ERROR(validate(group, layer));
    if (options.timeoutNs == 0)
      return misuse("expected a time limit of at least 1 ns for waits, got 0");
    if (options.packing) {
      ILK_ASSIGN_OR_RETURN(conversion, Conversion::get(driver, cache, layer, group, *options.packing));
    }
    return OperationKernels::get(driver, cache, layer, group, options);
  }();
  ILK_RETURN_IF_ERROR(agree(group, statusOf(kernels)));
  auto made = [&]() -> Result<std::unique_ptr<State>> {
    ILK_ASSIGN_OR_RETURN(SymmetricArena arena, SymmetricArena::create(driver, layer, group));
    auto state = std::make_unique<State>(driver, std::move(arena), std::move(*kernels), std::move(conversion), options);
    ILK_RETURN_IF_ERROR(state->kernels.load(group));
    for (const OwnRank &own : group.own) {
      ILK_RETURN_IF_ERROR(state->allocateSlots(own));
      if (state->conversion)
        ILK_RETURN_IF_ERROR(state->conversion->allocate(own));
    }
    return state;
  }();
  ILK_RETURN_IF_ERROR(agree(group, statusOf(made)));
  return Operation(std::move(*made));
}

Operation::Operation(std::unique_ptr<State> state) : state(std::move(state)) {}
Operation::Operation(Operation &&) noexcept = default;
Operation &Operation::operator=(Operation &&) noexcept = default;
Operation::~Operation() = default;
const LayerSpec &Operation::layer() const { return state->layer(); }
const KernelReport &Operation::kernel(KernelKind kind) const {
  if (!isLocal(kind))
    return state->kernels.report(kind);
  return state->conversion ? state->conversion->report(kind) : state->noKernel;
}
uint32_t Operation::device(uint32_t rank) const {
  return rank < state->ranks.size() ? state->ranks[rank].device.value_or(noDevice) : noDevice;
}

Result<RoutingHandle> Operation::dispatch(uint32_t rank, StreamId stream, const DispatchArguments &arguments) {
  ILK_RETURN_IF_ERROR(state->requireRank(rank));
  const LayerSpec &layer = state->layer();
  bool empty = arguments.tokens == 0;
  if (arguments.tokens > layer.maxTokens)
    return misuse(
        fmt::format("expected at most {} tokens (the layer's maxTokens), got {}", layer.maxTokens, arguments.tokens));
  // Rows move in 16-byte packets; a base that is off would need another kernel.
  ILK_RETURN_IF_ERROR(requireAligned("x", arguments.x, 16, empty));
  ILK_RETURN_IF_ERROR(requireAligned("scales", arguments.scales, 16, empty || layer.scaleBytes == 0));
  ILK_RETURN_IF_ERROR(requireAligned("ids", arguments.ids, 4, empty));
  ILK_RETURN_IF_ERROR(requireAligned("weights", arguments.weights, 4, empty));

  RankState &mine = state->ranks[rank];
  uint32_t buffer = uint32_t(mine.steps % WindowLayout::buffers);
  if (layer.ownInPlace && !empty) {
    ILK_ASSIGN_OR_RETURN(DeviceAddress place, ownRows(rank, buffer));
    if (arguments.x != place)
      return misuse(
          fmt::format("expected x of a layer with ownInPlace to be its ownRows for buffer {}, {:#x}, got {:#x}", buffer,
                      place, arguments.x));
  }
  auto &inFlight = state->inFlight[rank][buffer];
  if (auto other = inFlight.lock(); other && !other->used)
    return misuse(
        fmt::format("expected at most {} steps in flight, but step {} of rank {} is not combined yet; combine "
                    "it or drop its handle",
                    WindowLayout::buffers, other->step, rank));
  DispatchParams params{state->arena.base(),
                        state->arena.stride(),
                        arguments.x,
                        layer.scaleBytes ? arguments.scales : 0,
                        arguments.ids,
                        arguments.weights,
                        mine.slots[buffer].address(),
                        state->options.timeoutNs,
                        rank,
                        arguments.tokens,
                        buffer,
                        mine.uncombined[buffer]};
  ILK_RETURN_IF_ERROR(state->launch(KernelKind::dispatch, rank, stream, params));
  mine.uncombined[buffer] = true;

  auto handle = std::make_shared<RoutingHandle::State>();
  *handle = {state.get(),   rank, arguments.tokens, buffer, mine.steps++, mine.slots[buffer].address(),
             arguments.ids, false};
  inFlight = handle;
  return RoutingHandle(std::move(handle));
}

Status Operation::combine(uint32_t rank, StreamId stream, RoutingHandle &handle, const CombineArguments &arguments) {
  RoutingHandle::State *routing = handle.state.get();
  ILK_RETURN_IF_ERROR(state->requireHandle(rank, routing));
  if (routing->used)
    return misuse(fmt::format("expected a routing handle that was not combined before, got that of step {} again",
                              routing->step));
  if (routing->tokens != arguments.tokens)
    return misuse(fmt::format("expected {} tokens as in the dispatch of step {}, got {}", routing->tokens,
                              routing->step, arguments.tokens));
  bool empty = arguments.tokens == 0;
  ILK_RETURN_IF_ERROR(requireAligned("out", arguments.out, 16, empty));
  ILK_RETURN_IF_ERROR(requireAligned("outWeights", arguments.outWeights, 4, true));
  ILK_RETURN_IF_ERROR(requireAligned("weights", arguments.weights, 4, true));

  CombineParams params{state->arena.base(),
                       state->arena.stride(),
                       arguments.out,
                       arguments.outWeights,
                       routing->ids,
                       arguments.weights,
                       routing->slots,
                       state->options.timeoutNs,
                       rank,
                       arguments.tokens,
                       routing->buffer,
                       0};
  ILK_RETURN_IF_ERROR(state->launch(KernelKind::combine, rank, stream, params));
  state->ranks[rank].uncombined[routing->buffer] = false;
  routing->used = true;
  return {};
}

Status Operation::convertDispatchOutput(uint32_t rank, StreamId stream, const RoutingHandle &handle,
                                        const PackArguments &arguments) {
  const RoutingHandle::State *routing = handle.state.get();
  ILK_RETURN_IF_ERROR(state->requireConvertible(rank, routing));
  ILK_RETURN_IF_ERROR(requireAligned("rows", arguments.rows, 16, false));
  ILK_RETURN_IF_ERROR(requireAligned("scales", arguments.scales, 4, true));
  if (arguments.scales && !state->layer().scaleBytes)
    return misuse("expected no scales of a layer that has none, got a device pointer");
  ILK_ASSIGN_OR_RETURN(LandedRows from, landed(rank, routing->buffer));
  return state->conversion->dispatchOutput(rank, routing->buffer, stream, from, arguments);
}

Status Operation::convertCombineInput(uint32_t rank, StreamId stream, const RoutingHandle &handle,
                                      const UnpackArguments &arguments) {
  const RoutingHandle::State *routing = handle.state.get();
  ILK_RETURN_IF_ERROR(state->requireConvertible(rank, routing));
  ILK_RETURN_IF_ERROR(requireAligned("rows", arguments.rows, 16, false));
  ILK_ASSIGN_OR_RETURN(LandedRows to, landed(rank, routing->buffer));
  return state->conversion->combineInput(rank, routing->buffer, stream, to, arguments);
}

Result<PackedRows> Operation::packed(const RoutingHandle &handle) const {
  ILK_RETURN_IF_ERROR(state->requireConversion());
  ILK_RETURN_IF_ERROR(landed(handle)); // whether the handle is this operation's
  return state->conversion->packed(handle.state->rank, handle.state->buffer);
}

Result<PackingResult> Operation::packingResult(StreamId stream, const RoutingHandle &handle) const {
  ILK_RETURN_IF_ERROR(packed(handle));
  return state->conversion->result(handle.state->rank, handle.state->buffer, stream);
}

Result<LandedRows> Operation::landed(const RoutingHandle &handle) const {
  const RoutingHandle::State *routing = handle.state.get();
  if (!routing || routing->owner != state.get())
    return misuse("expected a routing handle of this operation, got one of another");
  return landed(routing->rank, routing->buffer);
}

Result<LandedRows> Operation::landed(uint32_t rank, uint32_t buffer) const {
  ILK_RETURN_IF_ERROR(state->requireBuffer(rank, buffer));
  const SymmetricArena &arena = state->arena;
  const WindowLayout &layout = arena.layout();
  return LandedRows{arena.landing(rank, buffer, 0),
                    arena.meta(rank, buffer, 0),
                    arena.counts(rank, buffer),
                    arena.control(rank) + offsetof(ControlBlock, lost),
                    arena.expertOut(rank, buffer, 0),
                    layout.rowStride,
                    layout.metaStride,
                    layout.combineRowStride,
                    layout.metaWeights,
                    layout.metaToken,
                    layout.metaScales};
}

Result<DeviceAddress> Operation::ownRows(uint32_t rank, uint32_t buffer) const {
  ILK_RETURN_IF_ERROR(state->requireBuffer(rank, buffer));
  const LayerSpec &layer = state->layer();
  if (!layer.ownInPlace)
    return misuse("expected a layer with ownInPlace, got one whose rows are copied from wherever x says");
  return state->arena.landing(rank, buffer, rank);
}

Result<DeviceAddress> Operation::slotMap(uint32_t rank, uint32_t buffer) const {
  ILK_RETURN_IF_ERROR(state->requireBuffer(rank, buffer));
  return state->ranks[rank].slots[buffer].address();
}

Result<OperationResult> Operation::result(uint32_t rank, StreamId stream, KernelKind kind) const {
  ILK_RETURN_IF_ERROR(state->requireRank(rank));
  OpResult raw{};
  ILK_RETURN_IF_ERROR(state->driver->copyOut(stream, &raw, state->arena.result(rank, kind), sizeof raw));
  ILK_RETURN_IF_ERROR(state->driver->synchronize(stream));
  return OperationResult{raw.op,
                         (raw.status & opOverflow) != 0,
                         (raw.status & opPeerLost) != 0,
                         (raw.status & opBadId) != 0,
                         raw.dropped,
                         raw.lost,
                         raw.received,
                         raw.wanted};
}

Status Operation::leaveOut(uint32_t rank, StreamId stream, uint64_t dead) {
  ILK_RETURN_IF_ERROR(state->requireRank(rank));
  // Byte fills carry their value with them: nothing in host memory has to outlive this call, even in a captured graph.
  DeviceAddress word = state->arena.control(rank) + offsetof(ControlBlock, dead);
  for (uint32_t byte = 0; byte < sizeof dead; ++byte)
    ILK_RETURN_IF_ERROR(state->driver->fill(stream, word + byte, uint8_t(dead >> (8 * byte)), 1));
  return {};
}

Status Operation::forgetLost(uint32_t rank, StreamId stream) {
  ILK_RETURN_IF_ERROR(state->requireRank(rank));
  DeviceAddress word = state->arena.control(rank) + offsetof(ControlBlock, lost);
  return state->driver->fill(stream, word, 0, sizeof(ControlBlock::lost));
}

} // namespace interlock
