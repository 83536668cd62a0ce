// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
#include "compiler/Transforms/ScopeEvents.h"

#include "compiler/Transforms/Handoffs.h"
#include "dialects/EP/EP.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"

#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace interlock {
namespace {

using scope::Event;
using scope::EventKind;
using scope::Order;

Order orderOf(sync::Sem sem) {
  switch (sem) {
  case sync::Sem::relaxed:
    return Order::relaxed;
  case sync::Sem::acquire:
    return Order::acquire;
  case sync::Sem::release:
    return Order::release;
  case sync::Sem::acq_rel:
    return Order::acqRel;
  case sync::Sem::sc:
    return Order::sc;
  }
  return Order::sc;
}

scope::Scope scopeOf(sync::Scope scope) {
  switch (scope) {
  case sync::Scope::cta:
    return scope::Scope::cta;
  case sync::Scope::cluster:
    return scope::Scope::cluster;
  case sync::Scope::gpu:
    return scope::Scope::gpu;
  case sync::Scope::sys:
    return scope::Scope::sys;
  }
  return scope::Scope::sys;
}

uint32_t bytesOf(Type type) {
  if (auto vector = dyn_cast<VectorType>(type))
    return uint32_t(vector.getNumElements() * vector.getElementTypeBitWidth() / 8);
  return type.getIntOrFloatBitWidth() / 8;
}

/// A vector access is as many separate accesses to the model; a packet is four words.
void setWidth(scope::Access &access, Type type) {
  if (auto vector = dyn_cast<VectorType>(type)) {
    access.bytes = vector.getElementTypeBitWidth() / 8;
    access.elements = uint8_t(vector.getNumElements());
  }
}

/// Whether a loop goes on for as long as the value that is loaded in it says so.
bool decidesLoop(ep::LoadOp load) {
  auto loop = dyn_cast<scf::WhileOp>(load->getParentOp());
  if (!loop || load->getParentRegion() != &loop.getBefore())
    return false;
  SetVector<Operation *> uses;
  uses.insert(load);
  for (size_t i = 0; i < uses.size(); ++i)
    for (Operation *user : uses[i]->getUsers())
      uses.insert(user);
  Value condition = loop.getConditionOp().getCondition();
  return condition.getDefiningOp() && uses.contains(condition.getDefiningOp());
}

class Teller {
public:
  explicit Teller(ScopeAddresses &addresses) : addresses(addresses) {}

  void tell(Operation *op) {
    llvm::TypeSwitch<Operation *>(op)
        .Case<ep::LoadOp>([&](auto load) {
          read(load.getPointer(), load.getResult().getType());
          if (decidesLoop(load))
            events.back().event.poll = scope::Poll::loop;
        })
        .Case<ep::PacketLoadOp>([&](auto load) { read(load.getPointer(), load.getResult().getType()); })
        .Case<ep::StoreOp>([&](auto store) { write(store.getPointer(), store.getValue().getType()); })
        .Case<ep::PacketStoreOp>([&](auto store) { write(store.getPointer(), store.getValue().getType()); })
        .Case<sync::SignalSetOp>([&](auto set) { strong(EventKind::store, set, set.getValue().getType()); })
        .Case<sync::SignalAddOp>([&](auto add) { strong(EventKind::reduction, add, add.getValue().getType()); })
        .Case<sync::AtomicOp>([&](auto atomic) { strong(EventKind::atomic, atomic, atomic.getValue().getType()); })
        .Case<sync::SignalLoadOp>([&](auto load) { poll(load, scope::Poll::no); })
        .Case<sync::SignalWaitOp>([&](auto wait) { poll(wait, scope::Poll::loop); })
        .Case<sync::FenceOp, sync::ProxyFenceOp, sync::InitFenceOp>([&](auto fence) { tellFence(fence); })
        .Case<sync::BarrierInitOp, sync::BarrierArriveOp, sync::BarrierExpectTxOp, sync::BarrierWaitOp,
              sync::BarrierTryWaitOp>([&](auto barrier) { tellBarrier(barrier); })
        .Case<sync::StoreAsyncOp, sync::BulkCopyOp, sync::BulkCommitOp, sync::BulkWaitOp, sync::TryCancelOp>(
            [&](auto copy) { tellCopy(copy); })
        .Case<sync::CtaBarrierOp>([&](auto) { ctaBarrier(); })
        // A ballot or a shuffle makes lanes meet, but only bar.warp.sync is said to order memory among them.
        .Case<sync::WarpBarrierOp>([&](auto) { make(EventKind::warpBarrier); })
        .Case<sync::ClusterArriveOp>([&](auto arrive) { cluster(EventKind::clusterArrive, arrive.getSem()); })
        .Case<sync::ClusterWaitOp>([&](auto wait) { cluster(EventKind::clusterWait, wait.getSem()); })
        .Case<sync::HandoffOp>([&](auto handoff) { tellHandoff(handoff); })
        .Case<sync::ProducerAcquireOp, sync::ProducerTailOp>(
            [&](auto wait) { waitOf(wait, "the empty barriers of a hand-off"); })
        .Case<sync::PublishOp>([&](auto publish) { tellPublish(publish); })
        .Case<sync::PublishCancelOp>([&](auto publish) { tellPublishCancel(publish); })
        .Case<sync::ConsumerWaitOp>([&](auto wait) { tellConsumerWait(wait); })
        .Case<sync::ConsumerReleaseOp>([&](auto release) { arriveOn(release, "the empty barriers of a hand-off"); });
  }

