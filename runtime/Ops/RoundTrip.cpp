// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// One step after another on all ranks, with the host between the phases: upload, dispatch, experts, combine, compare.
#include "runtime/Ops/RoundTrip.h"

#include "runtime/Memory/DeviceBuffer.h"
#include "runtime/Ops/Conversion.h"
#include "runtime/Ops/RoundTripCheck.h"
#include "runtime/Ops/TestRows.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

namespace interlock {

namespace {
constexpr size_t kinds = 2;

/// What one rank's caller would own.
struct RankTensors {
  std::vector<std::byte> hostX, hostScales;
  TokenRouting routing;
  DeviceBuffer x, scales, ids, weights, out, outWeights;
  DeviceBuffer packedRows, packedScales, packedOut; ///< with packing
  StreamId stream{};
  EventId begin[kinds]{}, end[kinds]{};
  std::optional<GraphId> graph[kinds];
  std::optional<RoutingHandle> handle;
};

bool has(uint64_t mask, uint32_t rank) { return (mask >> rank) & 1; }

Status checkRouting(const LayerSpec &layer, const std::vector<uint32_t> &tokens,
                    const std::vector<TokenRouting> &routing) {
  if (routing.size() != layer.ranks)
    return makeError(Code::badInput,
                     fmt::format("expected a routing for {} ranks, got {}", layer.ranks, routing.size()));
  for (uint32_t rank = 0; rank < layer.ranks; ++rank)
    if (size_t entries = size_t(tokens[rank]) * layer.topk;
        routing[rank].ids.size() != entries || routing[rank].weights.size() != entries)
      return makeError(Code::badInput, fmt::format("expected {} ids and weights for rank {}, got {} and {}", entries,
                                                   rank, routing[rank].ids.size(), routing[rank].weights.size()));
  return {};
}
} // namespace

struct RoundTrip::State {
  State(Driver &driver, Operation operation, RoundTripOptions options)
      : driver(driver), operation(std::move(operation)), options(std::move(options)), ranks(this->options.layer.ranks) {
    for (uint32_t rank = 0; rank < ranks.size(); ++rank)
      if (this->operation.device(rank) != Operation::noDevice)
        own.push_back(rank);
  }
  State(const State &) = delete;
  State &operator=(const State &) = delete;
  ~State() {
    // A destructor has nobody to report to; the driver frees everything when it goes.
    for (uint32_t index : own) {
      RankTensors &rank = ranks[index];
      for (size_t kind = 0; kind < kinds; ++kind) {
        if (rank.graph[kind])
          (void)driver.destroyGraph(*rank.graph[kind]);
        (void)driver.destroyEvent(rank.begin[kind]);
        (void)driver.destroyEvent(rank.end[kind]);
      }
      (void)driver.destroyStream(rank.stream);
    }
  }

  const LayerSpec &layer() const { return options.layer; }
  /// Where a rank's tokens are for steps that use this buffer.
  Result<DeviceAddress> rowsOf(uint32_t rank, uint32_t buffer) const {
    return layer().ownInPlace ? operation.ownRows(rank, buffer) : ranks[rank].x.address();
  }
  DeviceAddress listAt(const DeviceBuffer &list) const { return list.address() + options.listOffset; }
  Status allocate();
  Status upload(const std::vector<TokenRouting> &routing, uint32_t buffer);
  Status fillCanaries(uint32_t buffer);
  Status enqueueDispatch(uint32_t rank, uint32_t buffer);
  Status enqueueCombine(uint32_t rank);
  template <typename Enqueue> Status replay(uint32_t rank, KernelKind kind, Enqueue enqueue);
  Status synchronize(uint64_t without);
  Status collect(KernelKind kind, uint64_t without, StepReport &report);
  bool changesPackedRows() const { return options.distinctExperts || layer().dtype != layer().combineDType; }
  Status convertOutput(uint32_t rank);
  Status convertInput(uint32_t rank);
  Status runPackedExperts(uint32_t rank);
  Status runPackedExpert(uint32_t rank, uint32_t expert, uint32_t first, uint32_t count);
  Status runExperts(uint32_t rank);
  Status runExperts(uint32_t rank, uint32_t source, uint32_t count, const LandedRows &landed);
  void countBytes(std::span<const SourceTokens> tokens, const std::vector<ReferenceRank> &expected,
                  StepReport &report) const;
  std::vector<SourceTokens> sources() const;
  Status compareConverted(const CheckedStep &checked, uint32_t rank, StepReport &report, Differences &differences);
  void announce(std::string_view phase) const {
    if (options.progress)
      options.progress(phase);
  }
  /// Waits until all processes are here.
  Status meet();
  Result<StepReport> step(const std::vector<TokenRouting> &routing, uint64_t dead, uint64_t missing);

