// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// Cuts objects into words, where it is known which word each of their signals is. A ticket and a counter side by side
// are two signals, though one store may reset them both.
#include "analysis/ScopeModel/Signals.h"

#include "analysis/ScopeModel/Sites.h"

#include <algorithm>
#include <unordered_map>

namespace interlock::scope {
namespace {

/// Only some threads pass here, and it is known which.
bool inRole(const Actor &actor) { return actor.threads != Actor::Threads::all || actor.ctas != Actor::Ctas::all; }

/// A weak store may be a flag, or it may reset one.
bool isWeakStore(const Event &e) { return e.kind == EventKind::store && e.order == Order::weak; }

int64_t endOf(const Access &a) { return *a.offset + int64_t(a.bytes) * a.elements; }

/// The signals of one object.
struct OfObject {
  std::vector<uint32_t> strong, weakStores; ///< events
  bool waits = false, strongReleases = false;
};

/// All words are places of one formula, so that those which do not overlap are different ones.
bool comparable(const Program &program, const std::vector<uint32_t> &events) {
  const Access &first = *signalOf(program.events[events.front()]);
  return std::all_of(events.begin(), events.end(), [&](uint32_t i) {
    const Access &a = *signalOf(program.events[i]);
    return a.single && a.offset && a.bytes && a.formula == first.formula;
  });
}

class Grouper {
public:
  explicit Grouper(const Program &program) : program(program) { out.groupOf.assign(program.events.size(), out.none); }

  Signals run(const std::vector<uint32_t> &order) {
    std::unordered_map<uint32_t, uint32_t> barriers; // of the CTA
    std::unordered_map<uint32_t, OfObject> objects;
    std::vector<uint32_t> met; // objects, in the order of the text
    for (uint32_t b : order) {
      const Block &block = program.blocks[b];
      for (uint32_t i = block.first; i < block.first + block.count; ++i) {
        const Event &e = program.events[i];
        if (!mayRelease(e) && !mayAcquire(e))
          continue;
        const Access *signal = signalOf(e);
        if (!signal) {
          // A barrier that all threads pass at one place is in the state of the path already, as the cluster barrier
          // is.
          if (e.kind != EventKind::clusterArrive && e.kind != EventKind::clusterWait && inRole(block.actor)) {
            auto [it, fresh] = barriers.try_emplace(e.id, out.count);
            out.count += fresh;
            out.groupOf[i] = it->second;
          }
          continue;
        }
        if (!signal->known())
          continue;
        auto [it, fresh] = objects.try_emplace(signal->object);
        if (fresh)
          met.push_back(signal->object);
        OfObject &object = it->second;
        (isWeakStore(e) ? object.weakStores : object.strong).push_back(i);
        object.waits |= mayAcquire(e);
        object.strongReleases |= mayRelease(e) && !isWeakStore(e);
      }
    }
    for (uint32_t o : met)
      if (objects[o].waits)
        cut(objects[o]);
    return std::move(out);
  }

private:
  void cut(OfObject &object) {
    auto &strong = object.strong;
    // A weak store to no word in particular may be to each of them; where the others are strong it resets them.
    bool words = comparable(program, strong);
    if (words && !object.strongReleases && !object.weakStores.empty()) {
      std::vector<uint32_t> all = object.weakStores;
      all.push_back(strong.front());
      words = comparable(program, all);
    }
    if (!words) {
      for (const auto *list : {&strong, &object.weakStores})
        for (uint32_t i : *list)
          out.groupOf[i] = out.count;
      out.count++;
      return;
    }
    auto at = [&](uint32_t i) -> const Access & { return *signalOf(program.events[i]); };
    std::stable_sort(strong.begin(), strong.end(),
                     [&](uint32_t a, uint32_t b) { return *at(a).offset < *at(b).offset; });
    struct Word {
      int64_t begin, end;
      uint32_t group;
    };
    std::vector<Word> list;
    for (uint32_t i : strong) {
      if (list.empty() || *at(i).offset >= list.back().end)
        list.push_back({*at(i).offset, endOf(at(i)), out.count++});
      list.back().end = std::max(list.back().end, endOf(at(i)));
      out.groupOf[i] = list.back().group;
    }
    uint32_t formula = at(strong.front()).formula;
    for (uint32_t i : object.weakStores) {
      const Access &store = at(i);
      if (!store.single || !store.offset || !store.bytes || store.formula != formula)
        continue;
      auto word = std::upper_bound(list.begin(), list.end(), *store.offset,
                                   [](int64_t offset, const Word &w) { return offset < w.end; });
      if (word != list.end() && word->begin < endOf(store))
        out.groupOf[i] = word->group;
    }
  }

  const Program &program;
  Signals out;
};

} // namespace

Signals groupSignals(const Program &program, const std::vector<uint32_t> &order) { return Grouper(program).run(order); }

} // namespace interlock::scope