  std::vector<ScopeEvent> take() { return std::move(events); }

private:
  Event &make(EventKind kind, bool oneThread = false) {
    events.push_back({Event(), oneThread});
    events.back().event.kind = kind;
    return events.back().event;
  }

  void read(Value pointer, Type type) {
    Event &e = make(EventKind::load);
    e.src = addresses.of(pointer, bytesOf(type));
    setWidth(e.src, type);
  }
  void write(Value pointer, Type type) {
    Event &e = make(EventKind::store);
    e.dst = addresses.of(pointer, bytesOf(type));
    setWidth(e.dst, type);
  }
  template <typename Op> void strong(EventKind kind, Op op, Type type) {
    Event &e = make(kind);
    e.order = orderOf(op.getSem());
    e.scope = scopeOf(op.getScope());
    e.dst = addresses.of(op.getPointer(), bytesOf(type));
  }
  template <typename Op> void poll(Op op, scope::Poll how) {
    Event &e = make(EventKind::load);
    e.order = orderOf(op.getSem());
    e.scope = scopeOf(op.getScope());
    e.poll = how;
    e.src = addresses.of(op.getPointer(), bytesOf(op.getValue().getType()));
    if (how == scope::Poll::loop)
      acquireBehind();
  }
  /// A wait that acquires does so once, when it is over: by a fence behind relaxed looks, as far as order goes.
  void acquireBehind() {
    Event &wait = events.back().event;
    if (!scope::acquires(wait.order))
      return;
    wait.order = Order::relaxed;
    scope::Scope scope = wait.scope;
    Event &fence = make(EventKind::fence);
    fence.order = Order::acquire;
    fence.scope = scope;
  }
  void ctaBarrier() {
    Event &e = make(EventKind::ctaBarrier);
    e.order = Order::acqRel;
    e.id = 0;
  }
  void cluster(EventKind kind, sync::Sem sem) {
    Event &e = make(kind);
    e.order = orderOf(sem);
    e.scope = scope::Scope::cluster;
  }

  void tellFence(sync::FenceOp op) {
    Event &e = make(EventKind::fence);
    e.order = orderOf(op.getSem());
    e.scope = scopeOf(op.getScope());
    if (op.getRestrict())
      e.restrict = op.getSem() == sync::Sem::acquire ? scope::Restrict::sharedCluster : scope::Restrict::sharedCta;
  }
  void tellFence(sync::ProxyFenceOp op) {
    Event &e = make(EventKind::proxyFence);
    e.forShared = op.getSpace() != sync::Space::global;
    e.forGlobal = op.getSpace() != sync::Space::shared;
  }
  void tellFence(sync::InitFenceOp) {
    Event &e = make(EventKind::fence);
    e.order = Order::release;
    e.scope = scope::Scope::cluster;
    e.restrict = scope::Restrict::barrierInit;
  }

