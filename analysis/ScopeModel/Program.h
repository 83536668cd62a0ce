// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// What is judged: the control flow of one kernel, the events in it, and the memory that they speak of. The one entry to
// the judgement stands here too.
#pragma once

#include "analysis/ScopeModel/Event.h"
#include "analysis/ScopeModel/Finding.h"

#include <functional>
#include <string>
#include <vector>

namespace interlock::scope {

/// How it is known how far the accessors of an object are apart.
enum class Evidence : uint8_t {
  assumed,  ///< by the kind of memory alone
  seen,     ///< the program itself speaks to it at that distance
  contract, ///< its author says so
};

/// A piece of memory that events refer to. Two objects do not overlap.
struct Object {
  std::string name; ///< for messages: "buf", "param 0"
  Space space = Space::unknown;
  Scope reach = Scope::gpu; ///< global memory: how far the furthest accessor is away
  Evidence evidence = Evidence::assumed;
  bool nic = false;      ///< a device that is not a GPU writes it
  bool readOnly = false; ///< nobody writes it while the kernel runs
  bool pairsAcrossKernels = false;
  bool residentPeers = false; ///< every CTA that signals through it is known to run (a cooperative launch)
  bool computed = false;      ///< behind a pointer that is chosen among several: it may be any of the others
  bool persistent = false;    ///< it outlives the kernel under a name that other kernels of the program use too
};

/// A straight run of events: events[first … first+count) of the program.
struct Block {
  uint32_t first = 0, count = 0;
  std::vector<uint32_t> successors;
  Actor actor;
};

/// The events of one kernel. Every thread starts at block 0; where different threads do different things, blocks say by
/// whom they are executed.
struct Program {
  std::string function;
  bool kernel = true; ///< false: a function whose callers are not known, so neither its start nor its end is the grid's
  uint32_t clusterSize = 0; ///< CTAs of a cluster; 0: not known
  uint32_t threads = 0;     ///< of a CTA; 0: not known
  uint32_t warpWidth = 32;
  bool lockstep = false;       ///< the lanes of a warp have one program counter, so none goes on while another waits
  bool oneSidedFences = false; ///< the target has fence.acquire and fence.release
  /// Every access and every synchronisation of the kernel is in sight, and objects are told apart: what nothing orders
  /// at all is judged too.
  bool complete = false;
  /// Where it is not: what nothing orders at all is judged as far as it is certain whatever is not in sight.
  bool strict = false;
  std::vector<Object> objects;
  std::vector<Event> events;
  std::vector<Block> blocks;
  /// Where the event of that `origin` stands.
  std::function<Place(uint32_t)> place;
};

/// Judges one program by all rules that do not depend on the language. Time and memory are proportional to the size of
/// the program: it looks at a bounded number of different accesses (docs of Flow.h) and leaves out the rest.
[[nodiscard]] std::vector<Finding> judge(const Program &program);

} // namespace interlock::scope
