// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
#include "bench/two/Link.h"

#include "bench/Kernels.h"
#include "bench/common/Report.h"
#include "bench/gpu/Gate.h"
#include "runtime/Memory/DeviceBuffer.h"

#include <fmt/format.h>

#include <array>
#include <map>
#include <optional>
#include <string>

namespace interlock::bench {

namespace {
using nlohmann::json;

/// A kernel of link.ptx or bulk.ptx and which memory it is given: `there` is the peer's.
struct Shape {
  const char *name, *entry;
  bool aThere, bThere;
  bool c = true;     ///< given at all; it is always here
  bool bulk = false; ///< one thread, and a ring
};
constexpr Shape shapes[] = {{"store", "store_packets", false, true},
                            {"load", "load_packets", true, false},
                            {"fan_out", "fan_out", false, true},
                            {"fan_in", "fan_in", true, false},
                            {"bulk_store", "bulk_fan_out", false, true, false, true},
                            {"bulk_load", "bulk_fan_out", true, false, false, true},
                            {"bulk_fan_out", "bulk_fan_out", false, true, true, true}};
constexpr uint32_t bulkRingBytes = 12 * 16384, bulkPiece = 16384;

struct LinkParams {
  uint64_t a, b, c, packets;
};
struct CopyParams {
  uint64_t to, from, packets;
};
struct PingParams {
  uint64_t mine, theirs, base;
  uint32_t rounds, leads;
};

template <typename Params> std::span<const std::byte> bytesOf(const Params &params) {
  return std::as_bytes(std::span<const Params, 1>(&params, 1));
}

/// One device's end of the link.
struct End {
  uint32_t device = 0;
  StreamId stream{};
  DeviceBuffer from, to, local, flag; ///< `to` is what the other end writes into
  std::map<std::string, KernelId> kernels;
  std::vector<GraphId> graphs;
};

class Link {
public:
  Link(Driver &driver, const LinkOptions &options) : driver(driver), options(options) {}
  Link(const Link &) = delete;
  Link &operator=(const Link &) = delete;
  ~Link() {
    // A destructor has nobody to report to; the driver frees everything when it goes.
    for (End &end : ends) {
      for (GraphId graph : end.graphs)
        (void)driver.destroyGraph(graph);
      for (auto &[name, kernel] : end.kernels)
        (void)driver.unload(kernel);
      (void)driver.destroyStream(end.stream);
    }
  }
  Result<json> measure();

private:
  Status setUp();
  Status setUpEnd(End &end);
  template <typename Enqueue> Result<std::vector<double>> time(bool bothWays, Enqueue enqueue);
  /// Times both and records GB/s of `options.bytes` in each direction.
  template <typename Enqueue> Status record(json &object, Enqueue enqueue);
  template <typename Enqueue> Result<std::vector<double>> timeGraph(Enqueue enqueue);
  Result<json> measureKernels();
  Result<json> measureCopyEngine();
  Result<json> measureFlag();
  Result<json> measureEmptyGraph();