  scope::Access barrier(Value value) { return addresses.of(value, 8); }
  void tellBarrier(sync::BarrierInitOp op) {
    Event &e = make(EventKind::barrierInit);
    e.barrier = barrier(op.getBarrier());
    e.count = op.getCount();
  }
  void tellBarrier(sync::BarrierArriveOp op) {
    Event &e = make(EventKind::barrierArrive);
    e.order = orderOf(op.getSem());
    e.scope = scopeOf(op.getScope());
    e.count = 1;
    e.barrier = barrier(op.getBarrier());
    e.barrier.remote = op.getRank() != Value();
    e.localForm = !e.barrier.remote;
  }
  void tellBarrier(sync::BarrierExpectTxOp op) {
    Event &e = make(EventKind::barrierArrive);
    e.order = orderOf(op.getSem());
    e.scope = scopeOf(op.getScope());
    e.count = 1;
    e.expects = true;
    e.bytes = op.getBytes();
    e.barrier = barrier(op.getBarrier());
    e.localForm = true;
  }
  template <typename Op> void tellBarrierWait(Op op, scope::Poll how) {
    Event &e = make(EventKind::barrierWait);
    e.order = orderOf(op.getSem());
    e.scope = scopeOf(op.getScope());
    e.poll = how;
    e.barrier = barrier(op.getBarrier());
    e.localForm = true;
    APInt constant;
    e.parity =
        matchPattern(op.getParity(), m_ConstantInt(&constant)) ? scope::Parity::constant : scope::Parity::changing;
    e.reusesBarrier = op->template getParentOfType<scf::ForOp>() != nullptr;
  }
  void tellBarrier(sync::BarrierWaitOp op) {
    tellBarrierWait(op, scope::Poll::loop);
    acquireBehind();
  }
  void tellBarrier(sync::BarrierTryWaitOp op) {
    bool loops = isa<scf::WhileOp>(op->getParentOp());
    tellBarrierWait(op, loops ? scope::Poll::loop : scope::Poll::test);
  }

  void tellCopy(sync::StoreAsyncOp op) {
    Event &e = make(EventKind::storeAsync);
    e.completion = scope::Completion::barrier;
    e.bytes = bytesOf(op.getValue().getType());
    e.dst = addresses.of(op.getPointer(), uint32_t(*e.bytes));
    e.barrier = barrier(op.getBarrier());
    e.dst.remote = e.barrier.remote = true;
  }
  void tellCopy(sync::BulkCopyOp op) {
    Event &e = make(EventKind::asyncCopy);
    e.proxy = scope::Proxy::async;
    APInt bytes;
    if (matchPattern(op.getBytes(), m_ConstantInt(&bytes)))
      e.bytes = bytes.getSExtValue();
    uint32_t width = uint32_t(e.bytes.value_or(0));
    e.dst = addresses.of(op.getDestination(), width);
    e.src = addresses.of(op.getSource(), width);
    e.completion = op.getBarrier() ? scope::Completion::barrier : scope::Completion::bulkGroup;
    if (op.getBarrier())
      e.barrier = barrier(op.getBarrier());
  }
  Event &cancelRequest(bool multicast) {
    Event &e = make(EventKind::asyncCopy);
    e.proxy = scope::Proxy::async;
    e.completion = scope::Completion::barrier;
    e.bytes = 16;
    e.multicast = multicast;
    return e;
  }
  void tellCopy(sync::TryCancelOp op) {
    Event &e = cancelRequest(op.getMulticast());
    e.dst = addresses.of(op.getPointer(), 16);
    e.barrier = barrier(op.getBarrier());
  }
  void tellCopy(sync::BulkCommitOp) { make(EventKind::asyncCommit).completion = scope::Completion::bulkGroup; }
  void tellCopy(sync::BulkWaitOp op) {
    Event &e = make(EventKind::asyncWait);
    e.completion = scope::Completion::bulkGroup;
    e.readsOnly = op.getRead();
    e.bytes = op.getPending();
  }

  //===--------------------------------------------------------------------===//
  // Hand-offs, as their description says what they do
  //===--------------------------------------------------------------------===//

