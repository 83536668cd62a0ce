// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// ilk_driver_*: a driver, and the caller's allocator between it and the library.
#include "runtime/CApi/Handles.h"
#include "runtime/CApi/Status.h"
#include "runtime/CApi/Structs.h"
#include "runtime/Driver/ForwardingDriver.h"

#include <cstring>

using namespace interlock;
using namespace interlock::capi;

namespace {

/// Memory from the caller's callbacks; everything else from the driver below.
class CallerMemory final : public ForwardingDriver {
public:
  CallerMemory(std::shared_ptr<Driver> below, const ilk_allocator &allocator)
      : ForwardingDriver(std::move(below)), allocator(allocator) {}

  Result<DeviceAddress> allocate(uint32_t device, size_t bytes) override {
    ilk_address address = 0;
    ILK_RETURN_IF_ERROR(fromCallback(allocator.allocate(allocator.user, device, bytes, &address), "allocate"));
    if (address && address % 256 == 0)
      return address;
    if (address)
      allocator.release(allocator.user, address);
    return makeError(Code::badInput, fmt::format("expected the callback allocate to give an address at a multiple of "
                                                 "256 bytes, got {:#x}",
                                                 address));
  }
  Status release(DeviceAddress address) override {
    allocator.release(allocator.user, address);
    return {};
  }

private:
  ilk_allocator allocator;
};

Result<std::unique_ptr<Driver>> openDriver(const ilk_driver_options &options) {
  ModuleLimits modules;
  if (options.max_modules)
    modules.count = options.max_modules;
  if (options.max_module_bytes)
    modules.bytes = options.max_module_bytes;
  if (options.kind == ILK_DRIVER_CUDA || options.kind == ILK_DRIVER_ANY) {
    auto cuda = openCuda(modules);
    if (cuda || options.kind == ILK_DRIVER_CUDA)
      return cuda;
  }
  if (options.kind == ILK_DRIVER_HIP || options.kind == ILK_DRIVER_ANY) {
    auto hip = openHip({.modules = modules, .cachedWindows = options.cached_windows != 0});
    if (hip || options.kind == ILK_DRIVER_HIP)
      return hip;
  } else if (options.kind != ILK_DRIVER_CUDA && options.kind != ILK_DRIVER_EMULATOR) {
    return makeError(Code::badInput, fmt::format("expected one of the kinds of drivers, got {}", options.kind));
  }
  EmulatorOptions emulator;
  if (options.target)
    emulator.target = options.target;
  if (options.devices)
    emulator.devices = options.devices;
  emulator.residency = options.residency;
  emulator.seed = options.seed;
  emulator.modules = modules;
  emulator.disassembler = pluginDisassembler();
  return openEmulator(emulator);
}

/// The body of a call on a driver.
template <typename Body> ilk_status onDriver(const ilk_driver *driver, Body body) {
  return call([&]() -> Status {
    ILK_RETURN_IF_ERROR(require("a driver", driver));
    return body(*driver->devices);
  });
}

template <size_t Size> void copyText(char (&to)[Size], const std::string &from) {
  std::memcpy(to, from.data(), std::min(from.size(), Size - 1)); // ends with the zero that was there
}

} // namespace

