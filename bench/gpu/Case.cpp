// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// Graphs of each rank's kernels, replayed behind a gate.
#include "bench/gpu/Case.h"

#include "bench/Kernels.h"
#include "bench/common/Report.h"
#include "bench/gpu/Gate.h"
#include "runtime/Memory/DeviceBuffer.h"
#include "runtime/Ops/Reference.h"
#include "runtime/Ops/Routing.h"
#include "runtime/Ops/TestRows.h"
#include "runtime/Spec/WindowLayout.h"

#include <fmt/format.h>

#include <array>
#include <map>
#include <optional>
#include <span>

namespace interlock::bench {

namespace {
using nlohmann::json;

/// Payload of one phase on one rank.
struct Bytes {
  uint64_t read = 0, written = 0;
  uint64_t peer = 0; ///< of these, sent to or gathered from another device
};

/// One rank's stream, tensors and graphs.
struct Rank {
  StreamId stream{};
  TokenRouting routing;
  DeviceBuffer x, scales, ids, weights, out, outWeights, copyFrom, copyTo;
  std::vector<GraphId> graphs;
  Bytes dispatch, combine;
  uint32_t received = 0;
  uint64_t steps = 0; ///< dispatches that were enqueued or captured
};

class Case {
public:
  Case(Driver &driver, Operation operation, const CaseOptions &options)
      : driver(driver), operation(std::move(operation)), options(options), ranks(options.layer.ranks) {}
  Case(const Case &) = delete;
  Case &operator=(const Case &) = delete;
  ~Case() {
    // A destructor has nobody to report to; the driver frees everything when it goes.
    for (Rank &rank : ranks) {
      for (GraphId graph : rank.graphs)
        (void)driver.destroyGraph(graph);
      (void)driver.destroyStream(rank.stream);
    }
    for (auto [device, kernels] : copyKernels)
      for (KernelId kernel : {kernels.copy, kernels.fanOut})
        (void)driver.unload(kernel);
  }

  Result<json> measure();

private:
  using Graphs = std::vector<GraphId>; ///< one per rank
  /// What is replayed in turns. Of an operation's kernels there are two: steps use the two landing buffers in turn, and
  /// a dispatch into one that was just written would wait for the ranks to begin.
  using Turns = std::vector<Graphs>;

  Status setUp();
  Status setUpCopies();
  Status setUpRank(uint32_t rank, std::span<const std::byte> rows, std::span<const std::byte> scales);
  void countBytes();
  template <typename Enqueue> Result<GraphId> capture(uint32_t rank, Enqueue enqueue);
  /// Both kernels of a step over this many of each rank's tokens, once for each landing buffer; the combine applies and
  /// returns weights, or knows nothing of them.
  Status captureSteps(uint32_t tokens, Turns &dispatch, Turns &combine, bool weighted = true);
  Result<Graphs> captureCopies(KernelKind kind);
  Result<RoutingHandle> enqueueDispatch(uint32_t rank, uint32_t tokens);
  Status enqueueCombine(uint32_t rank, RoutingHandle &handle, uint32_t tokens, bool weighted = true);
  Result<Graphs> captureFanOuts();
  Result<double> replay(const Graphs &graphs);
  Result<double> replay(const Turns &turns, uint32_t run) { return replay(turns[run % turns.size()]); }
  Status checkDispatch(bool empty);
  Status checkCombine();
  Status copyExpertRows();
  Result<json> measurePhase(KernelKind kind, const Turns &kernels);
  Result<Turns> captureUnweighted();
  /// Runs something that can be timed (it is told the how-manieth run it is), and keeps the times of those runs that
  /// count, in microseconds.
  template <typename Run> Result<std::vector<double>> timeAlone(Run run);
  Result<std::vector<double>> timeEager(KernelKind kind);
  Result<json> timeChains();
  const Bytes &bytesOf(const Rank &rank, KernelKind kind) const {
    return kind == KernelKind::dispatch ? rank.dispatch : rank.combine;
  }
  Bytes total(KernelKind kind) const {
    Bytes sum;
    for (const Rank &rank : ranks) {
      sum.read += bytesOf(rank, kind).read;
      sum.written += bytesOf(rank, kind).written;
      sum.peer += bytesOf(rank, kind).peer;
    }
    return sum;
  }

