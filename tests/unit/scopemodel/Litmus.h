// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// Litmus tests as programs of events: some objects, some threads, and which rules are found.
#pragma once

#include "analysis/ScopeModel/Program.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

namespace interlock::scope {

/// Thread 0 of CTA `n` of the grid or cluster.
inline Actor inCta(uint32_t n) { return {Actor::Threads::one, 1, false, Actor::Ctas::only, n}; }
/// One thread, the same number in every CTA.
inline Actor oneThread(uint32_t n) { return {Actor::Threads::one, n + 1}; }
inline Actor warp(uint32_t n) { return {Actor::Threads::warp, n + 1}; }
inline Actor everyone() { return {}; }

/// The code of one thread (or of threads that do the same), written down in order.
class ThreadCode {
public:
  explicit ThreadCode(std::vector<Event> &events) : events(events) {}
  Event &add(EventKind kind) {
    Event e;
    e.kind = kind;
    e.origin = uint32_t(events.size());
    events.push_back(e);
    return events.back();
  }
  ThreadCode &ld(Access x, Order order = Order::weak, Scope scope = Scope::sys) {
    return load(x, order, scope, Poll::no);
  }
  ThreadCode &poll(Access x, Order order, Scope scope = Scope::sys) { return load(x, order, scope, Poll::loop); }
  ThreadCode &st(Access x, Order order = Order::weak, Scope scope = Scope::sys) {
    return access(EventKind::store, x, order, scope);
  }
  ThreadCode &red(Access x, Order order, Scope scope) { return access(EventKind::reduction, x, order, scope); }
  ThreadCode &atom(Access x, Order order, Scope scope, Poll poll = Poll::no) {
    access(EventKind::atomic, x, order, scope);
    events.back().poll = poll;
    return *this;
  }
  ThreadCode &fence(Order order, Scope scope, Restrict restrict = Restrict::none) {
    Event &e = add(EventKind::fence);
    e.order = order;
    e.scope = scope;
    e.restrict = restrict;
    return *this;
  }
  ThreadCode &proxyFence(ProxyFence kind = ProxyFence::async) {
    add(EventKind::proxyFence).proxyFence = kind;
    return *this;
  }
  ThreadCode &barSync(uint32_t id = 0) { return bar(EventKind::ctaBarrier, id); }
  ThreadCode &barArrive(uint32_t id = 0) { return bar(EventKind::ctaArrive, id); }
  ThreadCode &clusterBarrier(Order arrive = Order::release) { return clusterArrive(arrive).clusterWait(); }
  ThreadCode &clusterArrive(Order order = Order::release) {
    Event &e = add(EventKind::clusterArrive);
    e.order = order;
    e.scope = Scope::cluster;
    return *this;
  }
  ThreadCode &clusterWait() {
    Event &e = add(EventKind::clusterWait);
    e.order = Order::acquire;
    e.scope = Scope::cluster;
    return *this;
  }
  ThreadCode &init(Access b, uint32_t count = 1) {
    Event &e = add(EventKind::barrierInit);
    e.barrier = b;
    e.count = count;
    return *this;
  }
  ThreadCode &arrive(Access b, Order order = Order::release, Scope scope = Scope::cta) {
    Event &e = add(EventKind::barrierArrive);
    e.barrier = b;
    e.order = order;
    e.scope = scope;
    e.count = 1;
    return *this;
  }
  ThreadCode &arriveExpect(Access b, int64_t bytes, Order order = Order::release) {
    arrive(b, order);
    events.back().expects = true;
    events.back().bytes = bytes;
    return *this;
  }
  ThreadCode &wait(Access b, Order order = Order::acquire, Scope scope = Scope::cta) {
    Event &e = add(EventKind::barrierWait);
    e.barrier = b;
    e.order = order;
    e.scope = scope;
    e.poll = Poll::loop;
    return *this;
  }
  ThreadCode &stAsync(Access x, Access b) {
    Event &e = add(EventKind::storeAsync);
    e.dst = x;
    e.barrier = b;
    e.completion = Completion::barrier;
    return *this;
  }
  /// A bulk copy that completes on a barrier.
  ThreadCode &copy(Access dst, Access src, Access b) {
    Event &e = bulk(dst, src, Completion::barrier);
    e.barrier = b;
    return *this;
  }
  /// A bulk copy that completes as a group.
  ThreadCode &copy(Access dst, Access src) {
    bulk(dst, src, Completion::bulkGroup);
    return *this;
  }
  ThreadCode &waitGroup(bool readsOnly = false) {
    Event &e = add(EventKind::asyncWait);
    e.completion = Completion::bulkGroup;
    e.readsOnly = readsOnly;
    return *this;
  }
  ThreadCode &exit() {
    add(EventKind::exit);
    return *this;
  }
  Event &last() { return events.back(); }

private:
  Event &bulk(Access dst, Access src, Completion completion) {
    Event &e = add(EventKind::asyncCopy);
    e.dst = dst;
    e.src = src;
    e.proxy = Proxy::async;
    e.completion = completion;
    return e;
  }
  ThreadCode &load(Access x, Order order, Scope scope, Poll poll) {
    Event &e = add(EventKind::load);
    e.src = x;
    e.order = order;
    e.scope = scope;
    e.poll = poll;
    return *this;
  }
  ThreadCode &access(EventKind kind, Access x, Order order, Scope scope) {
    Event &e = add(kind);
    e.dst = x;
    e.order = order;
    e.scope = scope;
    return *this;
  }
  ThreadCode &bar(EventKind kind, uint32_t id) {
    Event &e = add(kind);
    e.id = id;
    e.order = kind == EventKind::ctaBarrier ? Order::acqRel : Order::release;
    return *this;
  }
  std::vector<Event> &events;
};

inline Access remote(Access a) {
  a.remote = true;
  return a;
}

class Litmus {
public:
  Program program;