  scope::Access piece(sync::HandoffOp handoff, StringRef what, bool remote) {
    scope::Access access;
    access.object = addresses.objectOf(handoff, what);
    access.formula = 1;
    access.indexed = true; // which of the ring's slots it is changes
    access.remote = remote && handoff.getCluster() > 1;
    return access;
  }
  static sync::HandoffOp handoffOf(Operation *use) { return use->getOperand(0).getDefiningOp<sync::HandoffOp>(); }
  template <typename Op> static sync::Scope declaredScope(Op op) { return op.getScope().value_or(sync::Scope::cta); }

  static bool isFilledByCancel(sync::HandoffOp op) {
    return llvm::any_of(op->getUsers(), [](Operation *user) { return isa<sync::PublishCancelOp>(user); });
  }
  void fenceSharedProxies() {
    Event &e = make(EventKind::proxyFence);
    e.forGlobal = false;
  }
  void tellHandoff(sync::HandoffOp op) {
    for (const char *what : {"the full barriers of a hand-off", "the empty barriers of a hand-off"})
      make(EventKind::barrierInit, /*oneThread=*/true).barrier = piece(op, what, false);
    if (op.getCluster() > 1 || isFilledByCancel(op)) {
      tellFence(sync::InitFenceOp());
      events.back().oneThread = true;
    }
    if (op.getCluster() == 1) {
      ctaBarrier();
      return;
    }
    cluster(EventKind::clusterArrive, sync::Sem::relaxed);
    cluster(EventKind::clusterWait, sync::Sem::acquire);
  }
  template <typename Op> void waitOf(Op op, StringRef what) {
    sync::HandoffOp handoff = handoffOf(op);
    if (!handoff)
      return;
    Event &e = make(EventKind::barrierWait);
    e.order = Order::acquire;
    e.scope = scopeOf(declaredScope(op));
    e.poll = scope::Poll::loop;
    e.parity = scope::Parity::changing;
    e.localForm = true;
    e.barrier = piece(handoff, what, false);
    acquireBehind();
  }
  template <typename Op> void arriveOn(Op op, StringRef what) {
    sync::HandoffOp handoff = handoffOf(op);
    if (!handoff)
      return;
    Event &e = make(EventKind::barrierArrive);
    e.order = Order::release;
    e.scope = scopeOf(declaredScope(op));
    e.barrier = piece(handoff, what, /*remote=*/true);
  }
  void tellPublish(sync::PublishOp op) {
    if (sync::HandoffOp handoff = handoffOf(op)) {
      make(EventKind::store).dst = piece(handoff, "the slots of a hand-off", /*remote=*/true);
      arriveOn(op, "the full barriers of a hand-off");
    }
  }
  void tellPublishCancel(sync::PublishCancelOp op) {
    if (sync::HandoffOp handoff = handoffOf(op)) {
      fenceSharedProxies();
      Event &e = cancelRequest(handoff.getCluster() > 1);
      e.dst = piece(handoff, "the slots of a hand-off", false);
      e.barrier = piece(handoff, "the full barriers of a hand-off", false);
    }
  }
  void tellConsumerWait(sync::ConsumerWaitOp op) {
    sync::HandoffOp handoff = handoffOf(op);
    bool byCancel = handoff && isFilledByCancel(handoff);
    if (byCancel) {
      Event &e = make(EventKind::barrierArrive, /*oneThread=*/true);
      e.order = Order::relaxed;
      e.count = 1;
      e.expects = true;
      e.bytes = 16;
      e.barrier = piece(handoff, "the full barriers of a hand-off", false);
      e.localForm = true;
    }
    waitOf(op, "the full barriers of a hand-off");
    if (handoff)
      make(EventKind::load).src = piece(handoff, "the slots of a hand-off", false);
    if (byCancel)
      fenceSharedProxies();
  }

  ScopeAddresses &addresses;
  std::vector<ScopeEvent> events;
};

} // namespace

std::vector<ScopeEvent> scopeEventsOf(Operation *op, ScopeAddresses &addresses) {
  Teller teller(addresses);
  teller.tell(op);
  return teller.take();
}

} // namespace interlock
