// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// The dataflow: at each instruction, which stores may still be on their way or only in a near cache, and which polls
// have not been followed by what makes their data visible. All facts are "on some path", so where paths meet the
// weakest state wins.
#pragma once

#include "analysis/LintAMDGCN/Polls.h"

namespace interlock::lint::gcn {

/// One store, or several of a block that nothing parts.
struct StoreSite {
  uint32_t instruction = 0; ///< the first
  uint32_t base = 0;
  Scope past = Scope::thread;
  Counter counter = Counter::stores;
  Memory memory = Memory::global;
  bool merged = false; ///< stands for more than one
};

/// Something behind which the thread knows that another one has come so far.
struct WaitSite {
  uint32_t instruction = 0;
  std::optional<uint32_t> loop; ///< of a poll
  bool scalar = false;          ///< through the scalar cache
  bool clusterBarrier = false;
  std::optional<uint32_t> before; ///< as Poll
  bool ticket = false;            ///< as Poll
};

inline constexpr uint32_t nowhere = ~0u;

struct StoreState {
  static constexpr uint8_t done = 255;
  uint8_t younger = done; ///< operations of its counter behind it, at least; `done`: it has been waited for
  uint8_t dirty = 0;      ///< parts that no write-back behind it has covered
  uint8_t flushing = 0;   ///< parts whose write-back has not been waited for
  bool happened = false;
  uint32_t undrained = nowhere;        ///< the barrier that another wave may have passed with it on its way
  uint32_t undrainedCluster = nowhere; ///< the same of the cluster's barrier
  bool crossed = false;                ///< a barrier of the cluster stands behind it
  bool operator==(const StoreState &) const = default;
};

struct WaitState {
  static constexpr uint8_t done = 255;
  bool happened = false;
  uint8_t younger = done; ///< of the polling load, as of a store
  uint8_t open = 0;       ///< parts that no invalidate behind it has covered
  uint8_t early = 0;      ///< parts that were invalidated before the load was waited for
  uint32_t invalidate = nowhere;
  bool scalarOpen = false; ///< the scalar cache has not been invalidated since
  bool operator==(const WaitState &) const = default;
};

struct OrderState {
  std::vector<StoreState> stores;
  std::vector<WaitState> waits;
  uint8_t writeBackYounger = StoreState::done; ///< of the last write-back
  uint32_t writeBack = nowhere;                ///< a write-back behind which nothing was stored yet
  bool operator==(const OrderState &) const = default;
};

class Order {
public:
  Order(const Code &code, const Graph &graph, const Pointers &pointers, const std::vector<Poll> &polls, bool oneWave);

  std::vector<StoreSite> stores;
  std::vector<WaitSite> waits;
  /// By instruction: its site among `stores`, its site among `waits`, or ~0u.
  std::vector<uint32_t> storeSite, waitSite;

  /// Calls `visit(instruction, state)` for each one that can be reached, with the state before it.
  template <class Visit> void walk(Visit visit) const {
    for (uint32_t b : graph.order) {
      OrderState state = in[b];
      for (uint32_t i = code.blocks[b].first; i < code.blocks[b].first + code.blocks[b].count; ++i) {
        visit(i, static_cast<const OrderState &>(state));
        apply(state, i);
      }
    }
  }

private:
  void collect(const Pointers &pointers, const std::vector<Poll> &polls);
  void solve();
  void apply(OrderState &state, uint32_t instruction) const;
  void applyWait(OrderState &state, const Effect &e) const;
  void applyBarrier(OrderState &state, uint32_t instruction, const Effect &e) const;
  void applyInvalidate(OrderState &state, uint32_t instruction, const Effect &e) const;
  void age(OrderState &state, Counter counter) const;
  static bool merge(OrderState &into, const OrderState &from);

  const Code &code;
  const Graph &graph;
  bool oneWave; ///< a workgroup is one wave: its barriers hand nothing to others
  std::vector<OrderState> in;
};

} // namespace interlock::lint::gcn