  Driver &driver;
  const LinkOptions &options;
  std::array<End, 2> ends;
  std::optional<Gate> one, both;
  uint64_t pings = 0;
};

Status Link::setUpEnd(End &end) {
  ILK_ASSIGN_OR_RETURN(end.stream, driver.createStream(end.device));
  for (DeviceBuffer *buffer : {&end.from, &end.to, &end.local}) {
    ILK_ASSIGN_OR_RETURN(*buffer, DeviceBuffer::create(driver, end.device, options.bytes));
    ILK_RETURN_IF_ERROR(driver.fill(end.stream, buffer->address(), 0x3c, options.bytes));
  }
  ILK_ASSIGN_OR_RETURN(end.flag, DeviceBuffer::create(driver, end.device, 128));
  ILK_RETURN_IF_ERROR(driver.fill(end.stream, end.flag.address(), 0, 128));
  for (const char *entry : {"store_packets", "load_packets", "fan_out", "fan_in", "nothing", "ping"}) {
    ILK_ASSIGN_OR_RETURN(end.kernels[entry], driver.load(end.device, {kernels::linkPtx, {}, entry}));
  }
  ILK_ASSIGN_OR_RETURN(end.kernels["bulk_fan_out"], driver.load(end.device, {kernels::bulkPtx, {}, "bulk_fan_out"}));
  ILK_ASSIGN_OR_RETURN(end.kernels["copy_packets"], driver.load(end.device, {kernels::copyPtx, {}, "copy_packets"}));
  return driver.synchronize(end.stream);
}

Status Link::setUp() {
  if (options.bytes == 0 || options.bytes % bulkPiece)
    return makeError(Code::badInput,
                     fmt::format("expected whole pieces of {} bytes, got {} bytes", bulkPiece, options.bytes));
  ends[1].device = driver.deviceCount() > 1 ? 1 : 0;
  for (End &end : ends)
    ILK_RETURN_IF_ERROR(setUpEnd(end));
  ILK_ASSIGN_OR_RETURN(one, Gate::create(driver, {{ends[0].stream, ends[0].device}}));
  ILK_ASSIGN_OR_RETURN(both,
                       Gate::create(driver, {{ends[0].stream, ends[0].device}, {ends[1].stream, ends[1].device}}));
  return {};
}

/// `enqueue(here, there)` once for each end that takes part.
template <typename Enqueue> Result<std::vector<double>> Link::time(bool bothWays, Enqueue enqueue) {
  std::vector<double> runs;
  for (uint32_t i = 0; i < options.warmups + options.runs; ++i) {
    ILK_ASSIGN_OR_RETURN(double ns,
                         (bothWays ? both : one)->time([&](size_t end) { return enqueue(ends[end], ends[1 - end]); }));
    if (i >= options.warmups)
      runs.push_back(ns / 1000);
  }
  return runs;
}

template <typename Enqueue> Status Link::record(json &object, Enqueue enqueue) {
  for (auto [way, bothWays] : {std::pair("one_way", false), std::pair("both_ways", true)}) {
    ILK_ASSIGN_OR_RETURN(std::vector<double> runs, time(bothWays, enqueue));
    addRuns(object, way, "us", runs);
    object[fmt::format("{}_gb_per_s", way)] = double(options.bytes) / (median(runs) * 1000);
  }
  return {};
}

Result<json> Link::measureKernels() {
  json list = json::array();
  uint64_t packets = options.bytes / 16;
  for (uint32_t threads : options.threads)
    for (uint32_t ctas : options.ctas) {
      LaunchConfig config{ctas, threads, 1, 0};
      for (const Shape &shape : shapes) {
        LaunchConfig with = shape.bulk ? LaunchConfig{ctas, 32, 1, bulkRingBytes} : config;
        json object = {{"kernel", shape.name}, {"ctas", ctas}, {"threads", with.block}, {"bytes", options.bytes}};
        ILK_RETURN_IF_ERROR(record(object, [&](End &here, End &there) {
          LinkParams params{(shape.aThere ? there : here).from.address(), (shape.bThere ? there : here).to.address(),
                            shape.c ? here.local.address() : 0, packets};
          return driver.launch(here.stream, here.kernels.at(shape.entry), with, bytesOf(params));
        }));
        list.push_back(std::move(object));
      }
      json copy = {{"kernel", "local_copy"}, {"ctas", ctas}, {"threads", threads}, {"bytes", options.bytes}};
      ILK_RETURN_IF_ERROR(record(copy, [&](End &here, End &) {
        CopyParams params{here.local.address(), here.from.address(), packets};
        return driver.launch(here.stream, here.kernels.at("copy_packets"), config, bytesOf(params));
      }));
      list.push_back(std::move(copy));
    }
  return list;
}

Result<json> Link::measureCopyEngine() {
  json object = {{"bytes", options.bytes}};
  ILK_RETURN_IF_ERROR(record(object, [&](End &here, End &there) {
    return driver.copy(here.stream, there.to.address(), here.from.address(), options.bytes);
  }));
  return object;
}

Result<json> Link::measureFlag() {
  constexpr uint32_t rounds = 200;
  std::vector<double> runs;
  for (uint32_t i = 0; i < options.warmups + options.runs; ++i) {
    ILK_ASSIGN_OR_RETURN(double ns, both->time([&](size_t index) {
      End &here = ends[index], &there = ends[1 - index];
      PingParams params{here.flag.address(), there.flag.address(), pings, rounds, index == 0};
      return driver.launch(here.stream, here.kernels.at("ping"), {}, bytesOf(params));
    }));
    pings += rounds;
    if (i >= options.warmups)
      runs.push_back(ns / 1000 / rounds);
  }
  json object = {{"rounds", rounds}};
  addRuns(object, "round_trip", "us", runs);
  return object;
}

/// A graph of what `enqueue` puts on the first end's stream, replayed alone.
template <typename Enqueue> Result<std::vector<double>> Link::timeGraph(Enqueue enqueue) {
  End &end = ends[0];
  ILK_RETURN_IF_ERROR(driver.beginCapture(end.stream));
  Status enqueued = enqueue();
  auto graph = driver.endCapture(end.stream);
  ILK_RETURN_IF_ERROR(enqueued);
  ILK_RETURN_IF_ERROR(graph);
  end.graphs.push_back(*graph);
  return time(false, [&](End &here, End &) { return driver.launchGraph(here.stream, *graph); });
}

Result<json> Link::measureEmptyGraph() {
  End &end = ends[0];
  LinkParams params{};
  auto launch = [&] { return driver.launch(end.stream, end.kernels.at("nothing"), {}, bytesOf(params)); };
  json object = {{"nodes", options.chain}};
  ILK_ASSIGN_OR_RETURN(std::vector<double> single, timeGraph(launch));
  addRuns(object, "single", "us", single);
  ILK_ASSIGN_OR_RETURN(std::vector<double> chain, timeGraph([&]() -> Status {
                         for (uint32_t i = 0; i < options.chain; ++i)
                           ILK_RETURN_IF_ERROR(launch());
                         return {};
                       }));
  for (double &us : chain)
    us /= options.chain;
  addRuns(object, "node_of_chain", "us", chain);
  return object;
}

Result<json> Link::measure() {
  ILK_RETURN_IF_ERROR(setUp());
  json object;
  ILK_ASSIGN_OR_RETURN(object["flag_round_trip"], measureFlag());
  ILK_ASSIGN_OR_RETURN(object["empty_graph"], measureEmptyGraph());
  ILK_ASSIGN_OR_RETURN(object["copy_engine"], measureCopyEngine());
  ILK_ASSIGN_OR_RETURN(object["kernels"], measureKernels());
  return object;
}
} // namespace

Result<json> measureLink(Driver &driver, const LinkOptions &options) { return Link(driver, options).measure(); }

} // namespace interlock::bench
