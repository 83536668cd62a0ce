// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// The Driver interface on the emulator. The machine is not thread safe, so one lock stands around it.
#include "interlock/device.hpp"
#include "interlock/spec.hpp"

#include "analysis/Emulator/Machine.h"
#include "runtime/Driver/HandleTable.h"
#include "runtime/Driver/HostWindow.h"
#include "runtime/Driver/ModuleCache.h"
#include "runtime/Driver/Residency.h"

#include <fmt/format.h>

#include <map>
#include <mutex>
#include <vector>

namespace interlock {
namespace {

/// What an emulated device has where the options do not say: an H200's.
constexpr uint32_t defaultResidency = 132;
/// Of windows: what every region of them is aligned to.
constexpr size_t granularity = 256;

Code codeOf(emu::ErrorKind kind) {
  switch (kind) {
  case emu::ErrorKind::badInput:
    return Code::badInput;
  case emu::ErrorKind::unsupported:
    return Code::unsupported;
  case emu::ErrorKind::fault:
  case emu::ErrorKind::deadlock:
    return Code::device;
  }
  return Code::internal;
}

template <typename T> Result<T> convert(emu::Result<T> result) {
  if (!result)
    return tl::unexpected(Error{codeOf(result.error().kind), std::move(result.error().message)});
  if constexpr (std::is_void_v<T>)
    return {};
  else
    return std::move(*result);
}

/// Streams, events and graphs are the machine's own handles under another name.
template <typename To, typename From> To rename(From id) { return static_cast<To>(static_cast<uint64_t>(id)); }

struct LoadedKernel {
  emu::ModuleId module{};
  emu::KernelId kernel{};
};

struct Window {
  uint32_t device = 0;
  std::shared_ptr<const HostWindow> memory;
};

class EmulatorDriver final : public Driver {
public:
  EmulatorDriver(std::unique_ptr<emu::Machine> machine, EmulatorLoads loads, Disassembler disassembler)
      : machine(std::move(machine)), loads(loads), disassembler(std::move(disassembler)) {}

  /// A call of the machine under the lock, with its error converted.
  template <typename Call> auto locked(Call call) const -> decltype(convert(call())) {
    std::lock_guard lock(mutex);
    return convert(call());
  }

  std::string_view kind() const override { return "emulator"; }
  uint32_t deviceCount() const override { return machine->options().devices; }
  Result<DeviceInfo> info(uint32_t device) const override {
    const emu::MachineOptions &options = machine->options();
    if (device >= options.devices)
      return makeError(Code::badInput, fmt::format("expected a device below {}, got {}", options.devices, device));
    return DeviceInfo{"emulated " + options.chip, options.chip, residency(), 0, 0};
  }

  Result<DeviceAddress> allocate(uint32_t device, size_t bytes) override {
    return locked([&] { return machine->allocate(device, bytes); });
  }
  Status release(DeviceAddress address) override {
    return locked([&] { return machine->release(address); });
  }

  Result<size_t> windowGranularity() const override { return granularity; }
  Result<WindowId> createWindow(uint32_t device, size_t bytes, WindowSharing sharing) override {
    ILK_RETURN_IF_ERROR(info(device));
    ILK_RETURN_IF_ERROR(requireWindowSize(bytes));
    ILK_ASSIGN_OR_RETURN(auto memory, sharing == WindowSharing::exported ? HostWindow::createShared(bytes)
                                                                         : HostWindow::create(bytes));
    return windows.add({device, std::move(memory)});
  }
  Result<int> exportWindow(WindowId window) override {
    ILK_ASSIGN_OR_RETURN(Window made, windows.get(window));
    return made.memory->exportDescriptor();
  }
  Result<WindowId> importWindow(int descriptor, size_t bytes) override {
    ILK_RETURN_IF_ERROR(requireWindowSize(bytes));
    ILK_ASSIGN_OR_RETURN(auto memory, HostWindow::import(descriptor, bytes));
    return windows.add({0, std::move(memory)});
  }
  Status destroyWindow(WindowId window) override {
    ILK_RETURN_IF_ERROR(windows.take(window));
    return {};
  }
  Result<DeviceAddress> mapWindows(std::span<const WindowId> ids) override {
    std::vector<emu::HostMemory> pieces;
    std::vector<std::shared_ptr<const HostWindow>> memory;
    for (WindowId id : ids) {
      ILK_ASSIGN_OR_RETURN(Window window, windows.get(id));
      pieces.push_back({window.device, window.memory->bytes(), window.memory->host(), window.memory->shared()});
      memory.push_back(std::move(window.memory));
    }
    std::lock_guard lock(mutex);
    ILK_ASSIGN_OR_RETURN(DeviceAddress address, convert(machine->map(pieces)));
    mapped[address] = std::move(memory);
    return address;
  }
  Status unmapWindows(DeviceAddress address) override {
    std::lock_guard lock(mutex);
    // Whatever a kernel ended with was reported by the call that ran it.
    (void)machine->synchronizeAll();
    ILK_RETURN_IF_ERROR(convert(machine->unmap(address)));
    mapped.erase(address);
    return {};
  }

