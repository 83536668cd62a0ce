// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// The protocol of dispatch and combine as one CTA would run it, and just enough of a driver around it.
#include "ProtocolDriver.h"

#include "runtime/Ops/Numeric.h"

#include <algorithm>
#include <cstring>

namespace interlock::test {

namespace {
template <typename T> T &at(uint64_t address, uint64_t index = 0) { return reinterpret_cast<T *>(address)[index]; }

/// One launch of one rank, with the addresses that both kernels need.
struct Run {
  LayerSpec layer;
  WindowLayout layout;
  uint64_t window, stride;
  uint32_t rank, tokens, buffer;
  bool faulty;

  template <typename Params>
  Run(const LayerSpec &layer, const Params &p, bool faulty)
      : layer(layer), layout(windowLayout(layer)), window(p.window), stride(p.stride), rank(p.rank), tokens(p.tokens),
        buffer(p.buffer), faulty(faulty) {}

  uint64_t base(uint32_t r) const { return window + r * stride; }
  ControlBlock &control() const { return at<ControlBlock>(base(rank) + layout.control); }
  bool live(uint32_t r) const { return !(((control().dead | control().lost) >> r) & 1); }
  uint64_t &started(uint32_t at_, uint32_t source) const {
    return at<uint64_t>(base(at_) + layout.started + source * WindowLayout::signalStride);
  }
  uint64_t &arrived(uint32_t at_, uint32_t source) const {
    return at<uint64_t>(base(at_) + layout.arrived + source * WindowLayout::signalStride);
  }
  uint32_t &count(uint32_t at_, uint32_t source) const {
    return at<uint32_t>(base(at_) + layout.counts, buffer * layer.ranks + source);
  }
  uint64_t row(uint32_t source, uint64_t slot) const {
    return (uint64_t(buffer) * layer.ranks + source) * layer.rowsPerSource() + slot;
  }
  uint64_t landing(uint32_t to, uint64_t slot) const {
    return base(to) + layout.landing + row(rank, slot) * layout.rowStride;
  }
  uint64_t meta(uint32_t to, uint64_t slot) const {
    return base(to) + layout.meta + row(rank, slot) * layout.metaStride;
  }
  uint64_t expertOut(uint32_t from, uint64_t slot, uint32_t k) const {
    return base(from) + layout.expertOut + (row(rank, slot) * layout.outRows + k) * layout.combineRowStride;
  }
  void announceStart() const {
    for (uint32_t to = 0; to < layer.ranks; ++to)
      if (live(to))
        started(to, rank) = control().op + 1;
  }
  bool all(uint64_t (*signal)(const Run &, uint32_t), uint64_t least) const {
    for (uint32_t r = 0; r < layer.ranks; ++r)
      if (live(r) && signal(*this, r) < least)
        return false;
    return true;
  }
  void lose(uint64_t (*signal)(const Run &, uint32_t), uint64_t least) const {
    for (uint32_t r = 0; r < layer.ranks; ++r)
      if (live(r) && signal(*this, r) < least) {
        control().lost |= uint64_t(1) << r;
        control().status |= opPeerLost;
      }
  }
  void finish(KernelKind kind, uint32_t received, uint32_t wanted) const {
    ControlBlock &c = control();
    if (c.lost)
      c.status |= opPeerLost;
    at<OpResult>(base(rank) + layout.results, uint64_t(kind)) = {c.op + 1, c.status, c.dropped,
                                                                 c.lost,   received, wanted};
    c.status = c.dropped = 0;
    ++c.op;
  }
};

uint64_t startedHere(const Run &run, uint32_t source) { return run.started(run.rank, source); }
uint64_t arrivedHere(const Run &run, uint32_t source) { return run.arrived(run.rank, source); }

/// A token goes to a rank: its row, unless it is in its place, and its meta row. The slot, or -1 without room.
int32_t sendTo(const Run &run, const DispatchParams &p, uint32_t token, uint32_t to, uint32_t slot, Fault fault) {
  const LayerSpec &layer = run.layer;
  if (slot >= layer.rowsPerSource()) {
    run.control().status |= opOverflow;
    ++run.control().dropped;
    return -1;
  }
  if (to != p.rank || !layer.ownInPlace)
    std::memcpy(&at<char>(run.landing(to, slot)), &at<char>(p.x + token * run.layout.rowStride), run.layout.rowStride);
  uint64_t meta = run.meta(to, slot);
  std::memcpy(&at<char>(meta), &at<int32_t>(p.ids, uint64_t(token) * layer.topk), layer.topk * 4);
  std::memcpy(&at<char>(meta + run.layout.metaWeights), &at<float>(p.weights, uint64_t(token) * layer.topk),
              layer.topk * 4);
  at<uint32_t>(meta + run.layout.metaToken) = token + (run.faulty && fault == Fault::metaToken);
  if (layer.scaleBytes)
    std::memcpy(&at<char>(meta + run.layout.metaScales), &at<char>(p.scales + token * layer.scaleBytes),
                layer.scaleBytes);
  if (run.faulty && fault == Fault::rowBit)
    at<uint8_t>(run.landing(to, slot), run.layout.rowStride - 1) ^= 1;
  if (run.faulty && fault == Fault::metaWeight)
    at<uint8_t>(meta + run.layout.metaWeights) ^= 1;
  return int32_t(slot);
}

void sendToken(const Run &run, const DispatchParams &p, uint32_t token, std::vector<uint32_t> &next, Fault fault) {
  const LayerSpec &layer = run.layer;
  std::vector<int32_t> slotAt(layer.ranks, -2); // -2: not yet sent to
  if (layer.ownInPlace)
    slotAt[p.rank] = sendTo(run, p, token, p.rank, next[p.rank]++, fault);
  for (uint32_t k = 0; k < layer.topk; ++k) {
    uint64_t entry = uint64_t(token) * layer.topk + k;
    int32_t id = at<int32_t>(p.ids, entry);
    at<int32_t>(p.slots, entry) = -1;
    if (id < 0 || uint32_t(id) >= layer.experts) {
      if (id != -1)
        run.control().status |= opBadId;
      continue;
    }
    uint32_t to = uint32_t(id) / layer.expertsPerRank();
    if (!run.live(to))
      continue;
    if (slotAt[to] == -2)
      slotAt[to] = sendTo(run, p, token, to, next[to]++, fault);
    at<int32_t>(p.slots, entry) = slotAt[to];
  }
}

struct Contribution {
  uint32_t rank;
  uint64_t row;
  float weight;
  uint64_t meta;
};

void combineToken(const Run &run, const CombineParams &p, uint32_t token, Fault fault) {
  const LayerSpec &layer = run.layer;
  std::vector<Contribution> list;
  std::vector<uint64_t> metas;
  uint64_t seen = 0;
  for (uint32_t k = 0; k < layer.topk; ++k) {
    uint64_t entry = uint64_t(token) * layer.topk + k;
    int32_t slot = at<int32_t>(p.slots, entry);
    if (slot < 0)
      continue;
    uint32_t from = uint32_t(at<int32_t>(p.ids, entry)) / layer.expertsPerRank();
    float weight = p.weights ? at<float>(p.weights, entry) : 1.0f;
    bool first = !((seen >> from) & 1);
    seen |= uint64_t(1) << from;
    if (first)
      metas.push_back(run.meta(from, uint64_t(slot)));
    if (layer.expertRows)
      list.push_back({from, run.expertOut(from, uint64_t(slot), k), weight, 0});
    else if (first)
      list.push_back({from, run.expertOut(from, uint64_t(slot), 0), weight, 0});
    else if (p.weights)
      std::find_if(list.begin(), list.end(), [&](auto &c) { return c.rank == from; })->weight += weight;
  }
  if (run.faulty && fault == Fault::combineOrder)
    std::reverse(list.begin(), list.end());
  auto *out = &at<std::byte>(p.out + token * run.layout.combineRowStride);
  for (uint32_t h = 0; h < layer.hidden; ++h) {
    float sum = 0;
    for (const Contribution &c : list)
      sum = fusedMultiplyAdd(c.weight, loadElement(layer.combineDType, &at<std::byte>(c.row), h), sum);
    storeElement(layer.combineDType, out, h, sum);
  }
  for (uint32_t k = 0; p.outWeights && k < layer.topk; ++k) {
    float sum = 0;
    for (uint64_t meta : metas)
      sum += at<float>(meta + run.layout.metaWeights, k);
    at<float>(p.outWeights, uint64_t(token) * layer.topk + k) = sum;
  }
}
} // namespace

ProtocolDriver::Work ProtocolDriver::dispatchWork(const LayerSpec &layer, const DispatchParams &p) {
  auto sent = std::make_shared<bool>(false);
  auto send = [this, layer, p] {
    Run run(layer, p, p.rank == 1);
    std::vector<uint32_t> next(layer.ranks, 0);
    for (uint32_t t = 0; t < p.tokens; ++t)
      sendToken(run, p, t, next, fault);
    if (run.faulty && fault == Fault::slot && p.tokens)
      at<int32_t>(p.slots) += 1;
    if (run.faulty && fault == Fault::strayRow && next[0] < layer.rowsPerSource())
      at<uint8_t>(run.landing(0, layer.rowsPerSource() - 1)) = 0;
    for (uint32_t to = 0; to < layer.ranks; ++to) {
      if (!run.live(to))
        continue;
      run.count(to, p.rank) = next[to] + (run.faulty && fault == Fault::count && to == 0);
      run.arrived(to, p.rank) = run.control().op + 1;
    }
  };
  auto end = [this, layer, p] {
    Run run(layer, p, p.rank == 1);
    uint32_t received = run.faulty && fault == Fault::received, wanted = 0;
    for (uint32_t source = 0; source < layer.ranks; ++source)
      if (run.live(source)) {
        wanted += run.count(p.rank, source);
        received += std::min(run.count(p.rank, source), layer.rowsPerSource());
      }
    run.control().lastUse[p.buffer] = run.control().op + 1;
    run.finish(KernelKind::dispatch, received, wanted);
    if (run.faulty && fault == Fault::operation)
      ++at<OpResult>(run.base(p.rank) + run.layout.results).op;
  };
  auto mayWrite = [p](const Run &run) {
    uint64_t last = run.control().lastUse[run.buffer];
    return last == 0 ? uint64_t(0) : p.givenUp ? run.control().op + 1 : last + 1;
  };
  return {[layer, p] { Run(layer, p, false).announceStart(); },
          [=] {
            Run run(layer, p, false);
            if (!*sent && !run.all(startedHere, mayWrite(run)))
              return false;
            if (!*sent)
              send();
            *sent = true;
            if (!run.all(arrivedHere, run.control().op + 1))
              return false;
            *sent = false;
            end();
            return true;
          },
          [=] {
            Run run(layer, p, false);
            if (!*sent) {
              run.lose(startedHere, mayWrite(run));
              send();
            }
            run.lose(arrivedHere, run.control().op + 1);
            *sent = false;
            end();
          }};
}

ProtocolDriver::Work ProtocolDriver::combineWork(const LayerSpec &layer, const CombineParams &p) {
  auto end = [this, layer, p] {
    Run run(layer, p, p.rank == 1);
    for (uint32_t t = 0; t < p.tokens; ++t)
      combineToken(run, p, t, fault);
    if (run.faulty && p.tokens && fault == Fault::combineBit)
      at<uint8_t>(p.out) ^= 1;
    if (run.faulty && p.tokens && fault == Fault::combineWeight)
      at<uint8_t>(p.outWeights) ^= 1;
    if (run.faulty && p.tokens < layer.maxTokens && fault == Fault::strayCombine)
      at<uint8_t>(p.out + p.tokens * run.layout.combineRowStride) = 0;
    run.finish(KernelKind::combine, 0, 0);
  };
  return {[layer, p] { Run(layer, p, false).announceStart(); },
          [=] {
            Run run(layer, p, false);
            if (!run.all(startedHere, run.control().op + 1))
              return false;
            end();
            return true;
          },
          [=] {
            Run run(layer, p, false);
            run.lose(startedHere, run.control().op + 1);
            end();
          }};
}

Result<DeviceAddress> ProtocolDriver::allocate(uint32_t, size_t bytes) {
  auto block = std::make_unique<std::byte[]>(bytes + 256);
  std::memset(block.get(), 0x77, bytes + 256);
  DeviceAddress address = (reinterpret_cast<uint64_t>(block.get()) + 255) / 256 * 256;
  memory[address] = std::move(block);
  return address;
}

Status ProtocolDriver::release(DeviceAddress address) {
  return memory.erase(address) ? Status() : makeError(Code::badInput, "expected an allocation");
}

Result<WindowId> ProtocolDriver::createWindow(uint32_t, size_t bytes, WindowSharing) {
  windows[nextId] = bytes;
  return WindowId(nextId++);
}

Result<int> ProtocolDriver::exportWindow(WindowId) {
  return makeError(Code::unsupported, "the scalar protocol runs in one process");
}

Result<WindowId> ProtocolDriver::importWindow(int, size_t) {
  return makeError(Code::unsupported, "the scalar protocol runs in one process");
}

Status ProtocolDriver::destroyWindow(WindowId window) {
  return windows.erase(uint64_t(window)) ? Status() : makeError(Code::badInput, "expected a window");
}

Result<DeviceAddress> ProtocolDriver::mapWindows(std::span<const WindowId> ids) {
  size_t bytes = 0;
  for (WindowId id : ids)
    bytes += windows.at(uint64_t(id));
  return allocate(0, bytes);
}

Result<StreamId> ProtocolDriver::createStream(uint32_t) {
  streams[nextId];
  return StreamId(nextId++);
}

Status ProtocolDriver::destroyStream(StreamId stream) {
  streams.erase(uint64_t(stream));
  return {};
}

Status ProtocolDriver::enqueue(StreamId stream, Work work) {
  auto found = streams.find(uint64_t(stream));
  if (found == streams.end())
    return makeError(Code::badInput, "expected a stream of this driver");
  if (found->second.capturing)
    found->second.captured.push_back(std::move(work));
  else
    found->second.queue.push_back(std::move(work));
  return {};
}

/// One turn over all streams. True if anything moved.
bool ProtocolDriver::advance(bool giveUp) {
  bool moved = false;
  for (auto &[id, stream] : streams)
    while (!stream.queue.empty()) {
      Work &work = stream.queue.front();
      ++clock;
      if (!work.begun) {
        work.begun = true;
        moved = true;
        work.begin();
      }
      if (work.done && !work.done()) {
        if (!giveUp)
          break;
        work.giveUp();
        giveUp = false;
      }
      stream.queue.pop_front();
      moved = true;
    }
  return moved;
}

Status ProtocolDriver::synchronize(StreamId stream) {
  while (!streams.at(uint64_t(stream)).queue.empty())
    if (!advance(false))
      advance(true);
  return {};
}

Result<bool> ProtocolDriver::isIdle(StreamId stream) { return streams.at(uint64_t(stream)).queue.empty(); }

Status ProtocolDriver::copyIn(StreamId stream, DeviceAddress to, const void *from, size_t bytes) {
  return enqueue(stream, [=] { std::memcpy(&at<char>(to), from, bytes); });
}

Status ProtocolDriver::copyOut(StreamId stream, void *to, DeviceAddress from, size_t bytes) {
  return enqueue(stream, [=] { std::memcpy(to, &at<char>(from), bytes); });
}

Status ProtocolDriver::copy(StreamId stream, DeviceAddress to, DeviceAddress from, size_t bytes) {
  return enqueue(stream, [=] { std::memcpy(&at<char>(to), &at<char>(from), bytes); });
}

Status ProtocolDriver::fill(StreamId stream, DeviceAddress to, uint8_t value, size_t bytes) {
  return enqueue(stream, [=] { std::memset(&at<char>(to), value, bytes); });
}

Result<KernelId> ProtocolDriver::load(uint32_t, const KernelImage &image) {
  ILK_ASSIGN_OR_RETURN(KernelSpec spec, parseSpec(image.text));
  kernels[nextId] = spec;
  return KernelId(nextId++);
}

Status ProtocolDriver::unload(KernelId kernel) {
  return kernels.erase(uint64_t(kernel)) ? Status() : makeError(Code::badInput, "expected a kernel");
}

Status ProtocolDriver::launch(StreamId stream, KernelId kernel, const LaunchConfig &config,
                              std::span<const std::byte> params) {
  const KernelSpec &spec = kernels.at(uint64_t(kernel));
  ++launches;
  last = config;
  if (spec.kernel == KernelKind::dispatch) {
    DispatchParams p;
    std::memcpy(&p, params.data(), sizeof p);
    return enqueue(stream, dispatchWork(spec.layer, p));
  }
  if (isLocal(spec.kernel)) // what these leave is looked at where real kernels run
    return enqueue(stream, [] {});
  CombineParams p;
  std::memcpy(&p, params.data(), sizeof p);
  return enqueue(stream, combineWork(spec.layer, p));
}

Status ProtocolDriver::beginCapture(StreamId stream) {
  streams.at(uint64_t(stream)).capturing = true;
  return {};
}

Result<GraphId> ProtocolDriver::endCapture(StreamId stream) {
  Stream &s = streams.at(uint64_t(stream));
  s.capturing = false;
  graphs[nextId] = std::move(s.captured);
  s.captured.clear();
  return GraphId(nextId++);
}

Status ProtocolDriver::launchGraph(StreamId stream, GraphId graph) {
  for (const Work &work : graphs.at(uint64_t(graph)))
    ILK_RETURN_IF_ERROR(enqueue(stream, work));
  return {};
}

Status ProtocolDriver::destroyGraph(GraphId graph) {
  graphs.erase(uint64_t(graph));
  return {};
}

Result<EventId> ProtocolDriver::createEvent() {
  events[nextId] = 0;
  return EventId(nextId++);
}

Status ProtocolDriver::recordEvent(StreamId stream, EventId event) {
  return enqueue(stream, [this, event] { events[uint64_t(event)] = clock; });
}

Result<double> ProtocolDriver::elapsedNs(EventId from, EventId to) {
  return double(events.at(uint64_t(to)) - events.at(uint64_t(from)));
}

Status ProtocolDriver::destroyEvent(EventId event) {
  events.erase(uint64_t(event));
  return {};
}

} // namespace interlock::test