  Driver &driver;
  Operation operation;
  const CaseOptions &options;
  std::vector<Rank> ranks;
  std::optional<Gate> gate;
  struct CopyKernels {
    KernelId copy{}, fanOut{};
  };
  std::map<uint32_t, CopyKernels> copyKernels; ///< by device
};

Status Case::setUpRank(uint32_t index, std::span<const std::byte> rows, std::span<const std::byte> scales) {
  const LayerSpec &layer = options.layer;
  Rank &rank = ranks[index];
  uint32_t device = operation.device(index);
  uint64_t tokens = layer.maxTokens, entries = tokens * layer.topk;
  ILK_ASSIGN_OR_RETURN(rank.stream, driver.createStream(device));
  ILK_ASSIGN_OR_RETURN(rank.x, DeviceBuffer::create(driver, device, tokens * rowBytes(layer)));
  ILK_ASSIGN_OR_RETURN(rank.scales, DeviceBuffer::create(driver, device, tokens * layer.scaleBytes));
  ILK_ASSIGN_OR_RETURN(rank.ids, DeviceBuffer::create(driver, device, entries * sizeof(int32_t)));
  ILK_ASSIGN_OR_RETURN(rank.weights, DeviceBuffer::create(driver, device, entries * sizeof(float)));
  ILK_ASSIGN_OR_RETURN(rank.out, DeviceBuffer::create(driver, device, tokens * combineRowBytes(layer)));
  ILK_ASSIGN_OR_RETURN(rank.outWeights, DeviceBuffer::create(driver, device, entries * sizeof(float)));

  ILK_RETURN_IF_ERROR(driver.copyIn(rank.stream, rank.x.address(), rows.data(), rows.size()));
  for (uint32_t buffer = 0; buffer < WindowLayout::buffers && layer.ownInPlace; ++buffer) {
    ILK_ASSIGN_OR_RETURN(DeviceAddress own, operation.ownRows(index, buffer));
    ILK_RETURN_IF_ERROR(driver.copyIn(rank.stream, own, rows.data(), rows.size()));
  }
  ILK_RETURN_IF_ERROR(driver.copyIn(rank.stream, rank.scales.address(), scales.data(), scales.size()));
  ILK_RETURN_IF_ERROR(driver.copyIn(rank.stream, rank.ids.address(), rank.routing.ids.data(), entries * 4));
  ILK_RETURN_IF_ERROR(driver.copyIn(rank.stream, rank.weights.address(), rank.routing.weights.data(), entries * 4));
  return driver.synchronize(rank.stream);
}

Status Case::setUp() {
  const LayerSpec &layer = options.layer;
  RoutingOptions routing;
  routing.seed = options.seed;
  ILK_ASSIGN_OR_RETURN(auto made, makeRouting(layer, routing, std::vector<uint32_t>(layer.ranks, layer.maxTokens)));
  std::vector<GatedStream> streams;
  // Random rows, since what a memory takes to move depends a little on the bits; the same for every rank.
  std::vector<std::byte> rows(layer.maxTokens * rowBytes(layer)), scales(uint64_t(layer.maxTokens) * layer.scaleBytes);
  fillTestRows(layer.dtype, options.seed, 0, 0, rows);
  fillTestScales(layer.dtype, options.seed, 0, 0, scales);
  for (uint32_t rank = 0; rank < layer.ranks; ++rank) {
    ranks[rank].routing = std::move(made[rank]);
    ILK_RETURN_IF_ERROR(setUpRank(rank, rows, scales));
    streams.push_back({ranks[rank].stream, operation.device(rank)});
  }
  countBytes();
  ILK_ASSIGN_OR_RETURN(gate, Gate::create(driver, std::move(streams)));
  return options.copies ? setUpCopies() : Status();
}

Status Case::setUpCopies() {
  for (KernelKind kind : {KernelKind::dispatch, KernelKind::combine})
    for (uint32_t index = 0; index < ranks.size(); ++index) {
      Rank &rank = ranks[index];
      uint32_t device = operation.device(index);
      if (!copyKernels.contains(device)) {
        CopyKernels &loaded = copyKernels[device];
        ILK_ASSIGN_OR_RETURN(loaded.copy, driver.load(device, {kernels::copyPtx, {}, "copy_packets"}));
        ILK_ASSIGN_OR_RETURN(loaded.fanOut, driver.load(device, {kernels::copyPtx, {}, "fan_out_packets"}));
      }
      // A copy takes the mean of the two; the fan-out writes what the dispatch writes.
      uint64_t bytes = std::max((bytesOf(rank, kind).read + bytesOf(rank, kind).written) / 2, rank.dispatch.written);
      if (bytes <= rank.copyFrom.bytes())
        continue;
      ILK_ASSIGN_OR_RETURN(rank.copyFrom, DeviceBuffer::create(driver, device, bytes));
      ILK_ASSIGN_OR_RETURN(rank.copyTo, DeviceBuffer::create(driver, device, bytes));
      for (uint64_t at = 0; at < bytes; at += rank.x.bytes())
        ILK_RETURN_IF_ERROR(driver.copy(rank.stream, rank.copyFrom.address() + at, rank.x.address(),
                                        std::min<uint64_t>(rank.x.bytes(), bytes - at)));
      ILK_RETURN_IF_ERROR(driver.synchronize(rank.stream));
    }
  return {};
}

void Case::countBytes() {
  const LayerSpec &layer = options.layer;
  std::vector<SourceTokens> sources;
  for (const Rank &rank : ranks)
    sources.push_back({layer.maxTokens, {}, {}, rank.routing.ids, rank.routing.weights});
  std::vector<ReferenceRank> expected = referenceDispatch(layer, sources);
  for (uint32_t source = 0; source < layer.ranks; ++source) {
    Rank &rank = ranks[source];
    rank.received = expected[source].received;
    std::vector<bool> sent(layer.maxTokens);
    uint64_t distinct = 0, away = 0;
    for (uint32_t to = 0; to < layer.ranks; ++to)
      for (uint32_t token : expected[to].landed[source]) {
        if (to == source && layer.ownInPlace)
          continue;
        away += operation.device(to) != operation.device(source);
        distinct += !sent[token];
        sent[token] = true;
      }
    uint64_t written = sentRows(layer, expected, source);
    uint64_t gathered = gatheredRows(layer, sources[source], expected[source].slots);
    rank.dispatch = {distinct * rowBytes(layer), written * rowBytes(layer), away * rowBytes(layer)};
    rank.combine = {gathered * combineRowBytes(layer), layer.maxTokens * combineRowBytes(layer),
                    away * combineRowBytes(layer)};
  }
}

template <typename Enqueue> Result<GraphId> Case::capture(uint32_t index, Enqueue enqueue) {
  ILK_RETURN_IF_ERROR(driver.beginCapture(ranks[index].stream));
  Status enqueued = enqueue();
  auto graph = driver.endCapture(ranks[index].stream);
  ILK_RETURN_IF_ERROR(enqueued);
  if (graph)
    ranks[index].graphs.push_back(*graph);
  return graph;
}

Result<RoutingHandle> Case::enqueueDispatch(uint32_t index, uint32_t tokens) {
  Rank &rank = ranks[index];
  DeviceAddress x = rank.x.address();
  if (options.layer.ownInPlace) {
    ILK_ASSIGN_OR_RETURN(x, operation.ownRows(index, uint32_t(rank.steps % WindowLayout::buffers)));
  }
  ++rank.steps;
  return operation.dispatch(index, rank.stream,
                            {x, rank.scales.address(), rank.ids.address(), rank.weights.address(), tokens});
}

Status Case::enqueueCombine(uint32_t index, RoutingHandle &handle, uint32_t tokens, bool weighted) {
  const Rank &rank = ranks[index];
  return operation.combine(
      index, rank.stream, handle,
      {rank.out.address(), weighted ? rank.outWeights.address() : 0, weighted ? rank.weights.address() : 0, tokens});
}

Status Case::captureSteps(uint32_t tokens, Turns &dispatch, Turns &combine, bool weighted) {
  dispatch.resize(WindowLayout::buffers);
  combine.resize(WindowLayout::buffers);
  for (uint32_t index = 0; index < ranks.size(); ++index)
    for (uint32_t turn = 0; turn < WindowLayout::buffers; ++turn) {
      std::optional<RoutingHandle> handle;
      ILK_ASSIGN_OR_RETURN(GraphId first, capture(index, [&]() -> Status {
                             ILK_ASSIGN_OR_RETURN(handle, enqueueDispatch(index, tokens));
                             return {};
                           }));
      ILK_ASSIGN_OR_RETURN(GraphId second,
                           capture(index, [&] { return enqueueCombine(index, *handle, tokens, weighted); }));
      dispatch[turn].push_back(first);
      combine[turn].push_back(second);
    }
  return {};
}

/// As many bytes as the phase moves, half of them read and half written, by as many CTAs and threads.
Result<Case::Graphs> Case::captureCopies(KernelKind kind) {
  Graphs graphs;
  const KernelReport &kernel = operation.kernel(kind);
  for (uint32_t index = 0; index < ranks.size(); ++index) {
    const Bytes &bytes = bytesOf(ranks[index], kind);
    std::array<uint64_t, 3> params{ranks[index].copyTo.address(), ranks[index].copyFrom.address(),
                                   (bytes.read + bytes.written) / 32};
    ILK_ASSIGN_OR_RETURN(GraphId graph, capture(index, [&] {
                           return driver.launch(ranks[index].stream, copyKernels.at(operation.device(index)).copy,
                                                {kernel.grid, kernel.spec.blockThreads, 1, 0},
                                                std::as_bytes(std::span(params)));
                         }));
    graphs.push_back(graph);
  }
  return graphs;
}

/// Reads what the dispatch reads and writes what it writes: every piece once, to as many places in the mean.
Result<Case::Graphs> Case::captureFanOuts() {
  constexpr uint64_t pieceBytes = 2048;
  Graphs graphs;
  const KernelReport &kernel = operation.kernel(KernelKind::dispatch);
  for (uint32_t index = 0; index < ranks.size(); ++index) {
    const Bytes &bytes = ranks[index].dispatch;
    std::array<uint64_t, 4> params{ranks[index].copyTo.address(), ranks[index].x.address(), bytes.read / pieceBytes,
                                   bytes.written / pieceBytes};
    ILK_ASSIGN_OR_RETURN(GraphId graph, capture(index, [&] {
                           return driver.launch(ranks[index].stream, copyKernels.at(operation.device(index)).fanOut,
                                                {kernel.grid, kernel.spec.blockThreads, 1, 0},
                                                std::as_bytes(std::span(params)));
                         }));
    graphs.push_back(graph);
  }
  return graphs;
}

Result<double> Case::replay(const Graphs &graphs) {
  return gate->time([&](size_t i) { return driver.launchGraph(ranks[i].stream, graphs[i]); });
}

Status Case::checkDispatch(bool empty) {
  for (uint32_t rank = 0; rank < ranks.size(); ++rank) {
    ILK_ASSIGN_OR_RETURN(OperationResult result, operation.result(rank, ranks[rank].stream, KernelKind::dispatch));
    uint32_t received = empty ? 0 : ranks[rank].received;
    if (result.peerLost || result.lost || result.overflow || result.badId || result.received != received)
      return makeError(Code::device,
                       fmt::format("expected rank {} to receive {} rows with status ok, got {} rows{}", rank, received,
                                   result.received, result.peerLost ? " and a lost peer" : ""));
  }
  return {};
}

Status Case::checkCombine() {
  for (uint32_t rank = 0; rank < ranks.size(); ++rank) {
    ILK_ASSIGN_OR_RETURN(OperationResult result, operation.result(rank, ranks[rank].stream, KernelKind::combine));
    // A rank that was given up on in an earlier run stays out of the later ones, which are then too quick.
    if (result.peerLost || result.lost)
      return makeError(Code::device, fmt::format("expected rank {} to combine, but it lost a peer", rank));
  }
  return {};
}

/// Identity experts: what landed is what combine gathers.
Status Case::copyExpertRows() {
  const LayerSpec &layer = options.layer;
  for (uint32_t rank = 0; rank < ranks.size(); ++rank)
    for (uint32_t buffer = 0; buffer < WindowLayout::buffers; ++buffer) {
      ILK_ASSIGN_OR_RETURN(LandedRows landed, operation.landed(rank, buffer));
      uint64_t bytes =
          uint64_t(layer.ranks) * layer.rowsPerSource() * std::min(landed.rowStride, landed.combineRowStride);
      ILK_RETURN_IF_ERROR(driver.copy(ranks[rank].stream, landed.expertOut, landed.rows, bytes));
      ILK_RETURN_IF_ERROR(driver.synchronize(ranks[rank].stream));
    }
  return {};
}

template <typename Run> Result<std::vector<double>> Case::timeAlone(Run run) {
  std::vector<double> runs;
  for (uint32_t i = 0; i < options.warmups + options.runs; ++i) {
    ILK_ASSIGN_OR_RETURN(double ns, run(i));
    if (i >= options.warmups)
      runs.push_back(ns / 1000);
  }
  return runs;
}

Result<std::vector<double>> Case::timeEager(KernelKind kind) {
  std::vector<std::optional<RoutingHandle>> handles(ranks.size());
  auto dispatch = [&](size_t i) -> Status {
    handles[i].reset();
    ILK_ASSIGN_OR_RETURN(handles[i], enqueueDispatch(uint32_t(i), options.layer.maxTokens));
    return {};
  };
  return timeAlone([&](uint32_t) -> Result<double> {
    if (kind == KernelKind::dispatch)
      return gate->time(dispatch);
    for (size_t i = 0; i < ranks.size(); ++i)
      ILK_RETURN_IF_ERROR(dispatch(i));
    return gate->time([&](size_t i) { return enqueueCombine(uint32_t(i), *handles[i], options.layer.maxTokens); });
  });
}

/// Nothing of the host is between the kernels of a chain, and the ranks keep each other in step.
Result<json> Case::timeChains() {
  Graphs dispatches, steps;
  for (uint32_t index = 0; index < ranks.size(); ++index)
    for (Graphs *graphs : {&dispatches, &steps}) {
      ILK_ASSIGN_OR_RETURN(GraphId graph, capture(index, [&]() -> Status {
                             for (uint32_t i = 0; i < options.chain; ++i) {
                               ILK_ASSIGN_OR_RETURN(RoutingHandle handle,
                                                    enqueueDispatch(index, options.layer.maxTokens));
                               if (graphs == &steps)
                                 ILK_RETURN_IF_ERROR(enqueueCombine(index, handle, options.layer.maxTokens));
                             }
                             return {};
                           }));
      graphs->push_back(graph);
    }
  json object = {{"kernels_in_a_row", options.chain}};
  for (auto [name, graphs] : {std::pair("dispatch", &dispatches), std::pair("step", &steps)}) {
    ILK_ASSIGN_OR_RETURN(std::vector<double> runs, timeAlone([&](uint32_t) { return replay(*graphs); }));
    for (double &us : runs)
      us /= options.chain;
    addRuns(object, name, "us", runs);
  }
  return object;
}

/// The combines alone: what was dispatched for the others they find too.
Result<Case::Turns> Case::captureUnweighted() {
  Turns dispatch, combine;
  ILK_RETURN_IF_ERROR(captureSteps(options.layer.maxTokens, dispatch, combine, false));
  return combine;
}

/// Kernel and copies in turns, so that all meet the same clocks.
Result<json> Case::measurePhase(KernelKind kind, const Turns &kernels) {
  struct Series {
    const char *name;
    Turns turns;
    std::vector<double> runs;
  };
  std::vector<Series> series{{"kernel", kernels, {}}};
  if (options.copies) {
    ILK_ASSIGN_OR_RETURN(Graphs copies, captureCopies(kind));
    series.push_back({"copy", {std::move(copies)}, {}});
  }
  if (options.copies && kind == KernelKind::dispatch) {
    ILK_ASSIGN_OR_RETURN(Graphs fanOuts, captureFanOuts());
    series.push_back({"fan_out", {std::move(fanOuts)}, {}});
  }
  if (options.copies && kind == KernelKind::combine) {
    ILK_ASSIGN_OR_RETURN(Turns unweighted, captureUnweighted());
    series.push_back({"unweighted", std::move(unweighted), {}});
  }
  for (uint32_t i = 0; i < options.warmups + options.runs; ++i)
    for (Series &each : series) {
      ILK_ASSIGN_OR_RETURN(double ns, replay(each.turns, i));
      if (i >= options.warmups)
        each.runs.push_back(ns / 1000);
    }
  const KernelReport &kernel = operation.kernel(kind);
  Bytes bytes = total(kind);
  double moved = double(bytes.read + bytes.written), kernelUs = median(series[0].runs);
  json object = {{"phase", name(kind)},
                 {"ctas_per_rank", kernel.grid},
                 {"block_threads", kernel.spec.blockThreads},
                 {"tile_tokens", kernel.spec.tileTokens},
                 {"bytes_read", bytes.read},
                 {"bytes_written", bytes.written},
                 {"bytes_peer", bytes.peer / ranks.size()},
                 {"peer_gb_per_s", double(bytes.peer) / double(ranks.size()) / (kernelUs * 1000)},
                 {"gb_per_s", moved / (kernelUs * 1000)}};
  for (const Series &each : series) {
    addRuns(object, each.name, "us", each.runs);
    if (&each == &series[0])
      continue;
    double us = median(each.runs);
    object[std::string(each.name) + "_gb_per_s"] = moved / (us * 1000);
    object[std::string(each.name) + "_ratio"] = us / kernelUs;
  }
  return object;
}

Result<json> Case::measure() {
  ILK_RETURN_IF_ERROR(setUp());
  Turns dispatch, combine, noDispatch, noCombine;
  ILK_RETURN_IF_ERROR(captureSteps(options.layer.maxTokens, dispatch, combine));
  if (options.signals)
    ILK_RETURN_IF_ERROR(captureSteps(0, noDispatch, noCombine));

  for (const Graphs &graphs : dispatch) {
    ILK_RETURN_IF_ERROR(replay(graphs));
    ILK_RETURN_IF_ERROR(checkDispatch(false));
  }
  ILK_RETURN_IF_ERROR(copyExpertRows());
  const LayerSpec &layer = options.layer;
  const KernelSpec &spec = operation.kernel(KernelKind::dispatch).spec;
  json object = {{"ranks", layer.ranks},
                 {"experts", layer.experts},
                 {"topk", layer.topk},
                 {"hidden", layer.hidden},
                 {"dtype", name(layer.dtype)},
                 {"combine_dtype", name(layer.combineDType)},
                 {"tokens_per_rank", layer.maxTokens},
                 {"own_rows", layer.ownInPlace ? "in place" : "copied"},
                 {"target", spec.target},
                 {"schedule", name(spec.schedule)},
                 {"cluster", spec.cluster},
                 {"wait", name(spec.wait)}};
  ILK_ASSIGN_OR_RETURN(object["dispatch"], measurePhase(KernelKind::dispatch, dispatch));
  ILK_RETURN_IF_ERROR(checkDispatch(false));
  ILK_ASSIGN_OR_RETURN(object["combine"], measurePhase(KernelKind::combine, combine));
  ILK_RETURN_IF_ERROR(checkCombine());
  if (options.signals) {
    ILK_ASSIGN_OR_RETURN(std::vector<double> dispatchRuns,
                         timeAlone([&](uint32_t run) { return replay(noDispatch, run); }));
    ILK_RETURN_IF_ERROR(checkDispatch(true));
    ILK_ASSIGN_OR_RETURN(std::vector<double> combineRuns,
                         timeAlone([&](uint32_t run) { return replay(noCombine, run); }));
    ILK_RETURN_IF_ERROR(checkCombine());
    addRuns(object["dispatch"], "signals_only", "us", dispatchRuns);
    addRuns(object["combine"], "signals_only", "us", combineRuns);
  }
  for (KernelKind kind : {KernelKind::dispatch, KernelKind::combine})
    if (options.eager) {
      ILK_ASSIGN_OR_RETURN(std::vector<double> runs, timeEager(kind));
      addRuns(object[std::string(name(kind))], "eager", "us", runs);
    }
  if (options.chain) {
    ILK_ASSIGN_OR_RETURN(object["chains"], timeChains());
  }
  if (options.eager || options.chain) {
    ILK_RETURN_IF_ERROR(checkDispatch(false));
    ILK_RETURN_IF_ERROR(checkCombine());
  }
  return object;
}
} // namespace

Result<json> measureCase(Driver &driver, KernelCache &cache, const CaseOptions &options) {
  ILK_ASSIGN_OR_RETURN(Operation operation, Operation::create(driver, cache, options.layer, options.operation));
  Case measured(driver, std::move(operation), options);
  return measured.measure();
}

} // namespace interlock::bench