  Result<StreamId> createStream(uint32_t device) override {
    ILK_ASSIGN_OR_RETURN(emu::StreamId stream, locked([&] { return machine->createStream(device); }));
    return rename<StreamId>(stream);
  }
  Status destroyStream(StreamId stream) override {
    // As on a GPU what is queued still runs; the machine takes only a stream that is empty.
    return locked([&] {
      emu::Result<void> ran = machine->synchronize(rename<emu::StreamId>(stream));
      emu::Result<void> destroyed = machine->destroyStream(rename<emu::StreamId>(stream));
      return ran ? destroyed : ran;
    });
  }
  Status synchronize(StreamId stream) override {
    return locked([&] { return machine->synchronize(rename<emu::StreamId>(stream)); });
  }
  Result<bool> isIdle(StreamId stream) override {
    return locked([&] { return machine->isIdle(rename<emu::StreamId>(stream)); });
  }

  Status copyIn(StreamId stream, DeviceAddress to, const void *from, size_t bytes) override {
    return locked([&] { return machine->copyIn(rename<emu::StreamId>(stream), to, from, bytes); });
  }
  Status copyOut(StreamId stream, void *to, DeviceAddress from, size_t bytes) override {
    return locked([&] { return machine->copyOut(rename<emu::StreamId>(stream), to, from, bytes); });
  }
  Status copy(StreamId stream, DeviceAddress to, DeviceAddress from, size_t bytes) override {
    return locked([&] { return machine->copy(rename<emu::StreamId>(stream), to, from, bytes); });
  }
  Status fill(StreamId stream, DeviceAddress to, uint8_t value, size_t bytes) override {
    return locked([&] { return machine->fill(rename<emu::StreamId>(stream), to, value, bytes); });
  }

  Result<KernelId> load(uint32_t device, const KernelImage &image) override {
    LoadedKernel loaded;
    std::string made;
    std::string_view text = image.text;
    if (loads == EmulatorLoads::binary || text.empty()) {
      ILK_ASSIGN_OR_RETURN(made, disassembled(image));
      text = made;
    }
    ILK_ASSIGN_OR_RETURN(loaded.module, locked([&] { return machine->load(device, text, image.entry); }));
    auto kernel = locked([&] { return machine->kernel(loaded.module, image.entry); });
    if (!kernel) {
      (void)locked([&] { return machine->unload(loaded.module); });
      return tl::unexpected(kernel.error());
    }
    loaded.kernel = *kernel;
    return kernels.add(loaded);
  }
  Status unload(KernelId kernel) override {
    ILK_ASSIGN_OR_RETURN(LoadedKernel loaded, kernels.take(kernel));
    return locked([&] { return machine->unload(loaded.module); });
  }
  Status launch(StreamId stream, KernelId kernel, const LaunchConfig &config,
                std::span<const std::byte> params) override {
    ILK_ASSIGN_OR_RETURN(LoadedKernel loaded, kernels.get(kernel));
    emu::LaunchConfig launch;
    launch.grid.x = config.grid;
    launch.block.x = config.block;
    launch.cluster.x = config.cluster;
    launch.dynamicSharedBytes = config.dynamicSharedBytes;
    launch.programmatic = config.programmatic;
    if (config.cooperative)
      ILK_RETURN_IF_ERROR(requireResident(config.grid, residency()));
    return locked([&] { return machine->launch(rename<emu::StreamId>(stream), loaded.kernel, launch, params); });
  }

  Result<uint32_t> residentCtas(KernelId kernel, const LaunchConfig &config) override {
    ILK_RETURN_IF_ERROR(kernels.get(kernel));
    return residency() / config.cluster * config.cluster;
  }

