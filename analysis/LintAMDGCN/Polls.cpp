// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// A loop's exits are followed back to the loads that decide them: forwards, by the registers that a load's result
// reaches within the loop. A read-modify-write waits too, but not where it writes what it has read before: that is an
// update that is tried again.
#include "analysis/LintAMDGCN/Polls.h"

#include <algorithm>

namespace interlock::lint::gcn {
namespace {

class Finder {
public:
  Finder(const Code &code, const Graph &graph) : code(code), graph(graph) {}

  std::vector<Poll> run() {
    std::vector<Poll> polls;
    blocksOf.resize(graph.loops.size());
    for (uint32_t b : graph.order)
      for (uint32_t l = graph.loopOf[b]; l != Loop::none && graph.loops[l].blocks <= mostBlocks;
           l = graph.loops[l].parent)
        blocksOf[l].push_back(b);
    for (uint32_t loop = 0; loop < graph.loops.size(); ++loop)
      search(loop, polls);
    std::sort(polls.begin(), polls.end(), [](const Poll &a, const Poll &b) { return a.instruction < b.instruction; });
    return polls;
  }

private:
  struct Item {
    uint32_t instruction;
    std::vector<Register> reads, writes;
  };
  /// Loops beyond that are work, not waiting.
  static constexpr uint32_t mostBlocks = 64;
  static constexpr size_t mostInstructions = 2000;

  bool candidate(const Effect &e) const {
    return e.kind == Kind::scalarLoad ||
           (e.shared() && (e.kind == Kind::load || (e.kind == Kind::atomic && e.returns)));
  }

  void search(uint32_t loop, std::vector<Poll> &polls) {
    items.clear();
    bool any = false;
    size_t size = 0;
    for (uint32_t b : blocksOf[loop]) {
      size += code.blocks[b].count;
      for (uint32_t i = code.blocks[b].first; i < code.blocks[b].first + code.blocks[b].count; ++i)
        any |= candidate(code.effects[i]);
    }
    if (!any || size > mostInstructions)
      return;
    for (uint32_t b : blocksOf[loop])
      for (uint32_t i = code.blocks[b].first; i < code.blocks[b].first + code.blocks[b].count; ++i) {
        const auto &in = code.instructions[i];
        items.push_back({i, code.read(in, code.effects[i]), code.written(in, code.effects[i])});
      }
    findInvariant();
    for (const Item &item : items) {
      const Effect &e = code.effects[item.instruction];
      bool known =
          std::any_of(polls.begin(), polls.end(), [&](const Poll &p) { return p.instruction == item.instruction; });
      if (!candidate(e) || !waitsAgain(item) || !decidesExit(item, loop))
        continue;
      if (known) { // the innermost loop that it ends
        for (Poll &p : polls)
          if (p.instruction == item.instruction && graph.loops[loop].blocks < graph.loops[*p.loop].blocks)
            p.loop = loop;
        continue;
      }
      polls.push_back({item.instruction, loop, e.kind == Kind::scalarLoad});
    }
  }

  /// Registers that hold the same in every trip: not written in the loop, or from such registers only.
  void findInvariant() {
    invariant.assign(code.registers, true);
    std::vector<bool> writtenInLoop(code.registers);
    for (const Item &item : items)
      for (Register r : item.writes) {
        invariant[r] = false;
        writtenInLoop[r] = true;
      }
    std::vector<bool> proven(items.size());
    for (bool again = true; again;) {
      again = false;
      std::vector<bool> bad(code.registers);
      for (size_t i = 0; i < items.size(); ++i) {
        const Item &item = items[i];
        const Effect &e = code.effects[item.instruction];
        // A pointer from memory that nobody has written is the same each time; of vector memory that is not known.
        bool plain = e.kind == Kind::none || e.kind == Kind::scalarLoad;
        bool good =
            plain && std::all_of(item.reads.begin(), item.reads.end(), [&](Register r) { return invariant[r]; });
        proven[i] = good;
        if (!good)
          for (Register r : item.writes)
            bad[r] = true;
      }
      for (Register r = 0; r < code.registers; ++r)
        if (writtenInLoop[r] && !invariant[r] && !bad[r])
          again = invariant[r] = true;
    }
  }

  bool sameEachTrip(std::optional<uint32_t> operand, const Item &item) const {
    if (!operand)
      return true;
    std::vector<Register> registers = code.expand(code.instructions[item.instruction].operands[*operand]);
    return std::all_of(registers.begin(), registers.end(), [&](Register r) { return invariant[r]; });
  }

  bool waitsAgain(const Item &item) const {
    const Effect &e = code.effects[item.instruction];
    return sameEachTrip(e.address, item) && sameEachTrip(e.base, item) &&
           (e.kind != Kind::atomic || sameEachTrip(e.data, item));
  }

  bool decidesExit(const Item &load, uint32_t loop) const {
    std::vector<bool> tainted(code.registers);
    for (Register r : load.writes)
      tainted[r] = true;
    for (bool again = true; again;) {
      again = false;
      for (const Item &item : items) {
        if (code.effects[item.instruction].kind != Kind::none ||
            std::none_of(item.reads.begin(), item.reads.end(), [&](Register r) { return tainted[r]; }))
          continue;
        for (Register r : item.writes)
          if (!tainted[r])
            again = tainted[r] = true;
      }
    }
    for (const Item &item : items) {
      if (code.effects[item.instruction].kind != Kind::conditional ||
          std::none_of(item.reads.begin(), item.reads.end(), [&](Register r) { return tainted[r]; }))
        continue;
      for (uint32_t next : code.blocks[code.blockOf[item.instruction]].successors)
        if (!graph.inside(next, loop))
          return true;
    }
    return false;
  }

  const Code &code;
  const Graph &graph;
  std::vector<std::vector<uint32_t>> blocksOf; ///< by loop
  std::vector<Item> items;
  std::vector<bool> invariant;
};

} // namespace

std::vector<Poll> findPolls(const Code &code, const Graph &graph) { return Finder(code, graph).run(); }

} // namespace interlock::lint::gcn
