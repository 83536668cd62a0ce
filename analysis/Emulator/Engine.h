// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// The inside of a Machine: streams, grids, the scheduler, asynchronous operations and virtual time.
#pragma once

#include "analysis/Emulator/AMDGCN/MemoryModel.h"
#include "analysis/Emulator/Machine.h"
#include "analysis/Emulator/State.h"

#include <functional>
#include <map>
#include <optional>
#include <unordered_map>
#include <variant>

namespace interlock::emu {

/// A small generator with a fixed sequence on every platform (SplitMix64).
struct Random {
  uint64_t state = 0;
  uint64_t next() {
    uint64_t z = state += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
  }
  uint32_t below(uint32_t n) { return uint32_t((next() >> 32) * n >> 32); }
};

/// Work on a stream.
struct LaunchWork {
  Program *program;
  const DecodedFunction *entry; ///< null on an AMD chip
  LaunchConfig config;
  std::vector<uint8_t> params;
  const gcn::Kernel *kernel = nullptr; ///< an AMD chip's
};
struct CopyWork {
  uint64_t to, from;
  void *hostTo;
  const void *hostFrom;
  size_t bytes;
};
struct FillWork {
  uint64_t to;
  uint8_t value;
  size_t bytes;
};
struct EventWork {
  uint64_t event;
  bool wait;
  uint64_t generation; ///< wait: the record that it waits for
};
using CallbackWork = std::function<void()>;
using Work = std::variant<LaunchWork, CopyWork, FillWork, EventWork, CallbackWork>;

struct Stream {
  uint32_t device = 0;
  std::deque<Work> queue;
  std::vector<Grid *> running; ///< grids of this stream, oldest first
  bool capturing = false;
  std::deque<Work> captured;
  bool idle() const { return queue.empty() && running.empty(); }
};

struct Event {
  uint64_t recordsQueued = 0, recordsRun = 0;
  uint64_t time = 0;
};

struct Device {
  std::deque<std::unique_ptr<Grid>> grids; ///< in the order in which they started
  std::vector<bool> slots;                 ///< residency: taken or not
  uint32_t free = 0;
};

/// Everything a Machine does; see Machine.h for contracts.
class Engine {
public:
  MachineOptions options;
  Chip chip;
  AddressSpace memory;
  MemoryObserver *observer = nullptr;
  Statistics statistics;
  Random random;
  std::unique_ptr<gcn::MemorySystem> caches; ///< of MemoryMode::cached, else null

  std::map<uint64_t, std::unique_ptr<Program>> programs;
  std::map<uint64_t, Stream> streams;
  std::map<uint64_t, Event> events;
  std::map<uint64_t, std::deque<Work>> graphs;
  std::deque<Device> devices;
  uint64_t nextHandle = 1;

  explicit Engine(const MachineOptions &options, Chip chip);

  // Running (Scheduler.cpp)
  Result<void> run(const std::function<bool()> &finished);
  /// Sets the run's error; the first one counts.
  void fail(ErrorKind kind, std::string message);
  bool failed() const { return error.has_value(); }
  uint64_t now() const { return timeNs; }
  /// Something changed that a waiting thread could be waiting for.
  void progress() { ++progressCount; }
  /// How often something has.
  uint64_t progressMade() const { return progressCount; }

  // Ready list
  void setReady(Warp &warp);
  void setUnready(Warp &warp);
  /// Lets every group of the warp that waits for this look again.
  void wake(Warp &warp, WaitKind kind);
  void wake(Cta &cta, WaitKind kind);
  /// A group does not run on: until its time has come, if it waits for one.
  void blocked(Warp &warp, const Group &group);

  // Grids and CTAs (Launch.cpp)
  Result<void> checkLaunch(const LaunchWork &work) const;
  void startGrid(Stream &stream, LaunchWork work);
  void startClusters();
  void startCluster(Device &device, Grid &grid);
  /// Cancels a cluster of the grid that has not started, and returns it; none if all have (ExecLaunchControl.cpp).
  std::optional<uint32_t> cancelCluster(Grid &grid);
  /// The 16 bytes that a try_cancel of that grid answers with.
  std::vector<uint8_t> answerToCancel(Grid &grid);
  void lanesExited(Warp &warp, LaneMask lanes);
  void finishCta(Cta &cta);
  /// A CTA has launched its dependents: a grid that may start early perhaps can.
  void dependentsReleased() { pumpNeeded = true, progress(); }
  Frame *makeFrame(Warp &warp, const DecodedFunction *fn, Frame *parent, LaneMask lanes);

  // Barriers (ExecBarrier.cpp)
  void checkBarrier(Cta &cta, uint32_t number);
  void checkClusterBarrier(Cluster &cluster);
  void checkWarpBarriers(Warp &warp);

  // Asynchronous operations (Async.cpp)
  void enqueue(AsyncOp op);
  void stepAsync(size_t index);
  /// complete_tx, expect_tx and arrivals on an mbarrier in host memory; the message of a fault, or an empty string.
  std::string mbarrierTransaction(Cta &owner, uint8_t *host, int64_t expect);
  std::string mbarrierArrive(Cta &owner, uint8_t *host);
  std::string mbarrierIncrement(uint8_t *host);
  bool resolveAsync(const AsyncOp &op, AddressKind kind, uint64_t address, uint32_t bytes, Place &out);
  bool writeAsync(AsyncOp &op, uint64_t to, uint64_t mbarrier);
  void observeAsync(const AsyncOp &op, const Place &place, AccessKind kind, uint32_t bytes);

  // Deadlock report (Report.cpp)
  std::string report(const std::string &headline) const;

  std::vector<AsyncOp> pending;
  uint64_t nextAsync = 1;
  void dropCaches();
  Actor actor(const Warp &warp, unsigned lane) const;

private:
  void pump();
  bool pumpStream(Stream &stream);
  bool runWork(Stream &stream, Work &work);
  void runWarp(Warp &warp, uint32_t quantum);
  bool chooseGroup(Warp &warp);
  void mergeCurrent(Warp &warp);
  bool leap();
  void wakeSleepers();
  void discard();

  std::vector<Warp *> ready;
  std::vector<Warp *> sleeping;
  uint64_t timeNs = 0, timeFraction = 0;
  uint64_t progressCount = 0;
  uint64_t launches = 0, ctas = 0;
  bool pumpNeeded = false, worked = false;
  uint32_t ran = 0; ///< instructions of the last quantum
  uint64_t nextWake = ~uint64_t(0);
  uint64_t leapStep = 0, idleNs = 0;
  std::optional<Error> error;

  friend struct Exec;
};

} // namespace interlock::emu