  Status beginCapture(StreamId stream) override {
    return locked([&] { return machine->beginCapture(rename<emu::StreamId>(stream)); });
  }
  Result<GraphId> endCapture(StreamId stream) override {
    ILK_ASSIGN_OR_RETURN(emu::GraphId graph,
                         locked([&] { return machine->endCapture(rename<emu::StreamId>(stream)); }));
    return rename<GraphId>(graph);
  }
  Status launchGraph(StreamId stream, GraphId graph) override {
    return locked([&] { return machine->launchGraph(rename<emu::StreamId>(stream), rename<emu::GraphId>(graph)); });
  }
  Status destroyGraph(GraphId graph) override {
    return locked([&] { return machine->destroyGraph(rename<emu::GraphId>(graph)); });
  }

  Result<EventId> createEvent() override {
    ILK_ASSIGN_OR_RETURN(emu::EventId event, locked([&] { return machine->createEvent(); }));
    return rename<EventId>(event);
  }
  Status recordEvent(StreamId stream, EventId event) override {
    return locked([&] { return machine->recordEvent(rename<emu::StreamId>(stream), rename<emu::EventId>(event)); });
  }
  Result<double> elapsedNs(EventId from, EventId to) override {
    // As on a GPU the call waits for both; in the machine that means running what is queued.
    ILK_RETURN_IF_ERROR(locked([&] { return machine->synchronizeAll(); }));
    ILK_ASSIGN_OR_RETURN(uint64_t first, locked([&] { return machine->eventTime(rename<emu::EventId>(from)); }));
    ILK_ASSIGN_OR_RETURN(uint64_t second, locked([&] { return machine->eventTime(rename<emu::EventId>(to)); }));
    return double(second) - double(first);
  }
  Status destroyEvent(EventId event) override {
    return locked([&] { return machine->destroyEvent(rename<emu::EventId>(event)); });
  }

private:
  /// A code object as the assembly that the machine reads.
  Result<std::string> disassembled(const KernelImage &image) const {
    if (image.binary.empty())
      return makeError(Code::badInput, fmt::format("expected a text or a binary of kernel {}, got neither that can be "
                                                   "loaded here",
                                                   image.entry));
    if (!disassembler)
      return makeError(Code::badInput,
                       fmt::format("expected a text of kernel {}, got a binary alone: an emulator with a "
                                   "disassembler would do",
                                   image.entry));
    return disassembler(image.binary, machine->options().chip);
  }

  uint32_t residency() const {
    uint32_t bound = machine->options().residency;
    return bound ? bound : defaultResidency;
  }
  static Status requireWindowSize(size_t bytes) {
    if (bytes && bytes % granularity == 0)
      return {};
    return makeError(Code::badInput, fmt::format("expected windows of whole {} bytes, got {}", granularity, bytes));
  }

  mutable std::mutex mutex;
  std::map<DeviceAddress, std::vector<std::shared_ptr<const HostWindow>>> mapped; ///< outlives the machine
  std::unique_ptr<emu::Machine> machine;
  EmulatorLoads loads;
  Disassembler disassembler;
  HandleTable<KernelId, LoadedKernel> kernels{"kernel"};
  HandleTable<WindowId, Window> windows{"window"};
};

} // namespace

Result<std::unique_ptr<Driver>> openEmulator(const EmulatorOptions &options) {
  emu::MachineOptions machineOptions;
  machineOptions.chip = options.target;
  machineOptions.devices = options.devices;
  machineOptions.residency = options.residency;
  machineOptions.seed = options.seed;
  if (options.memory == EmulatorMemory::cached)
    machineOptions.memory = emu::MemoryMode::cached;
  ILK_ASSIGN_OR_RETURN(std::unique_ptr<emu::Machine> machine, convert(emu::Machine::create(machineOptions)));
  if (options.loads == EmulatorLoads::binary) {
    ILK_ASSIGN_OR_RETURN(TargetInfo target, findTarget(options.target));
    if (!target.isAMD() || !options.disassembler)
      return makeError(Code::badInput, fmt::format("expected an AMD chip and a disassembler to load binaries in the "
                                                   "emulator, got {}",
                                                   target.isAMD() ? "no disassembler" : options.target));
  }
  auto driver = std::make_unique<EmulatorDriver>(std::move(machine), options.loads, options.disassembler);
  return std::unique_ptr<Driver>(std::make_unique<ModuleCache>(std::move(driver), options.modules));
}

} // namespace interlock