  Driver &driver;
  Operation operation;
  RoundTripOptions options;       ///< with tokens of every rank
  std::vector<RankTensors> ranks; ///< of other processes: what the oracle needs
  std::vector<uint32_t> own;
  uint64_t steps = 0;
  uint64_t dead = 0; ///< ranks that the windows are told to leave out
};

Result<RoundTrip> RoundTrip::create(Driver &driver, KernelCache &cache, RoundTripOptions options) {
  LayerSpec &layer = options.layer;
  uint32_t most = options.tokens.empty() ? 0 : *std::max_element(options.tokens.begin(), options.tokens.end());
  if (layer.maxTokens == 0)
    layer.maxTokens = std::max(1u, most);
  if (most > layer.maxTokens)
    return makeError(Code::badInput, fmt::format("expected at most {} tokens per rank, got {}", layer.maxTokens, most));
  ILK_RETURN_IF_ERROR(validate(layer));
  if (options.operation.packing) {
    ILK_ASSIGN_OR_RETURN(options.operation.packing, resolvePacking(layer, *options.operation.packing));
  }
  std::vector<uint32_t> given = options.tokens.empty() ? std::vector{layer.maxTokens} : options.tokens;
  if (given.size() > layer.ranks)
    return makeError(Code::badInput,
                     fmt::format("expected at most one token count per rank ({}), got {}", layer.ranks, given.size()));
  options.tokens.resize(layer.ranks);
  for (uint32_t rank = 0; rank < layer.ranks; ++rank)
    options.tokens[rank] = given[rank % given.size()];

  ILK_ASSIGN_OR_RETURN(Operation operation,
                       options.group ? Operation::create(driver, cache, layer, *options.group, options.operation)
                                     : Operation::create(driver, cache, layer, options.operation));
  auto state = std::make_unique<State>(driver, std::move(operation), std::move(options));
  ILK_RETURN_IF_ERROR(state->allocate());
  return RoundTrip(std::move(state));
}

Status RoundTrip::State::allocate() {
  for (uint32_t rank = 0; rank < layer().ranks; ++rank) {
    ranks[rank].hostX.resize(options.tokens[rank] * rowBytes(layer()));
    ranks[rank].hostScales.resize(uint64_t(options.tokens[rank]) * layer().scaleBytes);
  }
  for (uint32_t rank : own) {
    RankTensors &mine = ranks[rank];
    uint32_t device = operation.device(rank);
    ILK_ASSIGN_OR_RETURN(mine.stream, driver.createStream(device));
    for (size_t kind = 0; kind < kinds; ++kind) {
      ILK_ASSIGN_OR_RETURN(mine.begin[kind], driver.createEvent());
      ILK_ASSIGN_OR_RETURN(mine.end[kind], driver.createEvent());
    }
    uint64_t entries = uint64_t(layer().maxTokens) * layer().topk, most = layer().maxTokens;
    uint64_t listBytes = options.listOffset + entries * sizeof(int32_t);
    ILK_ASSIGN_OR_RETURN(mine.x,
                         DeviceBuffer::create(driver, device, layer().ownInPlace ? 0 : most * rowBytes(layer())));
    ILK_ASSIGN_OR_RETURN(mine.scales, DeviceBuffer::create(driver, device, most * layer().scaleBytes));
    ILK_ASSIGN_OR_RETURN(mine.ids, DeviceBuffer::create(driver, device, listBytes));
    ILK_ASSIGN_OR_RETURN(mine.weights, DeviceBuffer::create(driver, device, listBytes));
    ILK_ASSIGN_OR_RETURN(mine.out, DeviceBuffer::create(driver, device, most * combineRowBytes(layer())));
    ILK_ASSIGN_OR_RETURN(mine.outWeights, DeviceBuffer::create(driver, device, entries * sizeof(float)));
    if (const auto &packing = options.operation.packing) {
      uint64_t rows = packing->capacity;
      ILK_ASSIGN_OR_RETURN(mine.packedRows, DeviceBuffer::create(driver, device, rows * rowBytes(layer())));
      ILK_ASSIGN_OR_RETURN(mine.packedScales, DeviceBuffer::create(driver, device, rows * layer().scaleBytes));
      ILK_ASSIGN_OR_RETURN(mine.packedOut, DeviceBuffer::create(driver, device, rows * combineRowBytes(layer())));
    }
  }
  return {};
}

Status RoundTrip::State::upload(const std::vector<TokenRouting> &routing, uint32_t buffer) {
  auto put = [&](StreamId stream, DeviceAddress to, const void *from, size_t bytes) -> Status {
    return bytes ? driver.copyIn(stream, to, from, bytes) : Status();
  };
  // So that a stale row shows; without a check new ones only cost time.
  bool fresh = options.check || steps < (layer().ownInPlace ? WindowLayout::buffers : 1);
  for (uint32_t rank = 0; rank < layer().ranks; ++rank) {
    RankTensors &mine = ranks[rank];
    mine.routing = routing[rank];
    if (fresh) {
      fillTestRows(layer().dtype, options.seed, steps, rank, mine.hostX);
      fillTestScales(layer().dtype, options.seed, steps, rank, mine.hostScales);
    }
  }
  for (uint32_t rank : own) {
    RankTensors &mine = ranks[rank];
    if (fresh) {
      ILK_ASSIGN_OR_RETURN(DeviceAddress rows, rowsOf(rank, buffer));
      ILK_RETURN_IF_ERROR(put(mine.stream, rows, mine.hostX.data(), mine.hostX.size()));
      ILK_RETURN_IF_ERROR(put(mine.stream, mine.scales.address(), mine.hostScales.data(), mine.hostScales.size()));
    }
    size_t bytes = mine.routing.ids.size() * sizeof(int32_t);
    ILK_RETURN_IF_ERROR(put(mine.stream, listAt(mine.ids), mine.routing.ids.data(), bytes));
    ILK_RETURN_IF_ERROR(put(mine.stream, listAt(mine.weights), mine.routing.weights.data(), bytes));
  }
  return synchronize(0);
}

Status RoundTrip::State::meet() {
  if (options.group && options.group->processes > 1)
    ILK_RETURN_IF_ERROR(options.group->allgather(""));
  return {};
}

/// Every byte that the step may or may not write becomes a canary. No rank may still be reading the step before, nor be
/// writing this one.
Status RoundTrip::State::fillCanaries(uint32_t buffer) {
  ILK_RETURN_IF_ERROR(meet());
  for (uint32_t rank : own) {
    RankTensors &mine = ranks[rank];
    ILK_ASSIGN_OR_RETURN(LandedRows landed, operation.landed(rank, buffer));
    uint64_t rows = uint64_t(layer().ranks) * layer().rowsPerSource();
    ILK_RETURN_IF_ERROR(driver.fill(mine.stream, landed.rows, canaryByte, rows * landed.rowStride));
    ILK_RETURN_IF_ERROR(driver.fill(mine.stream, landed.meta, canaryByte, rows * landed.metaStride));
    ILK_RETURN_IF_ERROR(driver.fill(mine.stream, mine.out.address(), canaryByte, mine.out.bytes()));
    ILK_RETURN_IF_ERROR(driver.fill(mine.stream, mine.outWeights.address(), canaryByte, mine.outWeights.bytes()));
    ILK_ASSIGN_OR_RETURN(DeviceAddress slots, operation.slotMap(rank, buffer));
    ILK_RETURN_IF_ERROR(
        driver.fill(mine.stream, slots, canaryByte, uint64_t(layer().maxTokens) * layer().topk * sizeof(int32_t)));
    for (const DeviceBuffer *packed : {&mine.packedRows, &mine.packedScales, &mine.packedOut})
      if (packed->bytes())
        ILK_RETURN_IF_ERROR(driver.fill(mine.stream, packed->address(), canaryByte, packed->bytes()));
  }
  ILK_RETURN_IF_ERROR(synchronize(0));
  return meet();
}

/// Enqueues directly, or captures at the first call and replays the graph at every one.
template <typename Enqueue> Status RoundTrip::State::replay(uint32_t rank, KernelKind kind, Enqueue enqueue) {
  RankTensors &mine = ranks[rank];
  std::optional<GraphId> &graph = mine.graph[size_t(kind)];
  if (options.graph && !graph) {
    ILK_RETURN_IF_ERROR(driver.beginCapture(mine.stream));
    Status enqueued = enqueue();
    auto captured = driver.endCapture(mine.stream);
    ILK_RETURN_IF_ERROR(enqueued);
    if (!captured)
      return tl::unexpected(std::move(captured).error());
    graph = *captured;
  }
  ILK_RETURN_IF_ERROR(driver.recordEvent(mine.stream, mine.begin[size_t(kind)]));
  ILK_RETURN_IF_ERROR(options.graph ? driver.launchGraph(mine.stream, *graph) : enqueue());
  return driver.recordEvent(mine.stream, mine.end[size_t(kind)]);
}

Status RoundTrip::State::enqueueDispatch(uint32_t rank, uint32_t buffer) {
  return replay(rank, KernelKind::dispatch, [&]() -> Status {
    RankTensors &mine = ranks[rank];
    mine.handle.reset();
    ILK_ASSIGN_OR_RETURN(DeviceAddress rows, rowsOf(rank, buffer));
    ILK_ASSIGN_OR_RETURN(mine.handle, operation.dispatch(rank, mine.stream,
                                                         {rows, mine.scales.address(), listAt(mine.ids),
                                                          listAt(mine.weights), options.tokens[rank]}));
    return options.operation.packing ? convertOutput(rank) : Status();
  });
}

Status RoundTrip::State::enqueueCombine(uint32_t rank) {
  return replay(rank, KernelKind::combine, [&]() -> Status {
    RankTensors &mine = ranks[rank];
    if (options.operation.packing)
      ILK_RETURN_IF_ERROR(convertInput(rank));
    return operation.combine(rank, mine.stream, *mine.handle,
                             {mine.out.address(), mine.outWeights.address(),
                              // with packing the weights are in the ranks' rows already
                              options.weighted && !options.operation.packing ? listAt(mine.weights) : 0,
                              options.tokens[rank]});
  });
}

Status RoundTrip::State::synchronize(uint64_t without) {
  Status first;
  for (uint32_t rank : own)
    if (!has(without, rank))
      if (Status status = driver.synchronize(ranks[rank].stream); !status && first)
        first = status;
  return first;
}

Status RoundTrip::State::collect(KernelKind kind, uint64_t without, StepReport &report) {
  for (uint32_t rank : own) {
    if (has(without, rank))
      continue;
    RankTensors &mine = ranks[rank];
    PhaseReport &phase = kind == KernelKind::dispatch ? report.ranks[rank].dispatch : report.ranks[rank].combine;
    ILK_ASSIGN_OR_RETURN(phase.ns, driver.elapsedNs(mine.begin[size_t(kind)], mine.end[size_t(kind)]));
    ILK_ASSIGN_OR_RETURN(phase.result, operation.result(rank, mine.stream, kind));
  }
  return {};
}

Status RoundTrip::State::convertInput(uint32_t rank) {
  RankTensors &mine = ranks[rank];
  const DeviceBuffer &rows = changesPackedRows() ? mine.packedOut : mine.packedRows;
  return operation.convertCombineInput(rank, mine.stream, *mine.handle, {rows.address(), options.weighted});
}

Status RoundTrip::State::convertOutput(uint32_t rank) {
  RankTensors &mine = ranks[rank];
  return operation.convertDispatchOutput(
      rank, mine.stream, *mine.handle,
      {mine.packedRows.address(), layer().scaleBytes ? mine.packedScales.address() : 0});
}

/// The experts of one rank on packed rows. Rows that nobody packed are not theirs: they stay as they are. Where the
/// experts are identities, what was packed is what goes back.
Status RoundTrip::State::runPackedExperts(uint32_t rank) {
  RankTensors &mine = ranks[rank];
  if (!changesPackedRows())
    return {};
  ILK_ASSIGN_OR_RETURN(PackedRows packed, operation.packed(*mine.handle));
  std::vector<uint32_t> counts(layer().expertsPerRank()), offsets(counts.size() + 1);
  ILK_RETURN_IF_ERROR(driver.copyOut(mine.stream, counts.data(), packed.counts, counts.size() * sizeof(uint32_t)));
  ILK_RETURN_IF_ERROR(driver.copyOut(mine.stream, offsets.data(), packed.offsets, offsets.size() * sizeof(uint32_t)));
  ILK_RETURN_IF_ERROR(driver.synchronize(mine.stream));
  for (uint32_t expert = 0; expert < counts.size(); ++expert)
    if (counts[expert])
      ILK_RETURN_IF_ERROR(runPackedExpert(rank, expert, offsets[expert], counts[expert]));
  return {};
}

Status RoundTrip::State::runPackedExpert(uint32_t rank, uint32_t expert, uint32_t first, uint32_t count) {
  RankTensors &mine = ranks[rank];
  uint64_t inBytes = rowBytes(layer()), outBytes = combineRowBytes(layer()), scaleBytes = layer().scaleBytes;
  std::vector<std::byte> rows(count * inBytes), scales(count * scaleBytes), out(count * outBytes);
  ILK_RETURN_IF_ERROR(
      driver.copyOut(mine.stream, rows.data(), mine.packedRows.address() + first * inBytes, rows.size()));
  if (scaleBytes)
    ILK_RETURN_IF_ERROR(
        driver.copyOut(mine.stream, scales.data(), mine.packedScales.address() + first * scaleBytes, scales.size()));
  ILK_RETURN_IF_ERROR(driver.synchronize(mine.stream));
  for (uint64_t row = 0; row < count; ++row)
    scaledExpertRow(layer(), std::span(rows).subspan(row * inBytes, inBytes),
                    std::span(scales).subspan(row * scaleBytes, scaleBytes),
                    expertFactor(options.distinctExperts, rank, expert),
                    std::span(out).subspan(row * outBytes, outBytes));
  ILK_RETURN_IF_ERROR(driver.copyIn(mine.stream, mine.packedOut.address() + first * outBytes, out.data(), out.size()));
  return driver.synchronize(mine.stream);
}

/// The experts of one rank: what landed becomes what combine gathers. Works from what the device says is there.
Status RoundTrip::State::runExperts(uint32_t rank) {
  if (options.operation.packing)
    return runPackedExperts(rank);
  RankTensors &mine = ranks[rank];
  ILK_ASSIGN_OR_RETURN(LandedRows landed, operation.landed(*mine.handle));
  std::vector<uint32_t> counts(layer().ranks);
  ILK_RETURN_IF_ERROR(driver.copyOut(mine.stream, counts.data(), landed.counts, counts.size() * sizeof(uint32_t)));
  ILK_RETURN_IF_ERROR(driver.synchronize(mine.stream));
  for (uint32_t source = 0; source < layer().ranks; ++source)
    if (uint32_t count = std::min(counts[source], layer().rowsPerSource()))
      ILK_RETURN_IF_ERROR(runExperts(rank, source, count, landed));
  return {};
}

Status RoundTrip::State::runExperts(uint32_t rank, uint32_t source, uint32_t count, const LandedRows &landed) {
  StreamId stream = ranks[rank].stream;
  uint64_t first = uint64_t(source) * layer().rowsPerSource(), outRows = layer().expertRows ? layer().topk : 1;
  DeviceAddress from = landed.rows + first * landed.rowStride;
  DeviceAddress to = landed.expertOut + first * outRows * landed.combineRowStride;
  if (!options.distinctExperts && !layer().expertRows && layer().dtype == layer().combineDType)
    return driver.copy(stream, to, from, count * landed.rowStride);

  std::vector<std::byte> rows(count * landed.rowStride), meta(count * landed.metaStride);
  std::vector<std::byte> out(count * outRows * landed.combineRowStride, std::byte(canaryByte));
  ILK_RETURN_IF_ERROR(driver.copyOut(stream, rows.data(), from, rows.size()));
  ILK_RETURN_IF_ERROR(driver.copyOut(stream, meta.data(), landed.meta + first * landed.metaStride, meta.size()));
  ILK_RETURN_IF_ERROR(driver.synchronize(stream));
  for (uint32_t slot = 0; slot < count; ++slot) {
    auto row = std::span(rows).subspan(slot * landed.rowStride, landed.rowStride);
    auto metaRow = std::span<const std::byte>(meta).subspan(slot * landed.metaStride, landed.metaStride);
    auto scales =
        layer().scaleBytes ? metaRow.subspan(landed.metaScales, layer().scaleBytes) : std::span<const std::byte>();
    for (uint32_t k = 0; k < outRows; ++k) {
      int32_t id;
      std::memcpy(&id, &metaRow[k * sizeof id], sizeof id);
      // With a row per expert, only the rows of this rank's experts are written; the others are never read.
      if (layer().expertRows && (id < 0 || uint32_t(id) / layer().expertsPerRank() != rank))
        continue;
      scaledExpertRow(layer(), row, scales, expertFactor(options.distinctExperts, rank, k),
                      std::span(out).subspan((slot * outRows + k) * landed.combineRowStride, landed.combineRowStride));
    }
  }
  ILK_RETURN_IF_ERROR(driver.copyIn(stream, to, out.data(), out.size()));
  return driver.synchronize(stream);
}

void RoundTrip::State::countBytes(std::span<const SourceTokens> tokens, const std::vector<ReferenceRank> &expected,
                                  StepReport &report) const {
  for (uint32_t rank = 0; rank < layer().ranks; ++rank) {
    report.ranks[rank].dispatch.bytes = sentRows(layer(), expected, rank) * rowBytes(layer());
    report.ranks[rank].combine.bytes =
        gatheredRows(layer(), tokens[rank], expected[rank].slots) * combineRowBytes(layer());
  }
}

std::vector<SourceTokens> RoundTrip::State::sources() const {
  std::vector<SourceTokens> list;
  for (uint32_t rank = 0; rank < layer().ranks; ++rank)
    list.push_back({options.tokens[rank], ranks[rank].hostX, ranks[rank].hostScales, ranks[rank].routing.ids,
                    ranks[rank].routing.weights});
  return list;
}

Status RoundTrip::State::compareConverted(const CheckedStep &checked, uint32_t rank, StepReport &report,
                                          Differences &differences) {
  RankTensors &mine = ranks[rank];
  ILK_ASSIGN_OR_RETURN(PackedRows at, operation.packed(*mine.handle));
  ILK_ASSIGN_OR_RETURN(report.ranks[rank].packing, operation.packingResult(mine.stream, *mine.handle));
  PackedArrays arrays{at, *options.operation.packing, mine.packedRows.address(),
                      layer().scaleBytes ? mine.packedScales.address() : 0};
  return checkPacked(checked, rank, mine.stream, arrays, *report.ranks[rank].packing, differences);
}

Result<StepReport> RoundTrip::State::step(const std::vector<TokenRouting> &routing, uint64_t newDead,
                                          uint64_t missing) {
  ILK_RETURN_IF_ERROR(checkRouting(layer(), options.tokens, routing));
  uint64_t idle = newDead | missing;
  bool compare = options.check && !missing;
  uint32_t buffer = options.graph ? 0 : uint32_t(steps % 2);
  StepReport report;
  report.ranks.resize(layer().ranks);
  for (uint32_t rank = 0; rank < layer().ranks; ++rank)
    report.ranks[rank].tokens = options.tokens[rank];

  announce("upload");
  if (compare)
    ILK_RETURN_IF_ERROR(fillCanaries(buffer));
  ILK_RETURN_IF_ERROR(upload(routing, buffer)); // behind the canaries: own rows in place lie among what they fill
  for (uint32_t rank : own) {
    if (newDead == dead)
      break;
    ILK_RETURN_IF_ERROR(operation.leaveOut(rank, ranks[rank].stream, newDead));
    ILK_RETURN_IF_ERROR(operation.forgetLost(rank, ranks[rank].stream));
  }
  dead = newDead;
  ILK_RETURN_IF_ERROR(synchronize(0));

  announce("dispatch");
  for (uint32_t rank : own)
    if (!has(idle, rank))
      ILK_RETURN_IF_ERROR(enqueueDispatch(rank, buffer));
  ILK_RETURN_IF_ERROR(synchronize(idle));
  ILK_RETURN_IF_ERROR(collect(KernelKind::dispatch, idle, report));

  announce("experts");
  std::vector<SourceTokens> tokens = sources();
  std::vector<ReferenceRank> expected = referenceDispatch(layer(), tokens, dead);
  countBytes(tokens, expected, report);
  std::vector<PackedExperts> packed;
  if (options.operation.packing) {
    ILK_ASSIGN_OR_RETURN(packed, referencePacking(layer(), tokens, expected, *options.operation.packing));
  }
  CheckedStep checked{driver, layer(), tokens, expected, packed, steps, dead};
  Differences differences(report);
  for (uint32_t rank : own) {
    if (has(idle, rank))
      continue;
    RankTensors &mine = ranks[rank];
    if (compare) {
      ILK_ASSIGN_OR_RETURN(LandedRows landed, operation.landed(*mine.handle));
      ILK_RETURN_IF_ERROR(checkDispatch(checked, rank, mine.stream, landed, mine.handle->slots(),
                                        report.ranks[rank].dispatch.result, differences));
      if (options.operation.packing)
        ILK_RETURN_IF_ERROR(compareConverted(checked, rank, report, differences));
    }
    ILK_RETURN_IF_ERROR(runExperts(rank));
  }
  ILK_RETURN_IF_ERROR(synchronize(idle));

  announce("combine");
  for (uint32_t rank : own)
    if (!has(idle, rank))
      ILK_RETURN_IF_ERROR(enqueueCombine(rank));
  ILK_RETURN_IF_ERROR(synchronize(idle));
  ILK_RETURN_IF_ERROR(collect(KernelKind::combine, idle, report));
  announce("comparison");
  for (uint32_t rank : own)
    if (compare && !has(idle, rank))
      ILK_RETURN_IF_ERROR(checkCombine(checked, rank, ranks[rank].stream, ranks[rank].out.address(),
                                       ranks[rank].outWeights.address(), options.weighted, options.distinctExperts,
                                       report.ranks[rank].combine.result, differences));
  ++steps;
  return report;
}

RoundTrip::RoundTrip(std::unique_ptr<State> state) : state(std::move(state)) {}
RoundTrip::RoundTrip(RoundTrip &&) noexcept = default;
RoundTrip &RoundTrip::operator=(RoundTrip &&) noexcept = default;
RoundTrip::~RoundTrip() = default;
const LayerSpec &RoundTrip::layer() const { return state->layer(); }
const std::vector<uint32_t> &RoundTrip::tokens() const { return state->options.tokens; }
const std::vector<uint32_t> &RoundTrip::own() const { return state->own; }
Operation &RoundTrip::operation() { return state->operation; }

Result<StepReport> RoundTrip::step(const std::vector<TokenRouting> &routing, uint64_t dead) {
  return state->step(routing, dead, 0);
}

Result<StepReport> RoundTrip::stepWithout(const std::vector<TokenRouting> &routing, uint64_t missing) {
  return state->step(routing, state->dead, missing & ~state->dead);
}

} // namespace interlock
