// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
#include "runtime/Ops/Conversion.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>

namespace interlock {

namespace {
/// Received rows for which a CTA of pack_experts pays: each reads all ids, whatever its share is.
constexpr uint32_t rowsPerPackingCta = 256;

size_t indexOf(KernelKind kind) {
  return kind == KernelKind::packExperts ? 0 : kind == KernelKind::dispatchEpilogue ? 1 : 2;
}
} // namespace

Result<PackingOptions> resolvePacking(const LayerSpec &layer, const PackingOptions &asked) {
  PackingOptions options = asked;
  if (options.alignment == 0 || options.alignment > maxPackAlignment)
    return makeError(Code::badInput, fmt::format("expected rows of an expert to begin at a multiple of 1 to {}, got {}",
                                                 maxPackAlignment, options.alignment));
  if (layer.expertRows)
    return makeError(Code::badInput, "expected a layer whose combine reads a row per (token, rank) for packed rows, "
                                     "which are reduced to that, got one with a row per expert");
  if (options.capacity % options.alignment)
    return makeError(Code::badInput,
                     fmt::format("expected room for a multiple of {} packed rows, the alignment, got {}",
                                 options.alignment, options.capacity));
  uint64_t most = mostPackedRows(layer, options.alignment);
  if (options.capacity == 0 && most > INT32_MAX)
    return makeError(Code::badInput,
                     fmt::format("expected at most {} packed rows, got {}: a smaller alignment or a stated capacity "
                                 "would do",
                                 INT32_MAX, most));
  if (options.capacity > INT32_MAX)
    return makeError(Code::badInput,
                     fmt::format("expected room for at most {} packed rows, got {}", INT32_MAX, options.capacity));
  if (options.capacity == 0)
    options.capacity = uint32_t(most);
  return options;
}

std::array<KernelSpec, 3> conversionKernels(const LayerSpec &layer, std::string_view target) {
  return {packKernel(layer, target),
          localKernel(KernelKind::dispatchEpilogue, layer.topk, layer.hidden, layer.dtype, target),
          localKernel(KernelKind::combinePrologue, layer.topk, layer.hidden, layer.combineDType, target)};
}

Result<Conversion> Conversion::get(Driver &driver, KernelCache &cache, const LayerSpec &layer,
                                   const ProcessGroup &group, const PackingOptions &asked) {
  ILK_ASSIGN_OR_RETURN(PackingOptions options, resolvePacking(layer, asked));
  Conversion made(driver, layer, options);
  for (const OwnRank &own : group.own) {
    if (made.devices.contains(own.device))
      continue;
    OnDevice &here = made.devices[own.device];
    ILK_ASSIGN_OR_RETURN(DeviceInfo info, driver.info(own.device));
    uint32_t rows = made.landingRows();
    for (const KernelSpec &spec : conversionKernels(layer, info.target)) {
      ILK_ASSIGN_OR_RETURN(LocalKernel kernel, LocalKernel::load(driver, cache, own.device, spec));
      uint32_t work = spec.kernel == KernelKind::packExperts ? rows / rowsPerPackingCta : rows;
      here.reports.push_back(kernel.report());
      uint32_t &grid = here.reports.back().grid;
      grid = spec.kernel == KernelKind::packExperts ? options.grid : 0;
      if (!grid) {
        ILK_ASSIGN_OR_RETURN(grid, kernel.defaultGrid(work));
      }
      here.kernels.push_back(std::move(kernel));
    }
  }
  return made;
}

Status Conversion::allocate(const OwnRank &own) {
  OfRank &mine = ranks[own.rank];
  mine.device = own.device;
  for (Lists &lists : mine.lists) {
    // One allocation for all lists, each at a multiple of 256 bytes.
    struct Part {
      DeviceAddress *address;
      uint64_t words;
    };
    uint64_t received = landingRows(), entries = received * layer.topk, experts = layer.expertsPerRank();
    lists.at.capacity = options.capacity;
    const Part parts[] = {{&lists.at.counts, experts},
                          {&lists.at.offsets, experts + 1},
                          {&lists.at.sources, options.capacity},
                          {&lists.at.slotMap, entries},
                          {&lists.at.weights, entries},
                          {&lists.at.landed, received},
                          {&lists.result, sizeof(PackResult) / sizeof(uint32_t)}};
    uint64_t bytes = 0;
    for (const Part &part : parts) {
      *part.address = bytes;
      bytes += (part.words * sizeof(uint32_t) + 255) / 256 * 256;
    }
    ILK_ASSIGN_OR_RETURN(lists.memory, DeviceBuffer::create(*driver, own.device, bytes));
    for (const Part &part : parts)
      *part.address += lists.memory.address();
  }
  return {};
}

const KernelReport &Conversion::report(KernelKind kind) const { return devices.begin()->second.reports[indexOf(kind)]; }

LocalParams Conversion::localParams(const Lists &lists) const {
  LocalParams params{};
  params.tokens = lists.at.landed;
  params.rows = lists.at.slotMap;
  params.count = lists.result + offsetof(PackResult, received);
  params.status = lists.result + offsetof(PackResult, status);
  params.groups = params.tokenRowCount = landingRows();
  params.expertRowCount = options.capacity;
  return params;
}

Status Conversion::dispatchOutput(uint32_t rank, uint32_t buffer, StreamId stream, const LandedRows &landed,
                                  const PackArguments &arguments) const {
  const Lists &lists = listsOf(rank, buffer);
  const OnDevice &here = devices.at(ranks.at(rank).device);
  PackParams pack{};
  pack.counts = landed.counts;
  pack.meta = landed.meta;
  pack.absent = landed.absent;
  pack.tokens = lists.at.landed;
  pack.rows = lists.at.slotMap;
  pack.weights = lists.at.weights;
  pack.expertCounts = lists.at.counts;
  pack.offsets = lists.at.offsets;
  pack.sources = lists.at.sources;
  pack.expertRows = options.zeroPadding ? arguments.rows : 0;
  pack.scales = arguments.scales;
  pack.result = lists.result;
  pack.rank = rank;
  pack.alignment = options.alignment;
  pack.capacity = options.capacity;
  ILK_RETURN_IF_ERROR(here.launch(0, stream, pack));
  LocalParams copy = localParams(lists);
  copy.tokenRows = landed.rows;
  copy.expertRows = arguments.rows;
  return here.launch(1, stream, copy);
}

Status Conversion::combineInput(uint32_t rank, uint32_t buffer, StreamId stream, const LandedRows &landed,
                                const UnpackArguments &arguments) const {
  const Lists &lists = listsOf(rank, buffer);
  const OnDevice &here = devices.at(ranks.at(rank).device);
  LocalParams reduce = localParams(lists);
  reduce.tokenRows = landed.expertOut;
  reduce.expertRows = arguments.rows;
  reduce.weights = arguments.weighted ? lists.at.weights : 0;
  return here.launch(2, stream, reduce);
}

PackedRows Conversion::packed(uint32_t rank, uint32_t buffer) const { return listsOf(rank, buffer).at; }

Result<PackingResult> Conversion::result(uint32_t rank, uint32_t buffer, StreamId stream) const {
  PackResult raw{};
  ILK_RETURN_IF_ERROR(driver->copyOut(stream, &raw, listsOf(rank, buffer).result, sizeof raw));
  ILK_RETURN_IF_ERROR(driver->synchronize(stream));
  return PackingResult{(raw.status & localOverflow) != 0, raw.received, raw.rows, raw.wanted, raw.dropped};
}

} // namespace interlock
