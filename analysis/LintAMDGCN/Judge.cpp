// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// What the rules share: contracts, roles, reports. Whether a store is data or a signal is not in its opcode, so it is
// decided by evidence, and little evidence makes a mild finding.
#include "analysis/LintAMDGCN/Judge.h"
#include "analysis/LintAMDGCN/Taint.h"

#include <fmt/format.h>

#include <algorithm>

namespace interlock::lint::gcn {
namespace {

using scope::Severity;

const std::map<uint32_t, ParamContract> *entryOf(const Contract::Params &all, std::string_view kernel) {
  auto found = all.find(kernel);
  if (found == all.end())
    found = all.find("");
  return found == all.end() ? nullptr : &found->second;
}

/// A flag is a word: what is wider and has a scope is data that goes past the caches.
bool isWord(std::string_view opcode) {
  return !opcode.ends_with("x3") && !opcode.ends_with("x4") && !opcode.ends_with("b96") && !opcode.ends_with("b128");
}

/// What becomes of a result is followed in functions of so many instructions, and of so many results.
constexpr size_t mostFollowed = 20'000, mostTries = 16;

/// A workgroup of this kernel fits one wave.
bool isOneWave(const amdgcn::Kernel *kernel) {
  if (!kernel)
    return false;
  auto number = [&](std::string_view key) {
    auto found = kernel->metadata.find(key);
    return found == kernel->metadata.end() ? int64_t(0) : found->second;
  };
  int64_t most = number("max_flat_workgroup_size");
  return most > 0 && most <= number("wavefront_size");
}

} // namespace

Judge::Judge(const amdgcn::Module &module, const amdgcn::Function &function, const amdgcn::Kernel *kernel,
             Family family, const Contract &contract)
    : kernel(kernel), params(kernel ? entryOf(contract.params, function.name) : nullptr),
      kernargs(kernel ? entryOf(contract.kernargs, function.name) : nullptr), code(module, function, family),
      graph(code.blocks), pointers(code, kernel), polls(meantPolls()),
      workgroupMode(!kernel || kernel->directive("workgroup_processor_mode", 1) != 0),
      order(code, graph, pointers, polls, isOneWave(kernel)) {}

std::vector<scope::Finding> Judge::run() {
  judgePolls();
  followTickets();
  order.walk([&](uint32_t i, const OrderState &state) {
    const Effect &e = code.effects[i];
    if (e.memory == Memory::lds && (e.kind == Kind::load || e.returns))
      judgeLds(i, state);
    else if (e.kind == Kind::scalarLoad)
      judgeScalarLoad(i, state);
    else if (e.kind == Kind::load && e.shared())
      judgeLoad(i, state);
    else if (e.writes() && e.shared())
      judgeStore(i, state);
  });
  return std::move(findings);
}

Facts Judge::factsOf(uint32_t index) const {
  Facts facts;
  const Base &base = pointers.base(index);
  if (base.kind != BaseKind::argument && base.kind != BaseKind::loaded)
    return facts;
  auto take = [&](const std::map<uint32_t, ParamContract> *from, uint32_t key) {
    if (!from || !from->count(key))
      return;
    const ParamContract &said = from->at(key);
    if (said.peers)
      facts.distance = *said.peers == Peers::cta       ? Scope::cta
                       : *said.peers == Peers::cluster ? Scope::cluster
                       : *said.peers == Peers::gpu     ? Scope::gpu
                                                       : Scope::sys;
    facts.readOnly |= said.readOnlyDuringKernel;
    facts.signal |= said.signal;
  };
  if (base.argument)
    take(params, *base.argument);
  if (base.kind == BaseKind::argument || base.symbol.empty())
    take(kernargs, base.offset);
  return facts;
}

Demand Judge::demand(Scope distance) const {
  bool wide = code.family == Family::gfx1250 || workgroupMode;
  return distance == Scope::cta && !wide ? Demand{} : demandOf(code.family, distance);
}

/// A load that decides a loop waits for somebody only if it goes past a cache to him, or if a contract says that there
/// is somebody.
std::vector<Poll> Judge::meantPolls() const {
  std::vector<Poll> found = findPolls(code, graph);
  std::erase_if(found, [&](const Poll &poll) {
    const Effect &e = code.effects[poll.instruction];
    return e.kind == Kind::load && !e.scoped && !factsOf(pointers.place(poll.instruction).base).distance;
  });
  constexpr size_t most = 512; // each is held against each store
  if (found.size() > most)
    found.resize(most);
  if (code.instructions.size() <= mostFollowed) {
    addFirstTries(found);
    addTickets(found);
  }
  return found;
}

/// Blocks that end with a branch which is made of what the instruction returns.
std::vector<uint32_t> Judge::decidedBy(uint32_t i) const {
  std::vector<uint32_t> decided;
  Taint taint(code, graph, i, /*choices=*/true);
  taint.walk([&](uint32_t k, const std::vector<bool> &here) {
    if (code.effects[k].kind == Kind::conditional && taint.any(code.read(code.instructions[k], code.effects[k]), here))
      decided.push_back(code.blockOf[k]);
  });
  return decided;
}

/// A loop that waits is often entered only where a first try has failed: the same load, before it.
void Judge::addFirstTries(std::vector<Poll> &found) const {
  std::vector<Poll> tries;
  for (const FlatBlock &block : code.blocks)
    for (uint32_t i = block.first; i < block.first + block.count && tries.size() < mostTries; ++i) {
      const Effect &e = code.effects[i];
      const Place &place = pointers.place(i);
      if (e.kind != Kind::load || !e.shared() || !e.scoped || !place.known())
        continue;
      bool isPoll = std::any_of(found.begin(), found.end(), [&](const Poll &p) { return p.instruction == i; });
      auto poll = std::find_if(found.begin(), found.end(), [&](const Poll &p) {
        const Place &other = pointers.place(p.instruction);
        return !p.scalar && p.loop && other.base == place.base && other.offset == place.offset && place.offset;
      });
      if (!isPoll && poll != found.end() && !decidedBy(i).empty())
        tries.push_back({i, std::nullopt, false, poll->loop, false});
    }
  found.insert(found.end(), tries.begin(), tries.end());
}

void Judge::addTickets(std::vector<Poll> &found) const {
  size_t added = 0;
  for (uint32_t i = 0; i < code.instructions.size() && added < mostTries; ++i) {
    bool isPoll = std::any_of(found.begin(), found.end(), [&](const Poll &p) { return p.instruction == i; });
    if (isPoll || !counts(i) || !code.effects[i].shared() || decidedBy(i).empty())
      continue;
    found.push_back({i, std::nullopt, false, std::nullopt, true});
    ++added;
  }
}

/// An atomic that adds, and returns what it found.
bool Judge::counts(uint32_t i) const {
  const Effect &e = code.effects[i];
  std::string_view op = code.instructions[i].opcode;
  return e.kind == Kind::atomic && e.returns &&
         (op.find("_add") != op.npos || op.find("_sub") != op.npos || op.find("_inc") != op.npos ||
          op.find("_dec") != op.npos);
}

/// This function waits for the same memory. Flags, counters and data behind one pointer are told apart by their offset;
/// where that is computed, by the field that the instruction adds.
bool Judge::polledPlace(uint32_t i) const {
  const Place &place = pointers.place(i);
  const Effect &e = code.effects[i];
  if (!place.known())
    return false;
  return std::any_of(polls.begin(), polls.end(), [&](const Poll &poll) {
    const Place &other = pointers.place(poll.instruction);
    if (!poll.loop || other.base != place.base || poll.instruction == i)
      return false;
    if (place.offset || other.offset)
      return place.offset == other.offset && (e.kind == Kind::atomic || e.scoped || !spellsScope(code.family));
    return (e.kind == Kind::atomic || e.scoped) &&
           code.instructions[i].number("offset") == code.instructions[poll.instruction].number("offset");
  });
}

/// An atomic counter behind which caches are invalidated for its value's sake. Whoever takes the last ticket reads what
/// the others have stored; but it may be a queue, where nobody does.
bool Judge::isTicket(uint32_t i) const {
  if (!counts(i) || (order.waitSite[i] != nowhere && !order.waits[order.waitSite[i]].ticket))
    return false;
  constexpr uint32_t reachOfAcquire = 16; // as LLVM writes it: the wait, the end of a masked region, the invalidate
  bool perWorkgroup = code.family != Family::gfx90a && code.family != Family::gfx940;
  for (uint32_t k = i + 1; k < code.instructions.size() && k <= i + reachOfAcquire; ++k) {
    Kind kind = code.effects[k].kind;
    if (kind == Kind::invalidate && (code.effects[k].parts & (perWorkgroup ? 2 : 1)))
      return resultIsRead(i);
    if (kind == Kind::branch || kind == Kind::end || kind == Kind::barrier || kind == Kind::barrierSignal)
      return false;
  }
  return false;
}

Judge::Publish Judge::publishOf(uint32_t i, const OrderState &state) const {
  const Effect &e = code.effects[i];
  const Facts facts = factsOf(pointers.place(i).base);
  Publish publish;
  bool spelled = spellsScope(code.family);
  if (polledPlace(i))
    publish = {spelled ? e.reach : Scope::gpu, Evidence::polled};
  else if (e.kind == Kind::store && e.scoped && isWord(code.instructions[i].opcode))
    publish = {e.reach, Evidence::scoped};
  else if (e.kind == Kind::store && !spelled && state.writeBack != nowhere)
    publish = {Scope::sys, Evidence::released};
  else if (e.kind == Kind::atomic && state.writeBack != nowhere)
    publish = {spelled ? e.reach : Scope::sys, Evidence::released};
  else if (isTicket(i))
    publish = {spelled ? e.reach : Scope::gpu, Evidence::ticket};
  if (facts.distance && (facts.signal || publish.evidence != Evidence::none))
    publish = {*facts.distance, Evidence::contract};
  else if (facts.signal)
    publish = {std::max(publish.distance, spelled ? e.reach : Scope::gpu), Evidence::contract};
  return publish;
}

bool Judge::isData(const StoreSite &site) const {
  const Effect &e = code.effects[site.instruction];
  return e.kind == Kind::store && e.shared() && !e.scoped && !factsOf(site.base).signal &&
         !(!spellsScope(code.family) && polledPlace(site.instruction));
}

/// Only some of the waves that passed the barrier come to the signal, so that these speak for the others.
bool Judge::actsForOthers(uint32_t barrier, uint32_t publish) const {
  auto [known, added] = actsMemo.try_emplace({barrier, publish});
  if (added)
    known->second = someStayBehind(barrier, publish);
  return known->second;
}

bool Judge::someStayBehind(uint32_t barrier, uint32_t publish) const {
  uint32_t from = code.blockOf[barrier], to = code.blockOf[publish];
  auto masks = [&](uint32_t begin, uint32_t end) {
    for (uint32_t i = begin; i < end; ++i)
      if (code.effects[i].kind == Kind::none) {
        std::string_view op = code.instructions[i].opcode;
        if (op.find("saveexec") != op.npos || op.starts_with("v_cmpx"))
          return true;
      }
    return false;
  };
  if (from == to && barrier < publish)
    return masks(barrier, publish);
  if (masks(code.blocks[to].first, publish))
    return true;
  std::vector<bool> seen(code.blocks.size());
  std::vector<uint32_t> todo{from};
  seen[from] = true;
  while (!todo.empty()) {
    uint32_t b = todo.back();
    todo.pop_back();
    if (code.blocks[b].endsThread)
      return true;
    for (uint32_t next : code.blocks[b].successors)
      if (next != to && !seen[next]) {
        seen[next] = true;
        todo.push_back(next);
      }
  }
  return false;
}

/// LLVM waits right behind a volatile store, and before it for nothing.
bool Judge::looksVolatile(uint32_t i) const {
  const Effect &store = code.effects[i];
  if (store.nonTemporal)
    return true;
  const FlatBlock &block = code.blocks[code.blockOf[i]];
  for (uint32_t next = i + 1; next < block.first + block.count; ++next) {
    const Effect &e = code.effects[next];
    if (e.kind == Kind::wait && e.atMost[size_t(store.counter)] == 0)
      return store.scoped;
    if (e.kind != Kind::none && e.kind != Kind::wait)
      return false;
  }
  return false;
}

/// Something reads what an atomic returned.
bool Judge::resultIsRead(uint32_t i) const {
  std::vector<Register> results = code.written(code.instructions[i], code.effects[i]);
  auto touches = [&](const std::vector<Register> &registers) {
    return std::any_of(registers.begin(), registers.end(),
                       [&](Register r) { return std::find(results.begin(), results.end(), r) != results.end(); });
  };
  std::vector<bool> seen(code.blocks.size());
  std::vector<std::pair<uint32_t, uint32_t>> todo{{code.blockOf[i], i + 1}};
  while (!todo.empty()) {
    auto [b, from] = todo.back();
    todo.pop_back();
    bool rewritten = false;
    for (uint32_t k = from; k < code.blocks[b].first + code.blocks[b].count && !rewritten; ++k) {
      if (touches(code.read(code.instructions[k], code.effects[k])))
        return true;
      rewritten = touches(code.written(code.instructions[k], code.effects[k]));
    }
    for (uint32_t next : code.blocks[b].successors)
      if (!rewritten && !seen[next]) {
        seen[next] = true;
        todo.push_back({next, code.blocks[next].first});
      }
  }
  return code.hasCalls;
}

/// Some path from the wait leads to an invalidate outside its loop, so that its author thought of one. Behind a first
/// try that has to be one which does not lie behind the loop.
bool Judge::invalidatesLater(const WaitSite &site) const {
  auto [known, added] = laterMemo.try_emplace(site.instruction);
  if (added)
    known->second = reachesInvalidate(site);
  return known->second;
}

bool Judge::reachesInvalidate(const WaitSite &site) const {
  std::vector<bool> seen(code.blocks.size());
  std::vector<std::pair<uint32_t, uint32_t>> todo{{code.blockOf[site.instruction], site.instruction + 1}};
  while (!todo.empty()) {
    auto [b, from] = todo.back();
    todo.pop_back();
    if (!site.loop || !graph.inside(b, *site.loop))
      for (uint32_t k = from; k < code.blocks[b].first + code.blocks[b].count; ++k)
        if (code.effects[k].kind == Kind::invalidate && code.effects[k].parts)
          return true;
    for (uint32_t next : code.blocks[b].successors)
      if (!seen[next] && !(site.before && graph.inside(next, *site.before))) {
        seen[next] = true;
        todo.push_back({next, code.blocks[next].first});
      }
  }
  return false;
}

bool Judge::storedHere(uint32_t base) const {
  return base != 0 && std::any_of(order.stores.begin(), order.stores.end(), [&](const StoreSite &site) {
           return site.base == base && site.memory != Memory::lds;
         });
}

scope::Place Judge::placeOf(uint32_t i) const {
  const amdgcn::Instruction &in = code.instructions[i];
  scope::Place place{in.at.line, in.at.column, in.text(), {}, 0};
  if (auto file = code.module->files.find(in.source.file); file != code.module->files.end() && in.source.line) {
    const auto &[directory, name] = file->second;
    bool joined = !directory.empty() && !name.starts_with('/');
    place.sourceFile = joined ? fmt::format("{}/{}", directory, name) : std::string(name);
    place.sourceLine = in.source.line;
  }
  return place;
}

/// "this store to param 1".
std::string Judge::describe(uint32_t i) const {
  const Effect &e = code.effects[i];
  return fmt::format("this {} {}",
                     e.kind == Kind::store    ? "store to"
                     : e.kind == Kind::atomic ? "atomic on"
                                              : "load of",
                     nameOf(i));
}

/// One finding a rule and place; a graver one takes the place of a milder one.
void Judge::report(std::string_view rule, Severity severity, uint32_t i, std::string message, std::string fix,
                   std::initializer_list<Related> related) {
  auto [known, added] = reported.try_emplace({rule, i}, findings.size());
  if (!added && findings[known->second].severity >= severity)
    return;
  scope::Finding finding;
  finding.rule = rule;
  finding.severity = severity;
  finding.function = std::string(code.function->name);
  finding.place = placeOf(i);
  finding.message = std::move(message);
  finding.fix = std::move(fix);
  for (const Related &other : related)
    if (other.instruction != nowhere)
      finding.related.push_back({std::string(other.says), placeOf(other.instruction)});
  if (added)
    findings.push_back(std::move(finding));
  else
    findings[known->second] = std::move(finding);
}

} // namespace interlock::lint::gcn