  Litmus() { program.blocks.resize(1); }
  Access object(std::string name, Space space, Scope reach, Evidence evidence = Evidence::assumed) {
    Object o;
    o.name = std::move(name);
    o.space = space;
    o.reach = reach;
    o.evidence = evidence;
    program.objects.push_back(o);
    Access a;
    a.object = uint32_t(program.objects.size() - 1);
    a.formula = a.object + 1;
    a.offset = 0;
    a.bytes = 4;
    a.single = true;
    return a;
  }
  Access global(std::string name, Scope reach = Scope::gpu) {
    return object(std::move(name), Space::global, reach, reach == Scope::gpu ? Evidence::assumed : Evidence::contract);
  }
  Access shared(std::string name) { return object(std::move(name), Space::shared, Scope::cta); }
  /// What `actor` does, besides the others.
  Litmus &thread(Actor actor, const std::function<void(ThreadCode &)> &code) {
    Block block;
    block.first = uint32_t(program.events.size());
    ThreadCode writer(program.events);
    code(writer);
    block.count = uint32_t(program.events.size()) - block.first;
    block.actor = actor;
    program.blocks[0].successors.push_back(uint32_t(program.blocks.size()));
    program.blocks.push_back(block);
    return *this;
  }
  /// What all threads do before they part.
  Litmus &first(const std::function<void(ThreadCode &)> &code) {
    ThreadCode writer(program.events);
    code(writer);
    program.blocks[0].count = uint32_t(program.events.size());
    return *this;
  }
  std::vector<Finding> judged() {
    program.function = "litmus";
    program.place = [](uint32_t origin) { return Place{origin + 1, 1, fmt::format("event {}", origin), {}, 0}; };
    return judge(program);
  }
  /// "SL01" for an error, "SL16 warning", "SL28 note", in the order of the places.
  std::vector<std::string> findings(Severity least = Severity::warning) {
    std::vector<std::string> out;
    for (const Finding &f : judged())
      if (f.severity >= least)
        out.push_back(std::string(f.rule) + (f.severity == Severity::error ? "" : " " + std::string(name(f.severity))));
    return out;
  }
};

} // namespace interlock::scope
