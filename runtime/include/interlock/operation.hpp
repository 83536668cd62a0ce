// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// The MoE operation: dispatch tokens to the ranks of their experts, combine what the experts made of them. One object
// owns the symmetric windows and the kernels of the ranks of this process.
#pragma once

#include "interlock/device.hpp"
#include "interlock/group.hpp"
#include "interlock/packing.hpp"
#include "interlock/spec.hpp"

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace interlock INTERLOCK_API {

class KernelCache;

/// How one kernel is launched; 0 takes the default for the layer and the device (defaultGeometry).
struct LaunchGeometry {
  uint32_t grid = 0;         ///< CTAs; a multiple of the cluster size. Any grid gives the same results
  uint32_t blockThreads = 0; ///< threads per CTA
  uint32_t tileTokens = 0;   ///< consecutive tokens per tile at most
};

/// Where an operation's kernels come from: the compiler's templates, or their peers in CUDA or HIP C++, which NVRTC or
/// hiprtc compiles. Both have the same results, bit for bit.
enum class KernelOrigin : uint8_t { generated, source };

struct OperationOptions {
  LaunchGeometry dispatch, combine;
  Schedule schedule = Schedule::gridStride;
  uint32_t cluster = 1;                ///< CTAs per cluster
  std::optional<WaitStrategy> wait;    ///< none: the cheaper one that the target has
  uint64_t timeoutNs = 10'000'000'000; ///< bound of every wait inside a kernel
  KernelOrigin kernels = KernelOrigin::generated;
  std::optional<PackingOptions> packing; ///< none: no convert calls, and none of their kernels and memory
};

/// Fills what is 0 in `asked`. Ranks that share a device wait for each other, so their grids together must be resident:
/// each gets at most its share of the multiprocessors, in whole clusters. With schedule clc the grid has a CTA a tile.
LaunchGeometry defaultGeometry(const LayerSpec &layer, KernelKind kind, uint32_t cluster, const DeviceInfo &device,
                               uint32_t ranksOnDevice, LaunchGeometry asked = {},
                               Schedule schedule = Schedule::gridStride);

/// The kernel of one kind, and how it was come by.
struct KernelReport {
  KernelSpec spec;
  uint32_t grid = 0;
  std::string outcome; ///< "memory", "disk" or "miss"
  std::string reason;  ///< why it was a miss; empty on a hit
  double milliseconds = 0;
};

/// Device pointers of one call of dispatch. `ids` must stay as they are until the combine of this step has run.
struct DispatchArguments {
  DeviceAddress x = 0;       ///< [tokens][hidden] of dtype; with ownInPlace the step's ownRows
  DeviceAddress scales = 0;  ///< [tokens][scaleBytes]; 0 if the layer has none
  DeviceAddress ids = 0;     ///< i32 [tokens][topk]: global experts, -1 is masked
  DeviceAddress weights = 0; ///< f32 [tokens][topk]
  uint32_t tokens = 0;       ///< at most maxTokens; with 0 every pointer may be 0
};

/// Device pointers of one call of combine.
struct CombineArguments {
  DeviceAddress out = 0;        ///< [tokens][hidden] of combineDType
  DeviceAddress outWeights = 0; ///< f32 [tokens][topk], or 0
  DeviceAddress weights = 0;    ///< f32 [tokens][topk] that rows are multiplied by, or 0 for a plain sum
  uint32_t tokens = 0;          ///< the dispatch's
};

/// Where a dispatch left its rows at one rank, and where combine takes its input from, as device pointers. Source s's
/// rows start at `s * rowsPerSource` rows; `counts[s]` of them were wanted, min(counts[s], rowsPerSource) are there.
/// With ownInPlace those of the rank itself are all its tokens, also the ones that have no expert here.
struct LandedRows {
  DeviceAddress rows = 0;      ///< [ranks][rowsPerSource], rowStride bytes apart
  DeviceAddress meta = 0;      ///< [ranks][rowsPerSource], metaStride bytes apart: ids, weights, source token, scales
  DeviceAddress counts = 0;    ///< u32 [ranks]
  DeviceAddress absent = 0;    ///< u64 [2]: ranks that were lost or left out, a bit each: their counts are older
  DeviceAddress expertOut = 0; ///< [ranks][rowsPerSource][topk with expertRows, else 1], combineRowStride bytes apart
  uint64_t rowStride = 0, metaStride = 0, combineRowStride = 0;
  uint64_t metaWeights = 0, metaToken = 0, metaScales = 0; ///< offsets in a meta row; the ids are at its start
};

/// What an operation tells the host when it has run.
struct OperationResult {
  uint64_t number = 0;   ///< operations of this rank so far, this one included
  bool overflow = false; ///< a row was dropped because its destination was full
  bool peerLost = false; ///< a bounded wait ran out, in this operation or an earlier one; `lost` says on whom
  bool badId = false;    ///< an id was neither -1 nor an expert; it was treated as masked
  uint32_t dropped = 0;  ///< (token, rank) pairs that this rank could not send
  uint64_t lost = 0;     ///< bit per rank that was given up on
  uint32_t received = 0; ///< dispatch: rows that landed here
  uint32_t wanted = 0;   ///< dispatch: rows that sources wanted to land here
};

/// Ties a combine to its dispatch: the slot map, the token count, the landing buffer and the step. Opaque and
/// move-only; `combine` takes it once. Two steps of a rank can be in flight; dropping a handle gives its step up,
/// and then the next dispatch into its buffer waits until every rank has begun that same operation.
class RoutingHandle {
public:
  RoutingHandle(RoutingHandle &&) noexcept;
  RoutingHandle &operator=(RoutingHandle &&) noexcept;
  ~RoutingHandle();

  uint32_t rank() const;
  uint32_t tokens() const;
  uint64_t step() const;
  /// i32 [tokens][topk] on the device: the row of each (token, expert) at the expert's rank, or -1. Written by the
  /// dispatch.
  DeviceAddress slots() const;

private:
  friend class Operation;
  struct State;
  explicit RoutingHandle(std::shared_ptr<State> state);
  std::shared_ptr<State> state;
};

/// The ranks of one expert-parallel group that this process runs, be it all of them. Every rank must make the same
/// sequence of calls. Calls for different ranks may come from different threads; calls for one rank may not overlap.
/// Nothing here waits, except `create`, `result` and the destructor; kernels run in the order of the stream that is
/// given. A step can be captured, and an operation created while some stream captures; destroying one waits for its
/// devices, which ends captures there. Operations of a group may be destroyed in any order; a process that is gone is a
/// lost peer to the others.
class Operation {
public:
  /// All ranks in this process; rank r runs on device r % deviceCount. Gets the kernels from `cache`, loads them, and
  /// makes each rank's window in its device's memory. Everything that can be refused is refused before memory is taken.
  /// `driver` must outlive the operation; `cache` need not.
  [[nodiscard]] static Result<Operation> create(Driver &driver, KernelCache &cache, const LayerSpec &layer,
                                                const OperationOptions &options = {});
  /// The group's own ranks. All processes call it with the same layer, and it returns when all are ready; a failure of
  /// one, which the error names, is one in all of them.
  [[nodiscard]] static Result<Operation> create(Driver &driver, KernelCache &cache, const LayerSpec &layer,
                                                const ProcessGroup &group, const OperationOptions &options = {});
  Operation(Operation &&) noexcept;
  Operation &operator=(Operation &&) noexcept;
  ~Operation();

  const LayerSpec &layer() const;
  /// Of a kind that the operation has: the local ones come with packing; of another one it is empty.
  const KernelReport &kernel(KernelKind kind) const;
  /// Where a rank runs; `noDevice`, which no driver has, where another process runs it.
  uint32_t device(uint32_t rank) const;
  static constexpr uint32_t noDevice = UINT32_MAX;

  /// Starts step n of a rank: its tokens go to the ranks of their experts. `badInput` while two steps are in flight.
  [[nodiscard]] Result<RoutingHandle> dispatch(uint32_t rank, StreamId stream, const DispatchArguments &arguments);
  /// Ends the step: gathers the expert rows of the rank's tokens. A handle of another operation or rank, one that was
  /// used before, or another token count is `badInput`, and nothing is launched.
  [[nodiscard]] Status combine(uint32_t rank, StreamId stream, RoutingHandle &handle,
                               const CombineArguments &arguments);

  /// Packs what the step's dispatch left by local expert, on the device: rows go to the caller's array, lists to where
  /// packed() says. Refused without packing in the operation's options.
  [[nodiscard]] Status convertDispatchOutput(uint32_t rank, StreamId stream, const RoutingHandle &handle,
                                             const PackArguments &arguments);
  /// The way back: reduces the experts' packed rows of each received row, in top-k order in f32, rounded once, to what
  /// combine gathers. With identity experts a rank's row becomes `sum_k w[k] * x` over its experts.
  [[nodiscard]] Status convertCombineInput(uint32_t rank, StreamId stream, const RoutingHandle &handle,
                                           const UnpackArguments &arguments);
  [[nodiscard]] Result<PackedRows> packed(const RoutingHandle &handle) const;
  /// Waits for the stream and reads what the step's convertDispatchOutput left.
  [[nodiscard]] Result<PackingResult> packingResult(StreamId stream, const RoutingHandle &handle) const;

  /// The rows that a dispatch left at the handle's rank.
  [[nodiscard]] Result<LandedRows> landed(const RoutingHandle &handle) const;
  /// The same by the number of a landing buffer, 0 or 1; a rank's step n (from 0) uses buffer n % 2.
  [[nodiscard]] Result<LandedRows> landed(uint32_t rank, uint32_t buffer) const;
  /// With the layer's ownInPlace: where the rows that a rank dispatches in steps that use this buffer must lie.
  /// Whatever reads the rows of an earlier step must precede on the stream what writes these.
  [[nodiscard]] Result<DeviceAddress> ownRows(uint32_t rank, uint32_t buffer) const;
  /// A rank's slot map for steps that use this buffer: i32 [maxTokens][topk].
  [[nodiscard]] Result<DeviceAddress> slotMap(uint32_t rank, uint32_t buffer) const;
  /// Waits for the stream and reads what the rank's last operation of this kind left.
  [[nodiscard]] Result<OperationResult> result(uint32_t rank, StreamId stream, KernelKind kind) const;

  /// Leaves out ranks (a bit each) in the rank's operations enqueued after this: nothing is sent to them and nothing is
  /// waited for. Every live rank must be given the same mask before the same step.
  [[nodiscard]] Status leaveOut(uint32_t rank, StreamId stream, uint64_t dead);
  /// Forgets which ranks were lost, for the rank's operations enqueued after this; until then every result names them.
  [[nodiscard]] Status forgetLost(uint32_t rank, StreamId stream);

private:
  struct State;
  explicit Operation(std::unique_ptr<State> state);
  std::unique_ptr<State> state;
};

} // namespace interlock INTERLOCK_API
