// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// The emulator: devices that run PTX or AMDGCN text on the CPU. One Machine is a set of devices of one chip with one
// address space, streams of work, and a seeded scheduler that interleaves warps, CTAs, devices and asynchronous copies.
// What PTX calls warps, CTAs and shared memory are waves, workgroups and LDS on an AMD chip.
#pragma once

#include "analysis/Emulator/Observer.h"

#include <tl/expected.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace interlock::emu {

enum class ErrorKind : uint8_t {
  badInput,    ///< a call that cannot be: unknown handle, launch that does not fit, text that does not parse
  unsupported, ///< the chip lacks what the text asks for, or the emulator does not know an instruction
  fault,       ///< a kernel did something forbidden: a bad address, a misaligned access, trap, a misused barrier
  deadlock,    ///< nothing can make progress; the message says what waits for what
};

/// A failure in one lower-case sentence; a deadlock's message has a line more for each thing that waits.
struct Error {
  ErrorKind kind = ErrorKind::badInput;
  std::string message;
};
template <typename T> using Result = tl::expected<T, Error>;

/// How accesses reach memory. `cached` is for AMD chips: caches that nothing keeps coherent but what the text does
/// about them, as the chip's memory model allows it (AMDGCN/MemoryModel.h).
enum class MemoryMode : uint8_t { sequential, cached };

struct MachineOptions {
  /// sm_70 to sm_121a, or gfx90a, gfx942, gfx950, gfx1100, gfx1201, gfx1250; decides which text is read, what of it is
  /// refused, and the shared memory limit.
  std::string chip = "sm_90a";
  uint32_t devices = 1;     ///< 1 to 64
  uint32_t residency = 0;   ///< CTAs that a device runs side by side; 0: 132
  uint64_t seed = 0;        ///< the same seed, calls and text give the same interleaving
  uint32_t warpWidth = 32;  ///< lanes; PTX has 32. Not looked at for AMD chips, whose kernels say
  uint32_t sharedLimit = 0; ///< shared memory bytes per CTA, static and dynamic; 0: the chip's
  MemoryMode memory = MemoryMode::sequential;
};

enum class ModuleId : uint64_t {};
enum class KernelId : uint64_t {};
enum class StreamId : uint64_t {};
enum class EventId : uint64_t {};
enum class GraphId : uint64_t {};

struct Dim3 {
  uint32_t x = 1, y = 1, z = 1;
};

struct LaunchConfig {
  Dim3 grid, block;
  Dim3 cluster; ///< must divide the grid; 1,1,1 takes the kernel's .reqnctapercluster, if it has one
  uint32_t dynamicSharedBytes = 0;
  bool programmatic = false; ///< may start before its predecessor on the stream ends: griddepcontrol
};

/// A piece of host memory that is to be device memory.
struct HostMemory {
  uint32_t device = 0;
  uint64_t bytes = 0;
  uint8_t *host = nullptr; ///< at a multiple of 64 bytes
  bool shared = false;     ///< other processes may write to it at any time
};

struct KernelInfo {
  std::string name;
  uint64_t paramBytes = 0;
  uint64_t staticSharedBytes = 0;
  uint64_t localBytes = 0; ///< per thread, of the kernel's own frame
  uint32_t registers = 0;  ///< PTX registers, not those of an assembler; VGPRs of the descriptor
  uint32_t warpWidth = 32; ///< lanes of its warps
};

/// What a machine has done since it was made.
struct Statistics {
  uint64_t warpInstructions = 0;
  uint64_t launches = 0;
  uint64_t asyncOperations = 0;
};

/// Not thread safe: callers lock. Work is only done inside synchronize() and synchronizeAll(), which run every stream
/// of every device, not only the one they wait for.
///
/// When a run ends in an error, everything that was running or queued on any stream is discarded, the error is
/// returned by the call that was running it, and the machine can be used on: memory keeps what was written so far.
///
/// Addresses: device memory has addresses that are the same for all devices. Shared memory has a generic window too,
/// in which each CTA of a cluster has its part (`mapa`); observers see shared memory at addresses that are distinct
/// for each CTA.
class Machine {
public:
  static Result<std::unique_ptr<Machine>> create(const MachineOptions &options);
  ~Machine();
  Machine(const Machine &) = delete;
  Machine &operator=(const Machine &) = delete;