extern "C" {

ilk_status ilk_driver_open(const ilk_driver_options *given, ilk_driver **driver) {
  return call([&]() -> Status {
    ILK_RETURN_IF_ERROR(require("a place for the driver", driver));
    ILK_ASSIGN_OR_RETURN(ilk_driver_options options, readOptional("ilk_driver_options", given));
    std::optional<ilk_allocator> allocator;
    if (options.allocator) {
      ILK_ASSIGN_OR_RETURN(allocator, read("ilk_allocator", options.allocator));
      if (!allocator->allocate || !allocator->release)
        return makeError(Code::badInput, "expected an allocator with both callbacks, got one without");
    }
    ILK_ASSIGN_OR_RETURN(std::shared_ptr<Driver> opened, openDriver(options));
    std::shared_ptr<Driver> forLibrary = allocator ? std::make_shared<CallerMemory>(opened, *allocator) : opened;
    *driver = new ilk_driver{opened, forLibrary};
    return {};
  });
}

void ilk_driver_close(ilk_driver *driver) { delete driver; }

ilk_status ilk_driver_device_count(const ilk_driver *driver, uint32_t *count) {
  return onDriver(driver, [&](Driver &on) -> Status {
    ILK_RETURN_IF_ERROR(require("a place for the count", count));
    *count = on.deviceCount();
    return {};
  });
}

ilk_status ilk_driver_device_info(const ilk_driver *driver, uint32_t device, ilk_device_info *out) {
  return onDriver(driver, [&](Driver &on) -> Status {
    ILK_ASSIGN_OR_RETURN(DeviceInfo info, on.info(device));
    ilk_device_info value{};
    copyText(value.name, info.name);
    copyText(value.target, info.target);
    value.multiprocessors = info.multiprocessors;
    value.max_ptx_isa = info.maxPtxIsa;
    value.driver_version = info.driverVersion;
    return write("ilk_device_info", out, value);
  });
}

ilk_status ilk_driver_allocate(ilk_driver *driver, uint32_t device, size_t bytes, ilk_address *address) {
  return onDriver(driver, [&](Driver &on) -> Status {
    ILK_RETURN_IF_ERROR(require("a place for the address", address));
    ILK_ASSIGN_OR_RETURN(*address, on.allocate(device, bytes));
    return {};
  });
}

ilk_status ilk_driver_release(ilk_driver *driver, ilk_address address) {
  return onDriver(driver, [&](Driver &on) { return on.release(address); });
}

ilk_status ilk_driver_stream_create(ilk_driver *driver, uint32_t device, ilk_stream *stream) {
  return onDriver(driver, [&](Driver &on) -> Status {
    ILK_RETURN_IF_ERROR(require("a place for the stream", stream));
    ILK_ASSIGN_OR_RETURN(StreamId made, on.createStream(device));
    *stream = ilk_stream(made);
    return {};
  });
}

ilk_status ilk_driver_stream_destroy(ilk_driver *driver, ilk_stream stream) {
  return onDriver(driver, [&](Driver &on) { return on.destroyStream(StreamId(stream)); });
}

ilk_status ilk_driver_synchronize(ilk_driver *driver, ilk_stream stream) {
  return onDriver(driver, [&](Driver &on) { return on.synchronize(StreamId(stream)); });
}

ilk_status ilk_driver_copy_in(ilk_driver *driver, ilk_stream stream, ilk_address to, const void *from, size_t bytes) {
  return onDriver(driver, [&](Driver &on) -> Status {
    if (bytes)
      ILK_RETURN_IF_ERROR(require("host memory to copy from", from));
    return on.copyIn(StreamId(stream), to, from, bytes);
  });
}

ilk_status ilk_driver_copy_out(ilk_driver *driver, ilk_stream stream, void *to, ilk_address from, size_t bytes) {
  return onDriver(driver, [&](Driver &on) -> Status {
    if (bytes)
      ILK_RETURN_IF_ERROR(require("host memory to copy to", to));
    return on.copyOut(StreamId(stream), to, from, bytes);
  });
}

ilk_status ilk_driver_copy(ilk_driver *driver, ilk_stream stream, ilk_address to, ilk_address from, size_t bytes) {
  return onDriver(driver, [&](Driver &on) { return on.copy(StreamId(stream), to, from, bytes); });
}

ilk_status ilk_driver_fill(ilk_driver *driver, ilk_stream stream, ilk_address to, uint8_t value, size_t bytes) {
  return onDriver(driver, [&](Driver &on) { return on.fill(StreamId(stream), to, value, bytes); });
}

ilk_status ilk_driver_begin_capture(ilk_driver *driver, ilk_stream stream) {
  return onDriver(driver, [&](Driver &on) { return on.beginCapture(StreamId(stream)); });
}

ilk_status ilk_driver_end_capture(ilk_driver *driver, ilk_stream stream, ilk_graph *graph) {
  return onDriver(driver, [&](Driver &on) -> Status {
    ILK_RETURN_IF_ERROR(require("a place for the graph", graph));
    ILK_ASSIGN_OR_RETURN(GraphId made, on.endCapture(StreamId(stream)));
    *graph = ilk_graph(made);
    return {};
  });
}

ilk_status ilk_driver_launch_graph(ilk_driver *driver, ilk_stream stream, ilk_graph graph) {
  return onDriver(driver, [&](Driver &on) { return on.launchGraph(StreamId(stream), GraphId(graph)); });
}

ilk_status ilk_driver_destroy_graph(ilk_driver *driver, ilk_graph graph) {
  return onDriver(driver, [&](Driver &on) { return on.destroyGraph(GraphId(graph)); });
}
}
