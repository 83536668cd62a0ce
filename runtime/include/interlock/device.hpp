// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// A driver: the CUDA driver, the HIP runtime or the emulator behind one interface. Devices of one driver share an
// address space (peer access on CUDA, one memory in the emulator), so a window may be read and written from any of
// them.
#pragma once

#include "interlock/status.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace interlock INTERLOCK_API {

using DeviceAddress = uint64_t;

struct DeviceInfo {
  std::string name;         ///< "NVIDIA H200", "emulated sm_90a"
  std::string target;       ///< the chip to generate for: sm_90a, gfx942
  uint32_t multiprocessors; ///< CTAs that can run side by side at one per multiprocessor
  uint32_t maxPtxIsa;       ///< 10*major+minor that the driver can assemble, 0 if it knows no limit
  uint32_t driverVersion;   ///< as the driver states it, 0 for the emulator
};

/// What is loaded: the text always, a binary if there is one.
struct KernelImage {
  std::string text;   ///< PTX, or AMDGCN assembly; empty only for an emulator that has a disassembler, and for HIP
  std::string binary; ///< cubin, or empty: the driver assembles the text; hsaco, which HIP needs
  std::string entry;  ///< name of the kernel
};

struct LaunchConfig {
  uint32_t grid = 1;    ///< CTAs; a multiple of `cluster`
  uint32_t block = 1;   ///< threads
  uint32_t cluster = 1; ///< CTAs per cluster
  uint32_t dynamicSharedBytes = 0;
  bool cooperative = false;   ///< all CTAs resident at once; a grid that cannot be is refused before it is launched
  bool checkResidency = true; ///< false leaves it to CUDA to refuse such a grid (error 720); the emulator always does
  bool programmatic = false;  ///< may start before its predecessor on the stream ends: the kernel waits for it itself
};

/// Handles are valid for the driver that made them, until they are destroyed or the driver is.
enum class StreamId : uint64_t {};
enum class KernelId : uint64_t {};
enum class GraphId : uint64_t {};
enum class EventId : uint64_t {};
enum class WindowId : uint64_t {};

/// Who may map a window: this process alone, or others too, which are handed a file descriptor.
enum class WindowSharing : uint8_t { process, exported };

/// Every call may come from any thread. Work on one stream runs in order; `synchronize` returns the first error of
/// anything that ran (a deadlock in the emulator is such an error and its message says what waits for what).
class Driver {
public:
  virtual ~Driver() = default;
  virtual std::string_view kind() const = 0; ///< "cuda", "hip" or "emulator"
  virtual uint32_t deviceCount() const = 0;
  virtual Result<DeviceInfo> info(uint32_t device) const = 0;

  /// Device memory, 256-byte aligned, uninitialised, visible to every device of this driver.
  virtual Result<DeviceAddress> allocate(uint32_t device, size_t bytes) = 0;
  virtual Status release(DeviceAddress address) = 0;

  /// Windows: memory of one device that has no address until it is mapped, side by side with windows of other devices
  /// and of other processes. Sizes are multiples of the granularity, a power of two.
  virtual Result<size_t> windowGranularity() const = 0;
  virtual Result<WindowId> createWindow(uint32_t device, size_t bytes, WindowSharing sharing) = 0;
  /// A file descriptor that stands for an exported window in any process; the caller closes it.
  virtual Result<int> exportWindow(WindowId window) = 0;
  /// A window of another process; the descriptor stays the caller's. The memory lives while any process maps it.
  virtual Result<WindowId> importWindow(int descriptor, size_t bytes) = 0;
  /// What is mapped stays mapped.
  virtual Status destroyWindow(WindowId window) = 0;
  /// Maps windows in this order, without gaps, for all devices; the address of the first one. What a call or an
  /// instruction accesses at once must lie in one window.
  virtual Result<DeviceAddress> mapWindows(std::span<const WindowId> windows) = 0;
  /// Waits for what is running on any device, then takes the whole mapping away. That wait ends captures that are under
  /// way on those devices, whoever began them (as cuCtxSynchronize and hipDeviceSynchronize do).
  virtual Status unmapWindows(DeviceAddress address) = 0;

  virtual Result<StreamId> createStream(uint32_t device) = 0;
  /// One whose CTAs are placed before those of other streams that have not been placed yet, where a device can do that.
  virtual Result<StreamId> createUrgentStream(uint32_t device) { return createStream(device); }
  /// Waits for what is enqueued.
  virtual Status destroyStream(StreamId stream) = 0;
  virtual Status synchronize(StreamId stream) = 0;
  /// Whether everything that was enqueued has run; waits for nothing. Not for a stream that captures.
  virtual Result<bool> isIdle(StreamId stream) = 0;