  const MachineOptions &options() const;

  /// Device memory, `align` a power of two. Fresh memory has a fixed non-zero pattern, so that reading what nobody
  /// wrote shows. Accesses outside an allocation are errors that name the nearest one.
  Result<uint64_t> allocate(uint32_t device, uint64_t bytes, uint64_t align = 256);
  Result<void> release(uint64_t address);
  /// Host memory as device memory: piece after piece from the address that is returned. It must outlive the mapping.
  /// While a shared piece is mapped, time in which nothing happens goes by as on the wall, since what is waited for
  /// may come from outside; strong accesses are atomic for other processes too.
  Result<uint64_t> map(std::span<const HostMemory> pieces);
  Result<void> unmap(uint64_t address);
  /// Immediate, whatever is enqueued.
  Result<void> read(void *to, uint64_t from, size_t bytes) const;
  Result<void> write(uint64_t to, const void *from, size_t bytes);

  /// Reads PTX, or AMDGCN assembly for an AMD chip, checks it against the chip and decodes. The module's .global
  /// variables are allocated on that device. An instruction that the emulator does not know is no error until a thread
  /// reaches it.
  Result<ModuleId> load(uint32_t device, std::string_view text, std::string_view name = "<text>");
  /// Fails while one of its kernels is queued or runs, or is in a graph.
  Result<void> unload(ModuleId module);
  Result<KernelId> kernel(ModuleId module, std::string_view entry) const;
  Result<KernelInfo> info(KernelId kernel) const;
  /// Address of a .global or .const variable.
  Result<uint64_t> symbol(ModuleId module, std::string_view name) const;

  Result<StreamId> createStream(uint32_t device);
  /// Fails while work is queued on it.
  Result<void> destroyStream(StreamId stream);

  /// Enqueue. Host memory must live until the work has run. `params` is laid out as a C struct of the kernel's
  /// parameters; it is copied, may be longer than needed, and must not be shorter. A launch that cannot be (too many
  /// threads, too much shared memory, a cluster that does not divide the grid) is refused here.
  Result<void> launch(StreamId stream, KernelId kernel, const LaunchConfig &config, std::span<const std::byte> params);
  Result<void> copyIn(StreamId stream, uint64_t to, const void *from, size_t bytes);
  Result<void> copyOut(StreamId stream, void *to, uint64_t from, size_t bytes);
  Result<void> copy(StreamId stream, uint64_t to, uint64_t from, size_t bytes);
  Result<void> fill(StreamId stream, uint64_t to, uint8_t value, size_t bytes);
  /// Runs on the thread that synchronises; must not call back into the machine.
  Result<void> callback(StreamId stream, std::function<void()> function);

  Result<EventId> createEvent();
  Result<void> destroyEvent(EventId event);
  Result<void> recordEvent(StreamId stream, EventId event);
  /// The stream goes on when the event's latest record has run; an event that was never recorded holds nobody.
  Result<void> waitEvent(StreamId stream, EventId event);
  /// Virtual time at which the event's latest record ran, in nanoseconds.
  Result<uint64_t> eventTime(EventId event) const;

  /// Between the two calls work enqueued on the stream becomes a graph instead. A graph runs in the order of capture.
  Result<void> beginCapture(StreamId stream);
  Result<GraphId> endCapture(StreamId stream);
  Result<void> launchGraph(StreamId stream, GraphId graph);
  Result<void> destroyGraph(GraphId graph);

  /// Whether nothing is queued on the stream and nothing of it runs. Runs nothing.
  Result<bool> isIdle(StreamId stream) const;
  /// Runs until the stream, or every stream, is empty.
  Result<void> synchronize(StreamId stream);
  Result<void> synchronizeAll();

  /// Virtual nanoseconds since the machine was made: what %globaltimer shows.
  uint64_t now() const;
  Statistics statistics() const;
  /// Null for none. Borrowed. Sees what PTX does; waves of AMD chips are not observed.
  void setObserver(MemoryObserver *observer);

private:
  Machine();
  struct Impl;
  std::unique_ptr<Impl> impl;
};

} // namespace interlock::emu
