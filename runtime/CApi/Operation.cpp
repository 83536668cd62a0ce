// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// ilk_operation_*: layers, steps and their results.
#include "interlock/operation.hpp"

#include "runtime/CApi/Handles.h"
#include "runtime/CApi/Status.h"
#include "runtime/CApi/Structs.h"

using namespace interlock;
using namespace interlock::capi;

namespace {

constexpr DType dtypes[] = {DType::bf16,     DType::f32,        DType::f16,   DType::bf16,
                            DType::f8e4m3fn, DType::f8e4m3fnuz, DType::f8e5m2};

LaunchGeometry geometryOf(const ilk_geometry &g) { return {g.grid, g.block_threads, g.tile_tokens}; }

template <typename Create>
ilk_status createOperation(ilk_driver *driver, ilk_cache *cache, const ilk_layer *layer,
                           const ilk_operation_options *options, ilk_operation **operation, Create create) {
  return call([&]() -> Status {
    ILK_RETURN_IF_ERROR(require("a driver, a cache and a place for the operation", driver, cache, operation));
    ILK_ASSIGN_OR_RETURN(ilk_layer given, read("ilk_layer", layer));
    ILK_ASSIGN_OR_RETURN(LayerSpec spec, layerOf(given));
    ILK_ASSIGN_OR_RETURN(ilk_operation_options how, readOptional("ilk_operation_options", options));
    ILK_ASSIGN_OR_RETURN(OperationOptions chosen, optionsOf(how));
    ILK_ASSIGN_OR_RETURN(Operation made, create(spec, chosen));
    *operation = new ilk_operation{driver->forLibrary, std::move(made)};
    return {};
  });
}

template <typename Body> ilk_status onOperation(const ilk_operation *operation, Body body) {
  return call([&]() -> Status {
    ILK_RETURN_IF_ERROR(require("an operation", operation));
    return body();
  });
}

} // namespace

Result<LayerSpec> interlock::capi::layerOf(const ilk_layer &given) {
  ILK_ASSIGN_OR_RETURN(int32_t dtype, requireEnum("a dtype", given.dtype, ILK_F8E5M2));
  ILK_ASSIGN_OR_RETURN(int32_t combined, requireEnum("a combine_dtype", given.combine_dtype, ILK_F8E5M2));
  LayerSpec layer;
  layer.ranks = given.ranks;
  layer.experts = given.experts;
  layer.topk = given.topk;
  layer.hidden = given.hidden;
  layer.dtype = dtypes[dtype];
  layer.combineDType = combined ? dtypes[combined] : dtype >= ILK_F8E4M3FN ? DType::bf16 : layer.dtype;
  layer.scaleBytes = given.scale_bytes;
  layer.maxTokens = given.max_tokens;
  layer.capacity = given.capacity;
  layer.expertRows = given.expert_rows != 0;
  layer.ownInPlace = given.own_in_place != 0;
  return layer;
}

Result<OperationOptions> interlock::capi::optionsOf(const ilk_operation_options &given) {
  ILK_ASSIGN_OR_RETURN(int32_t schedule, requireEnum("a schedule", given.schedule, ILK_CLC));
  ILK_ASSIGN_OR_RETURN(int32_t kernels, requireEnum("an origin of kernels", given.kernels, ILK_KERNELS_FROM_SOURCE));
  ILK_ASSIGN_OR_RETURN(int32_t wait, requireEnum("a wait", given.wait, ILK_WAIT_ACQUIRE));
  OperationOptions options;
  options.dispatch = geometryOf(given.dispatch);
  options.combine = geometryOf(given.combine);
  static_assert(int(Schedule::gridStride) == ILK_GRID_STRIDE && int(Schedule::claimed) == ILK_CLAIMED &&
                int(Schedule::clc) == ILK_CLC);
  options.schedule = Schedule(schedule);
  options.kernels = kernels == ILK_KERNELS_FROM_SOURCE ? KernelOrigin::source : KernelOrigin::generated;
  if (given.cluster)
    options.cluster = given.cluster;
  if (wait != ILK_WAIT_CHEAPEST)
    options.wait = wait == ILK_WAIT_ACQUIRE ? WaitStrategy::acquire : WaitStrategy::relaxedFence;
  if (given.timeout_ns)
    options.timeoutNs = given.timeout_ns;
  if (given.packing)
    options.packing = PackingOptions{given.pack_alignment ? given.pack_alignment : 1, given.packed_rows,
                                     given.pack_zero_padding != 0, 0};
  return options;
}

