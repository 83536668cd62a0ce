// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// Sorts the uses of a root by where they begin and joins what overlaps or belongs together.
#include "analysis/Lint/Objects.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

namespace interlock::lint {
namespace {

/// Unrolled accesses to one array stand closer together than that.
constexpr int64_t unrollGap = 128;

/// Uses of one begin and formula, which can't be told apart.
struct Span {
  int64_t begin = 0, end = 0;
  uint32_t formula = 0;
  bool indexed = false, signal = false, init = true;
  std::vector<uint32_t> uses;
};

class Cutter {
public:
  Cutter(std::vector<Span> spans, bool barrier, bool named) : spans(std::move(spans)), parent(this->spans.size()) {
    std::iota(parent.begin(), parent.end(), 0);
    joinOverlaps();
    if (!barrier)
      joinUnrolled();
    joinArrays(barrier, named ? INT64_MAX : unrollGap);
  }

  uint32_t find(uint32_t i) {
    while (parent[i] != i)
      i = parent[i] = parent[parent[i]];
    return i;
  }
  const std::vector<Span> &list() const { return spans; }

private:
  void join(uint32_t a, uint32_t b) {
    a = find(a), b = find(b);
    if (a != b)
      parent[std::max(a, b)] = std::min(a, b);
  }
  void joinOverlaps() {
    int64_t end = INT64_MIN;
    for (uint32_t i = 0; i < spans.size(); ++i) {
      if (i && spans[i].begin < end)
        join(i - 1, i);
      end = std::max(end, spans[i].end);
    }
  }
  void joinUnrolled() {
    std::map<uint32_t, uint32_t> last; // by formula
    for (uint32_t i = 0; i < spans.size(); ++i) {
      if (!spans[i].indexed || spans[i].signal)
        continue;
      auto [it, fresh] = last.try_emplace(spans[i].formula, i);
      if (!fresh && spans[i].begin - spans[it->second].begin <= unrollGap)
        join(it->second, i);
      it->second = i;
    }
  }
  /// A constant place behind the begin of an array, and not too far away, is an element of it. Of barriers that is only
  /// taken for granted of their initialisation: another use of a constant place is a barrier by itself.
  void joinArrays(bool barrier, int64_t gap) {
    uint32_t array = ~0u;
    for (uint32_t i = 0; i < spans.size(); ++i) {
      if (spans[i].indexed)
        array = i;
      else if (barrier && !spans[i].init)
        array = ~0u;
      else if (array != ~0u &&
               (barrier ? spans[i].init : !spans[i].signal && spans[i].begin - spans[array].begin <= gap))
        join(array, i);
    }
  }

  std::vector<Span> spans; ///< by begin
  std::vector<uint32_t> parent;
};

} // namespace

std::vector<Piece> cutObjects(const Values &values, std::vector<Use> &uses) {
  std::map<std::string, uint32_t> formulas;
  std::map<std::pair<uint32_t, bool>, std::vector<uint32_t>> byRoot;
  for (uint32_t i = 0; i < uses.size(); ++i) {
    const Value &v = uses[i].place;
    if (!v.isPlace())
      continue;
    std::string key = fmt::format("{}", v.root);
    for (unsigned t = 0; t < v.count; ++t)
      key += fmt::format("+{}*{}", v.terms[t].symbol, v.terms[t].factor);
    uses[i].formula = formulas.try_emplace(key, uint32_t(formulas.size())).first->second;
    byRoot[{v.root, uses[i].barrier}].push_back(i);
  }
  std::vector<Piece> pieces;
  for (auto &[key, members] : byRoot) {
    auto [root, barrier] = key;
    std::map<std::pair<int64_t, uint32_t>, Span> merged;
    for (uint32_t i : members) {
      const Use &use = uses[i];
      Span &span = merged[{use.place.constant, use.formula}];
      span.begin = use.place.constant;
      span.end = std::max(span.end, use.place.constant + std::max<int64_t>(1, use.bytes));
      span.formula = use.formula;
      span.indexed = use.place.count > 0;
      span.signal |= use.signal;
      span.init &= use.init;
      span.uses.push_back(i);
    }
    std::vector<Span> spans;
    for (auto &[at, span] : merged)
      spans.push_back(std::move(span));
    Cutter cutter(std::move(spans), barrier, values.root(root).kind == RootKind::variable);
    std::map<uint32_t, uint32_t> objectOf;
    for (uint32_t i = 0; i < cutter.list().size(); ++i) {
      auto [it, fresh] = objectOf.try_emplace(cutter.find(i), uint32_t(pieces.size()));
      if (fresh)
        pieces.push_back({root, cutter.list()[i].begin, false});
      for (uint32_t u : cutter.list()[i].uses)
        uses[u].object = it->second;
    }
    if (objectOf.size() == 1)
      pieces.back().whole = true;
  }
  return pieces;
}

} // namespace interlock::lint
