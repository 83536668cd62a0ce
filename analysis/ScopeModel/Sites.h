// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// What the dataflow keeps facts about: the different accesses and waits of a program, each a bit of a bit set. Accesses
// that no rule can tell apart share a site, and their number is bounded, so that the cost stays linear.
#pragma once

#include "analysis/ScopeModel/Program.h"

#include <array>

namespace interlock::scope {

using Site = uint32_t;

/// Sites that stand for the state of the thread rather than for an event of it.
enum StateSite : Site {
  windowSite,    ///< between the own barrier.cluster.arrive and its wait
  startSite,     ///< no cluster barrier since the start of the kernel
  remoteSite,    ///< a peer's shared memory was accessed and nothing has told the peer since
  publishedSite, ///< something was sent to a peer that answers on a barrier
  drainedSite,   ///< the answer to the last of these was waited for
  stateSites,
};

struct SiteInfo {
  uint32_t event = 0;             ///< the first one
  uint32_t block = 0;             ///< of that one
  const Access *access = nullptr; ///< of that one: what is touched; null for barriers of the CTA and the cluster
  bool isWait = false;
  bool reads = false, writes = false;
  bool isInit = false; ///< mbarrier.init
  bool isData = false; ///< a plain access, that must be ordered by something else
  bool isMap = false;  ///< a write that a tensor map may be made of
};

/// The sites of one program.
struct Sites {
  static constexpr Site none = ~0u;
  static constexpr size_t limit = 448; ///< accesses and waits beyond that are left out

  std::vector<SiteInfo> list;              ///< [0, stateSites) are the state sites
  std::vector<std::array<Site, 3>> of;     ///< by event: read, written, waited for
  std::vector<std::vector<Site>> byObject; ///< accesses by object
  size_t words = 0;                        ///< 64-bit words of a set

  explicit Sites(const Program &program);

private:
  bool collect(const Program &program, const std::vector<bool> &matters, bool fine);
};

/// True for an event that other threads can wait on by `event.dst`, `event.barrier` or a barrier of the CTA or cluster.
bool mayRelease(const Event &event);
/// True for an event after which the thread knows that another one has come to some point.
bool mayAcquire(const Event &event);
/// The place by which waits and releases are matched; null for barriers of the CTA and the cluster.
const Access *signalOf(const Event &event);

} // namespace interlock::scope
