// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
#include "tests/handoff/Ring.h"

#include "runtime/Memory/DeviceBuffer.h"
#include "tests/handoff/RingText.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstring>
#include <numeric>

namespace interlock::handoff {

namespace {
struct Record {
  uint32_t wrong, seen, sum, noise;
};

/// @mix of ring.mlir.
uint32_t mix(uint32_t a, uint32_t b) {
  uint32_t h = a * 0x9E3779B1u ^ b * 0x85EBCA6Bu;
  h = (h ^ h >> 15) * 0xC2B2AE35u;
  return h ^ h >> 13;
}

std::string payloadType(const RingOptions &options) {
  if (options.packets)
    return fmt::format("vector<{}xi32>", 4 * options.packets);
  return options.wide ? "i64" : "i32";
}
} // namespace

std::string RingOptions::label() const {
  return fmt::format("{}, cluster {}, {} threads, {} stages, {}, wait {}, release {}", target, cluster, blockThreads,
                     stages, payloadType(*this), wait, release);
}

std::string ringModule(const RingOptions &options) {
  std::string text = fmt::format("#target = \"{}\" #cluster = {} : i32 #block_threads = {} : i32 #stages = {} : i32 "
                                 "#wait = \"{}\" #release = \"{}\" !payload = {} ",
                                 options.target, options.cluster, options.blockThreads, options.stages, options.wait,
                                 options.release, payloadType(options));
  if (options.packets) {
    std::vector<uint32_t> steps(4 * options.packets);
    std::iota(steps.begin(), steps.end(), 0u);
    text += fmt::format("#steps = dense<[{}]> : !payload ", fmt::join(steps, ", "));
  }
  text += "module attributes {ep.target = #target} { ";
  text += text::ring;
  text += options.packets ? text::payloadVector : options.wide ? text::payloadI64 : text::payloadI32;
  return text + "}\n";
}

Result<RingRun> runRing(Driver &driver, const KernelImage &image, const RingOptions &options,
                        const RingLaunch &launch) {
  uint32_t ctas = launch.clusters * options.cluster;
  std::vector<Record> records(ctas);
  size_t bytes = records.size() * sizeof(Record);
  ILK_ASSIGN_OR_RETURN(DeviceBuffer out, DeviceBuffer::create(driver, 0, bytes));
  ILK_ASSIGN_OR_RETURN(StreamId stream, driver.createStream(0));
  ILK_ASSIGN_OR_RETURN(KernelId kernel, driver.load(0, image));
  ILK_ASSIGN_OR_RETURN(EventId begin, driver.createEvent());
  ILK_ASSIGN_OR_RETURN(EventId end, driver.createEvent());
  struct {
    uint64_t out;
    uint32_t iterations, delayMask;
  } params{out.address(), launch.iterations, launch.delayMask};
  LaunchConfig config{ctas, options.blockThreads, options.cluster, 0};
  // Everything is given back also where a step fails, and the first failure is the one that is told.
  auto run = [&]() -> Result<double> {
    ILK_RETURN_IF_ERROR(driver.fill(stream, out.address(), 0xff, bytes));
    ILK_RETURN_IF_ERROR(driver.recordEvent(stream, begin));
    ILK_RETURN_IF_ERROR(driver.launch(stream, kernel, config, std::as_bytes(std::span(&params, 1))));
    ILK_RETURN_IF_ERROR(driver.recordEvent(stream, end));
    ILK_RETURN_IF_ERROR(driver.copyOut(stream, records.data(), out.address(), bytes));
    ILK_RETURN_IF_ERROR(driver.synchronize(stream));
    return driver.elapsedNs(begin, end);
  };
  auto elapsed = run();
  for (Status status :
       {driver.destroyEvent(begin), driver.destroyEvent(end), driver.unload(kernel), driver.destroyStream(stream)})
    if (elapsed && !status)
      elapsed = tl::unexpected(status.error());
  if (!elapsed)
    return tl::unexpected(elapsed.error());

  RingRun result{0, uint64_t(launch.clusters) * launch.iterations, 0, *elapsed};
  for (uint32_t cta = 0; cta < ctas; ++cta) {
    uint32_t cluster = cta - cta % options.cluster, sum = 0;
    for (uint32_t i = 0; i < launch.iterations; ++i)
      sum += mix(i, cluster);
    result.wrong += records[cta].wrong;
    result.incompleteCtas += records[cta].seen != launch.iterations || records[cta].sum != sum;
  }
  return result;
}

} // namespace interlock::handoff