extern "C" {

ilk_status ilk_operation_create(ilk_driver *driver, ilk_cache *cache, const ilk_layer *layer,
                                const ilk_operation_options *options, ilk_operation **operation) {
  return createOperation(driver, cache, layer, options, operation,
                         [&](const LayerSpec &spec, const OperationOptions &how) {
                           return Operation::create(*driver->forLibrary, *cache->kernels, spec, how);
                         });
}

ilk_status ilk_operation_create_in_group(ilk_driver *driver, ilk_cache *cache, const ilk_layer *layer,
                                         const ilk_group *group, const ilk_operation_options *options,
                                         ilk_operation **operation) {
  return createOperation(driver, cache, layer, options, operation,
                         [&](const LayerSpec &spec, const OperationOptions &how) -> Result<Operation> {
                           ILK_ASSIGN_OR_RETURN(ilk_group given, read("ilk_group", group));
                           ILK_ASSIGN_OR_RETURN(ProcessGroup place, groupOf(given));
                           return Operation::create(*driver->forLibrary, *cache->kernels, spec, place, how);
                         });
}

void ilk_operation_destroy(ilk_operation *operation) { delete operation; }

ilk_status ilk_operation_device(const ilk_operation *operation, uint32_t rank, uint32_t *device) {
  return onOperation(operation, [&]() -> Status {
    ILK_RETURN_IF_ERROR(require("a place for the device", device));
    uint32_t ranks = operation->operation.layer().ranks;
    if (rank >= ranks)
      return makeError(Code::badInput, fmt::format("expected a rank below {}, got {}", ranks, rank));
    *device = operation->operation.device(rank);
    return {};
  });
}

ilk_status ilk_operation_dispatch(ilk_operation *operation, uint32_t rank, ilk_stream stream,
                                  const ilk_dispatch_arguments *arguments, ilk_routing **routing) {
  return onOperation(operation, [&]() -> Status {
    ILK_RETURN_IF_ERROR(require("a place for the routing handle", routing));
    ILK_ASSIGN_OR_RETURN(ilk_dispatch_arguments a, read("ilk_dispatch_arguments", arguments));
    ILK_RETURN_IF_ERROR(requireUnused("ilk_dispatch_arguments", a.reserved));
    ILK_ASSIGN_OR_RETURN(
        RoutingHandle handle,
        operation->operation.dispatch(rank, StreamId(stream), {a.x, a.scales, a.ids, a.weights, a.tokens}));
    *routing = new ilk_routing{std::move(handle)};
    return {};
  });
}

ilk_status ilk_operation_combine(ilk_operation *operation, uint32_t rank, ilk_stream stream, ilk_routing *routing,
                                 const ilk_combine_arguments *arguments) {
  return onOperation(operation, [&]() -> Status {
    ILK_RETURN_IF_ERROR(require("a routing handle", routing));
    ILK_ASSIGN_OR_RETURN(ilk_combine_arguments a, read("ilk_combine_arguments", arguments));
    ILK_RETURN_IF_ERROR(requireUnused("ilk_combine_arguments", a.reserved));
    return operation->operation.combine(rank, StreamId(stream), routing->handle,
                                        {a.out, a.out_weights, a.weights, a.tokens});
  });
}

ilk_status ilk_operation_convert_dispatch_output(ilk_operation *operation, uint32_t rank, ilk_stream stream,
                                                 const ilk_routing *routing, ilk_address rows, ilk_address scales) {
  return onOperation(operation, [&]() -> Status {
    ILK_RETURN_IF_ERROR(require("a routing handle", routing));
    return operation->operation.convertDispatchOutput(rank, StreamId(stream), routing->handle, {rows, scales});
  });
}

ilk_status ilk_operation_convert_combine_input(ilk_operation *operation, uint32_t rank, ilk_stream stream,
                                               const ilk_routing *routing, ilk_address rows, uint32_t weighted) {
  return onOperation(operation, [&]() -> Status {
    ILK_RETURN_IF_ERROR(require("a routing handle", routing));
    return operation->operation.convertCombineInput(rank, StreamId(stream), routing->handle, {rows, weighted != 0});
  });
}

ilk_status ilk_operation_packed(const ilk_operation *operation, const ilk_routing *routing, ilk_packed *out) {
  return onOperation(operation, [&]() -> Status {
    ILK_RETURN_IF_ERROR(require("a routing handle", routing));
    ILK_ASSIGN_OR_RETURN(PackedRows p, operation->operation.packed(routing->handle));
    return write("ilk_packed", out, {0, p.counts, p.offsets, p.sources, p.slotMap, p.weights, p.landed, p.capacity});
  });
}

ilk_status ilk_operation_packing_result(const ilk_operation *operation, const ilk_routing *routing, ilk_stream stream,
                                        ilk_packing_result *out) {
  return onOperation(operation, [&]() -> Status {
    ILK_RETURN_IF_ERROR(require("a routing handle", routing));
    ILK_ASSIGN_OR_RETURN(PackingResult r, operation->operation.packingResult(StreamId(stream), routing->handle));
    return write("ilk_packing_result", out, {0, r.overflow, r.received, r.rows, r.wanted, r.dropped, 0});
  });
}

void ilk_routing_destroy(ilk_routing *routing) { delete routing; }

ilk_status ilk_operation_landed(const ilk_operation *operation, const ilk_routing *routing, ilk_landed *out) {
  return onOperation(operation, [&]() -> Status {
    ILK_RETURN_IF_ERROR(require("a routing handle", routing));
    ILK_ASSIGN_OR_RETURN(LandedRows l, operation->operation.landed(routing->handle));
    return write("ilk_landed", out,
                 {0, l.rows, l.meta, l.counts, l.expertOut, operation->operation.layer().rowsPerSource(), l.rowStride,
                  l.metaStride, l.combineRowStride, l.metaWeights, l.metaToken, l.metaScales, l.absent});
  });
}

ilk_status ilk_operation_own_rows(const ilk_operation *operation, uint32_t rank, uint32_t buffer, ilk_address *rows) {
  return onOperation(operation, [&]() -> Status {
    ILK_RETURN_IF_ERROR(require("a place for the address", rows));
    ILK_ASSIGN_OR_RETURN(*rows, operation->operation.ownRows(rank, buffer));
    return {};
  });
}

ilk_status ilk_operation_result(const ilk_operation *operation, uint32_t rank, ilk_stream stream, int32_t kind,
                                ilk_result *out) {
  return onOperation(operation, [&]() -> Status {
    ILK_ASSIGN_OR_RETURN(int32_t which, requireEnum("a kind of kernel", kind, ILK_COMBINE));
    ILK_ASSIGN_OR_RETURN(OperationResult r, operation->operation.result(rank, StreamId(stream),
                                                                        which == ILK_COMBINE ? KernelKind::combine
                                                                                             : KernelKind::dispatch));
    return write("ilk_result", out,
                 {0, r.number, r.lost, r.overflow, r.peerLost, r.badId, r.dropped, r.received, r.wanted});
  });
}

ilk_status ilk_operation_leave_out(ilk_operation *operation, uint32_t rank, ilk_stream stream, uint64_t dead) {
  return onOperation(operation, [&] { return operation->operation.leaveOut(rank, StreamId(stream), dead); });
}

ilk_status ilk_operation_forget_lost(ilk_operation *operation, uint32_t rank, ilk_stream stream) {
  return onOperation(operation, [&] { return operation->operation.forgetLost(rank, StreamId(stream)); });
}
}
