// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// The vocabulary of the judgement: what a thread does to memory and to other threads, without the language in which it
// was written. PTX instructions and the operations of the dialects sync and ep are both told in these words. The terms
// are those of the PTX ISA, chapter "Memory Consistency Model".
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace interlock::scope {

/// Which threads an operation speaks to, and how far apart two threads are. Each includes those before it.
enum class Scope : uint8_t { thread, cta, cluster, gpu, sys };
std::string_view name(Scope scope);

/// Semantics of one operation. `isVolatile` is relaxed at system scope, with promises about merging on top.
enum class Order : uint8_t { weak, isVolatile, relaxed, acquire, release, acqRel, sc };
std::string_view name(Order order);
bool acquires(Order order);
bool releases(Order order);

/// The way by which an access reaches memory.
enum class Proxy : uint8_t { generic, async, tensormap, nonCoherent };

enum class Space : uint8_t { unknown, shared, global, other };

enum class EventKind : uint8_t {
  load,
  store,
  atomic,        ///< read and write in one; its value is returned
  reduction,     ///< as atomic, but it returns nothing and so acquires nothing
  storeAsync,    ///< st.async, red.async: a store through the generic proxy that completes a transaction on `barrier`
  asyncCopy,     ///< reads `src` and writes `dst` later; `completion` says what tells that it is done
  asyncCommit,   ///< the copies so far are a group
  asyncWait,     ///< waits for groups of `completion`; `readsOnly`: only until their sources have been read
  fence,         ///< `order` at `scope`, perhaps restricted
  proxyFence,    ///< `proxyFence` says between which
  barrierInit,   ///< mbarrier.init; `count` arrivals complete a phase
  barrierArrive, ///< mbarrier.arrive; `bytes` is what it expects, `count` how many arrivals
  barrierExpect, ///< mbarrier.expect_tx: `bytes` more, no arrival
  barrierDone,   ///< an asynchronous arrival (tcgen05.commit, cp.async.mbarrier.arrive): earlier async work is done
  barrierWait,   ///< mbarrier.test_wait, try_wait
  barrierInval,  ///< mbarrier.inval
  ctaBarrier,    ///< bar.sync, bar.red of barrier `id`
  ctaArrive,     ///< bar.arrive of barrier `id`
  clusterArrive, ///< barrier.cluster.arrive
  clusterWait,   ///< barrier.cluster.wait
  warpBarrier,   ///< bar.warp.sync, and whatever else makes the lanes meet
  gridWait,      ///< griddepcontrol.wait
  gridLaunch,    ///< griddepcontrol.launch_dependents
  exit,          ///< the thread ends
  call,          ///< a call that cannot be looked into
};

/// What a fence is restricted to (`.sync_restrict`, `fence.mbarrier_init`).
enum class Restrict : uint8_t { none, sharedCta, sharedCluster, barrierInit };

/// Between which proxies a proxy fence orders.
enum class ProxyFence : uint8_t { async, alias, tensormapRelease, tensormapAcquire };

/// What tells that an asynchronous operation is done.
enum class Completion : uint8_t {
  none,      ///< nothing that is known of
  barrier,   ///< a transaction or an arrival on an mbarrier
  bulkGroup, ///< cp.async.bulk.wait_group
  copyGroup, ///< cp.async.wait_group
};

/// Whether a read is a wait: what it returns decides how the thread goes on.
enum class Poll : uint8_t {
  no,
  test, ///< its value controls a branch
  loop, ///< its value ends a loop that reads the same place again
};

/// How the parity of a wait comes about, as far as is known (see PTX ISA "mbarrier: phase").
enum class Parity : uint8_t { unknown, constant, changing };

/// One touched place of memory.
struct Access {
  static constexpr uint32_t noObject = ~0u;
  uint32_t object = noObject;
  uint32_t formula = 0;          ///< accesses of one object with the same formula differ by `offset` only
  std::optional<int64_t> offset; ///< bytes, relative to the formula
  uint32_t bytes = 0;            ///< of one element; 0: not known
  uint8_t elements = 1;          ///< of a vector access: the model sees as many separate accesses
  bool remote = false;           ///< by an address in another CTA's shared memory (mapa, shared::cluster)
  bool single = false;           ///< the formula gives one place: the same for all threads and at all times
  bool perThread = false;        ///< the formula gives each thread of a CTA a place of its own
  uint32_t warpStride = 0;   ///< not 0: each warp of a CTA has a piece of the object of its own, so many bytes apart
  uint32_t threadStride = 0; ///< not 0: a place of the object's own, and so many bytes further for each next thread
  bool fixed = false;        ///< a place of the object's own, by a constant
  bool perCta = false;       ///< the formula gives each CTA a place of its own
  bool perCluster = false;   ///< the formula gives each cluster a place of its own
  bool indexed = false;      ///< one of several elements, as a slot of a ring; which one is not known
  bool known() const { return object != noObject; }
};

/// One thing that a thread does.
struct Event {
  EventKind kind = EventKind::load;
  Order order = Order::weak;
  Scope scope = Scope::cta;
  Proxy proxy = Proxy::generic;
  Restrict restrict = Restrict::none;
  ProxyFence proxyFence = ProxyFence::async;
  Completion completion = Completion::none;
  Poll poll = Poll::no;
  Parity parity = Parity::unknown;
  bool conditional = false;                ///< atomic: compare-and-swap, which writes where it finds what it expects
  bool expects = false;                    ///< barrierArrive, barrierExpect: the barrier is told of bytes to come
  bool readsOnly = false;                  ///< asyncWait
  bool forShared = true, forGlobal = true; ///< proxyFence: the memory that it covers
  bool carriesData = false;      ///< a poll: what it read last is used behind the loop, so that it is data itself
  bool multicast = false;        ///< asyncCopy: into the same place of several CTAs
  bool multimem = false;         ///< goes to all GPUs of a multicast object
  bool reduces = false;          ///< asyncCopy: combines with what is there
  bool reusesBarrier = false;    ///< barrierWait: in a loop, beyond its own retries, on the same barrier each time
  bool allLanes = false;         ///< warpBarrier: of the whole warp, and not of some of its lanes
  bool localForm = false;        ///< the form that is for the thread's own CTA
  bool vouches = false;          ///< load: what the signal behind it announces in the name of all CTAs
  bool elsewhere = false;        ///< done by another kernel of the stream, before this one or after it
  bool spelled = true;           ///< fence: its order is written out (membar has no choice)
  uint32_t id = ~0u;             ///< ctaBarrier, ctaArrive: which one, where known
  std::optional<int64_t> bytes;  ///< asyncCopy, storeAsync: moved; barrierArrive, barrierExpect: expected
  std::optional<uint32_t> count; ///< barrierInit, barrierArrive
  uint32_t origin = 0;           ///< what Program::place is asked for
  Access dst, src, barrier;
  Access map; ///< asyncCopy: the tensor map
};

/// Which threads execute a block, as far as is known.
struct Actor {
  enum class Threads : uint8_t { all, warp, lanes, one };
  Threads threads = Threads::all; ///< all of the CTA, those of one warp, one of each warp, one of the CTA
  uint32_t which = 0;             ///< equal and not 0: the same threads of a CTA; see Actors.h
  bool some = false;              ///< only some of them, by a condition that is not understood
  enum class Ctas : uint8_t { all, only, except };
  Ctas ctas = Ctas::all;
  uint32_t cta = 0; ///< of `only` and `except`
  bool operator==(const Actor &) const = default;
};

} // namespace interlock::scope