  /// Asynchronous on the stream; host memory must live until it is synchronised.
  virtual Status copyIn(StreamId stream, DeviceAddress to, const void *from, size_t bytes) = 0;
  virtual Status copyOut(StreamId stream, void *to, DeviceAddress from, size_t bytes) = 0;
  virtual Status copy(StreamId stream, DeviceAddress to, DeviceAddress from, size_t bytes) = 0;
  virtual Status fill(StreamId stream, DeviceAddress to, uint8_t value, size_t bytes) = 0;

  virtual Result<KernelId> load(uint32_t device, const KernelImage &image) = 0;
  /// Launches that are enqueued, and graphs that were captured, keep what they need of it.
  virtual Status unload(KernelId kernel) = 0;
  /// `params` is the kernel's parameter buffer, laid out as a C struct; it is copied.
  virtual Status launch(StreamId stream, KernelId kernel, const LaunchConfig &config,
                        std::span<const std::byte> params) = 0;
  /// CTAs of a launch of this shape that the kernel's device can hold at once when nothing else runs there; the grid
  /// does not matter.
  virtual Result<uint32_t> residentCtas(KernelId kernel, const LaunchConfig &config);

  /// Everything enqueued on the stream between the two calls becomes a graph instead of running.
  virtual Status beginCapture(StreamId stream) = 0;
  virtual Result<GraphId> endCapture(StreamId stream) = 0;
  virtual Status launchGraph(StreamId stream, GraphId graph) = 0;
  virtual Status destroyGraph(GraphId graph) = 0;

  /// Time between two events in nanoseconds of device time (of emulated time in the emulator).
  virtual Result<EventId> createEvent() = 0;
  virtual Status recordEvent(StreamId stream, EventId event) = 0;
  virtual Result<double> elapsedNs(EventId from, EventId to) = 0;
  virtual Status destroyEvent(EventId event) = 0;
};

/// Bounds of the modules that a driver keeps loaded. Those that are held, that run, or that a graph needs are never
/// unloaded, so they may exceed them; of the others the least recently used go first.
struct ModuleLimits {
  uint64_t count = 256;
  uint64_t bytes = uint64_t(256) << 20; ///< of their texts and binaries
};

/// The CUDA driver, found with dlopen. Fails in one sentence where there is no driver or no GPU.
Result<std::unique_ptr<Driver>> openCuda(const ModuleLimits &modules = {});

struct HipOptions {
  ModuleLimits modules = {};
  /// Windows in memory that caches keep, and not in memory that none does. Faster for their owner, but what a peer
  /// writes while a kernel runs may go unseen: only for ranks that share one GPU.
  bool cachedWindows = false;
};
/// The HIP runtime, found with dlopen. Fails in one sentence where there is none, no GPU, or a GPU that no target fits.
Result<std::unique_ptr<Driver>> openHip(const HipOptions &options = {});

/// How accesses reach memory in an emulated AMD chip: one after the other, or through caches that nothing keeps
/// coherent but what the kernel does about them, as the chip's memory model allows it.
enum class EmulatorMemory : uint8_t { sequential, cached };

/// What of a kernel an emulated device loads: the text, as ever, or a code object as a GPU would.
enum class EmulatorLoads : uint8_t { text, binary };

/// Turns a code object for an AMD chip ("gfx942") into assembly, which is what the emulator reads.
using Disassembler = std::function<Result<std::string>(std::string_view object, std::string_view chip)>;
/// The compiler plugin's, which is opened when it is first needed; `path` is of libinterlock_compiler.so, and empty for
/// the one beside this library.
Disassembler pluginDisassembler(const std::string &path = {});

struct EmulatorOptions {
  std::string target = "sm_90a"; ///< the chip to be
  uint32_t devices = 1;
  uint32_t residency = 0;                             ///< CTAs that one device runs side by side; 0: 132 as on an H200
  uint64_t seed = 0;                                  ///< of the scheduler that interleaves warps, CTAs and devices
  EmulatorMemory memory = EmulatorMemory::sequential; ///< of AMD chips
  ModuleLimits modules = {};
  EmulatorLoads loads = EmulatorLoads::text; ///< binary: of AMD chips; kernels without a text come as binary anyway
  Disassembler disassembler = {};            ///< what binaries take
};
Result<std::unique_ptr<Driver>> openEmulator(const EmulatorOptions &options);

} // namespace interlock INTERLOCK_API
