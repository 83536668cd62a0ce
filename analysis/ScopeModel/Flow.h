// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// The dataflow: at each event, what has happened on some path to it and what has not been done about it since. All
// facts are of the form "there is a path on which …", so where paths meet the weakest state wins.
#pragma once

#include "analysis/ScopeModel/Signals.h"
#include "analysis/ScopeModel/Sites.h"

#include <unordered_map>

namespace interlock::scope {

/// Sets of sites. `open` and those that end in cta … sys come four in a row, by scope.
enum Set : uint8_t {
  reach, ///< the access or the wait has happened
  /// An access with no release fence of that scope behind it; a wait whose acquire, its own or by a fence behind it, is
  /// narrower than that scope.
  open,
  openSc = open + 4,   ///< as open, if only fence.sc counted
  fenced = openSc + 4, ///< some fence of that scope stands behind it on some path
  joined = fenced + 4, ///< another thread's access, known to be over; no release fence of this thread behind that
  late = joined + 4,   ///< another thread's wait; that thread had not acquired when a barrier of the CTA joined it
  heard = late + 4,    ///< another thread's access, known to be over
  unrestricted,        ///< as open at cluster scope, if a restricted fence counted for all memory
  unjoined,            ///< no barrier of the CTA since
  unlaned,             ///< the lanes of the warp have not met since
  unproxied,           ///< no async proxy fence since
  stuck,               ///< … nor before a barrier of the CTA: a fence behind that is another thread's
  heardUnproxied,      ///< another thread's access, known to be over; no async proxy fence of that thread behind it
  pending,             ///< an asynchronous operation that nothing has waited for
  pendingRead,         ///< … whose source may still be read
  windowed,            ///< made between the last barrier.cluster.arrive and its wait
  unpublished,         ///< mbarrier.init that no cluster barrier has published
  armed,               ///< will be published by the next barrier.cluster.wait
  unmapped,            ///< a write of a tensor map without a release fence of the tensormap proxy
  unacquiredMap,       ///< … without an acquire fence behind that
  avoided,             ///< there is a path here without it
  setCount,
};

inline size_t level(Scope scope) { return size_t(scope) - 1; } ///< of cta … sys

/// The facts at one point.
struct State {
  std::vector<uint64_t> bits; ///< setCount sets of Sites::words words
  size_t words = 0;

  State() = default;
  explicit State(size_t words) : bits(words * setCount), words(words) {}
  uint64_t *operator[](size_t set) { return bits.data() + set * words; }
  const uint64_t *operator[](size_t set) const { return bits.data() + set * words; }
  bool has(size_t set, Site s) const { return (*this)[set][s / 64] >> (s % 64) & 1; }
  void put(size_t set, Site s) { (*this)[set][s / 64] |= uint64_t(1) << (s % 64); }
  void drop(size_t set, const std::vector<uint64_t> &sites) {
    for (size_t w = 0; w < words; ++w)
      (*this)[set][w] &= ~sites[w];
  }
  void drop(size_t set, Site s) { (*this)[set][s / 64] &= ~(uint64_t(1) << (s % 64)); }
  /// True if that changed anything.
  bool merge(const State &other);
};

class Flow {
public:
  Flow(const Program &program, const Sites &sites);

  /// Releases and waits that may meet have the same group. ~0u: none.
  uint32_t group(uint32_t event) const { return signals.groupOf[event]; }
  /// False if the program was too twisted to follow all paths.
  bool isComplete() const { return complete; }
  /// Reachable blocks in reverse postorder.
  const std::vector<uint32_t> &blocks() const { return order; }
  uint32_t groups() const { return uint32_t(heardAt.size()); }
  /// The waits of this event's group tell that the access of another thread is over: some release of it comes behind
  /// it.
  bool tells(uint32_t event, Site access) const {
    uint32_t g = group(event);
    return g != ~0u && heardAt[g].over[access / 64] >> (access % 64) & 1;
  }

  /// Calls `visit(block, event, state)` for each event that can be reached, with the state before it.
  template <class Visit> void walk(Visit visit) const {
    for (uint32_t b : order) {
      const Block &block = program.blocks[b];
      if (block.count == 0)
        continue;
      State state = in[b];
      for (uint32_t i = block.first; i < block.first + block.count; ++i) {
        visit(b, i, static_cast<const State &>(state));
        apply(state, b, i);
      }
    }
  }

private:
  void solve();
  bool exchange();
  void apply(State &state, uint32_t block, uint32_t event) const;
  void applyFence(State &state, const Event &e) const;
  void applyWait(State &state, uint32_t event) const;
  void applyAccess(State &state, uint32_t event) const;
  void applyCtaBarrier(State &state) const;
  void applyCluster(State &state, const Event &e) const;
  void applyProxyFence(State &state, uint32_t block, const Event &e) const;
  void applyLifetime(State &state, const Event &e) const;

  using Mask = std::vector<uint64_t>;
  Mask mask(bool (*wanted)(const Program &, const SiteInfo &)) const;

  const Program &program;
  const Sites &sites;
  bool complete = true;
  std::vector<uint32_t> order; ///< reachable blocks in reverse postorder
  Signals signals;
  std::vector<State> in;
  std::vector<Mask> waitsOf;                   ///< by group
  std::unordered_map<uint32_t, Mask> copiesOf; ///< by object: the copies that complete on it
  std::array<Mask, 4> completedBy;             ///< copies, by their completion
  Mask unknownBarrier;                         ///< copies that complete on a barrier that is not known
  Mask waits, accesses, ownShared, anyShared, globals, inits, wide, maps;
  std::vector<bool> answered; ///< by object: barriers on which peers arrive
  /// What the waits of a group tell of other threads: which accesses are over, and which of these no fence.sc of that
  /// scope has ordered already, or no proxy fence.
  struct News {
    Mask over, unproxied;
    std::array<Mask, 4> open;
  };
  std::vector<News> heardAt; ///< by group
};

} // namespace interlock::scope
