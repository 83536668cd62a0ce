// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// Puts together what the parts of the extraction find: graph, values, events, waits, roles, objects.
#include "analysis/Lint/Extract.h"

#include "analysis/Lint/Objects.h"
#include "analysis/Lint/Roles.h"
#include "analysis/Lint/Waits.h"

#include <fmt/format.h>

#include <algorithm>

namespace interlock::lint {
namespace {

using scope::Event;
using scope::EventKind;
using scope::Scope;

/// Of so many it is asked what becomes of their result, which looks at the whole function.
constexpr uint32_t maxRelaxedPolls = 64;

class Extractor {
public:
  Extractor(const ptx::Module &module, const ptx::Function &function, const Options &options, size_t budget,
            std::vector<bool> &inlined)
      : module(module), function(function), options(options),
        flat(std::make_shared<Flat>(flatten(module, function, budget, inlined))), graph(*flat),
        values(module, *flat, graph), waits(*flat, graph, values) {}

  Extraction run() {
    scope::Program &program = out.program;
    program.function = std::string(function.name);
    program.kernel = function.entry;
    program.clusterSize = clusterSize();
    program.strict = options.strict;
    unsigned target = targetOf(module);
    program.lockstep = target && target < 70;
    program.oneSidedFences = target >= 90 && module.version >= 86;
    if (auto threads = function.bounds.requiredThreads)
      program.threads = (*threads)[0] * (*threads)[1] * (*threads)[2];
    program.place = [flat = flat, &module = module](uint32_t node) { return placeOf(module, *flat->nodes[node].in); };
    lineOfThreads = !readsSpecial("tid", [](const ptx::Operand &o) { return o.component != 'x'; });
    if (auto threads = function.bounds.requiredThreads)
      lineOfThreads &= (*threads)[1] * (*threads)[2] == 1;
    std::vector<scope::Actor> actors = findActors(*flat, graph, values);
    program.blocks.resize(flat->blocks.size());
    std::vector<Decoded> decoded;
    for (uint32_t b = 0; b < flat->blocks.size(); ++b) {
      scope::Block &block = program.blocks[b];
      const FlatBlock &from = flat->blocks[b];
      block.first = uint32_t(program.events.size());
      block.successors = from.successors;
      block.actor = actors[b];
      if (graph.reachable(b)) {
        for (uint32_t n = from.first; n < from.first + from.count; ++n) {
          decoded.clear();
          if (!followed(n))
            decode(*flat->nodes[n].in, decoded);
          for (Decoded &d : decoded)
            addEvent(n, d);
        }
        bool hasExit = program.events.size() > block.first && program.events.back().kind == EventKind::exit;
        if (from.endsThread && !hasExit && !flat->nodes.empty()) {
          Event e;
          e.kind = EventKind::exit;
          e.origin = from.count ? from.first + from.count - 1 : uint32_t(flat->nodes.size() - 1);
          program.events.push_back(e);
        }
      }
      block.count = uint32_t(program.events.size()) - block.first;
    }
    objects();
    boundary();
    out.instructions = flat->nodes.size();
    return std::move(out);
  }

private:
  uint32_t clusterSize() const {
    if (unsigned sm = targetOf(module); sm && sm < 90)
      return 1;
    if (auto size = function.bounds.requiredCluster)
      return (*size)[0] * (*size)[1] * (*size)[2];
    return options.clusterSize;
  }
  /// A special register whose name begins like that is read somewhere.
  bool readsSpecial(std::string_view name, bool (*wanted)(const ptx::Operand &) = nullptr) const {
    return std::any_of(flat->nodes.begin(), flat->nodes.end(), [&](const Node &n) {
      return std::any_of(n.in->operands.begin(), n.in->operands.end(), [&](const ptx::Operand &o) {
        return o.kind == ptx::OperandKind::special && o.name.substr(0, name.size()) == name && (!wanted || wanted(o));
      });
    });
  }
  /// A call whose function stands behind it.
  bool followed(uint32_t node) const {
    return flat->nodes[node].in->opcode == "call" &&
           std::any_of(flat->frames.begin(), flat->frames.end(), [&](const Frame &f) { return f.callNode == node; });
  }
  void addEvent(uint32_t node, Decoded &d);
  void addUse(uint32_t event, scope::Access Event::*member, uint32_t node, const ptx::Operand *operand);
  std::optional<int64_t> constant(uint32_t node, const ptx::Operand *operand) const;
  void objects();
  scope::Object describe(const Piece &piece) const;
  void complete(scope::Access &access, const Use &use) const;
  void boundary();
  const ParamContract *contractOf(uint32_t parameter) const;

  const ptx::Module &module;
  const ptx::Function &function;
  const Options &options;
  std::shared_ptr<const Flat> flat;
  Graph graph;
  Values values;
  Waits waits;
  Extraction out;
  struct Pending {
    uint32_t event;
    scope::Access Event::*member;
  };
  std::vector<Pending> pending; ///< beside `uses`
  std::vector<Use> uses;
  uint32_t relaxedPolls = 0;
  bool lineOfThreads = true;      ///< a CTA's threads differ by %tid.x, as far as the kernel looks at it
  std::vector<ptx::Space> spaces; ///< beside `uses`: what the form names
};

std::optional<int64_t> Extractor::constant(uint32_t node, const ptx::Operand *operand) const {
  if (!operand)
    return std::nullopt;
  Value v = values.of(node, *operand);
  return v.isConstant() ? std::optional(v.constant) : std::nullopt;
}

void Extractor::addUse(uint32_t event, scope::Access Event::*member, uint32_t node, const ptx::Operand *operand) {
  if (!operand)
    return;
  Event &e = out.program.events[event];
  Use use;
  use.place = operand->kind == ptx::OperandKind::address ? values.address(node, *operand) : values.of(node, *operand);
  if (!use.place.isPlace())
    return;
  scope::Access &access = e.*member;
  use.bytes = int64_t(access.bytes) * access.elements;
  use.barrier = member == &Event::barrier;
  use.init = e.kind == EventKind::barrierInit || e.kind == EventKind::barrierInval;
  use.signal = e.kind <= EventKind::reduction && (e.order != scope::Order::weak || e.poll == scope::Poll::loop);
  access.remote = use.place.remote && out.program.clusterSize != 1;
  pending.push_back({event, member});
  uses.push_back(use);
}

void Extractor::addEvent(uint32_t node, Decoded &d) {
  Event &e = d.event;
  e.origin = node;
  if (auto count = constant(node, d.count); count && *count >= 0)
    e.count = uint32_t(*count);
  if (auto bytes = constant(node, d.bytes); bytes && *bytes > 0) {
    e.bytes = bytes;
    if (e.kind == EventKind::asyncCopy)
      e.dst.bytes = e.src.bytes = uint32_t(std::min<int64_t>(*bytes, INT32_MAX));
  }
  if (out.program.clusterSize == 1)
    e.multicast = false;
  const ptx::Operand *read = d.barrier && e.kind == EventKind::barrierWait ? d.barrier : d.src ? d.src : d.dst;
  if (d.result && read) {
    Value place = values.address(node, *read);
    WaitShape shape = waits.shapeOf(node, d, place);
    e.poll = shape.poll;
    if (e.kind == EventKind::load && e.poll == scope::Poll::loop && !acquires(e.order) &&
        ++relaxedPolls <= maxRelaxedPolls)
      e.carriesData = waits.carriesData(node, shape);
    if (e.kind == EventKind::barrierWait) {
      e.parity = waits.parityOf(node, d, shape);
      e.reusesBarrier = waits.reusesBarrier(node, place, shape);
    }
  }
  uint32_t event = uint32_t(out.program.events.size());
  out.program.events.push_back(e);
  for (auto [member, operand] : {std::pair(&Event::dst, d.dst), std::pair(&Event::src, d.src),
                                 std::pair(&Event::barrier, d.barrier), std::pair(&Event::map, d.map)}) {
    addUse(event, member, node, operand);
    spaces.resize(uses.size(), d.space);
  }
}

const ParamContract *Extractor::contractOf(uint32_t parameter) const {
  const auto &all = options.contract.params;
  auto it = all.find(function.name);
  if (it == all.end())
    it = all.find("");
  if (it == all.end())
    return nullptr;
  auto param = it->second.find(parameter);
  return param == it->second.end() ? nullptr : &param->second;
}

scope::Object Extractor::describe(const Piece &piece) const {
  const Root &root = values.root(piece.root);
  scope::Object object;
  object.name = root.kind == RootKind::dynamic ? "dynamic shared memory" : root.name;
  if (!piece.whole && piece.begin)
    object.name += fmt::format("+{}", piece.begin);
  switch (root.space) {
  case ptx::Space::shared:
    object.space = scope::Space::shared;
    break;
  case ptx::Space::global:
    object.space = scope::Space::global;
    break;
  case ptx::Space::none: // a pointer that a kernel gets or loads leads to global memory
    object.space = function.entry || (root.kind == RootKind::loaded || root.kind == RootKind::computed)
                       ? scope::Space::global
                       : scope::Space::unknown;
    break;
  default:
    object.space = scope::Space::other;
  }
  if (root.kind == RootKind::dynamic)
    object.space = scope::Space::shared;
  object.computed = root.kind == RootKind::computed;
  object.persistent = root.moduleScope && root.space == ptx::Space::global;
  if (root.parameter == ~0u || root.kind == RootKind::argument)
    return object;
  if (const ParamContract *contract = contractOf(root.parameter)) {
    if (contract->peers) {
      static constexpr Scope reach[] = {Scope::cta, Scope::cluster, Scope::gpu, Scope::sys, Scope::sys};
      object.reach = reach[size_t(*contract->peers)];
      object.nic = *contract->peers == Peers::nic;
      object.evidence = scope::Evidence::contract;
    }
    object.readOnly = contract->readOnlyDuringKernel && root.kind == RootKind::parameter;
    object.pairsAcrossKernels = contract->pairsAcrossKernels;
  }
  return object;
}

void Extractor::complete(scope::Access &access, const Use &use) const {
  const Value &v = use.place;
  access.object = use.object;
  access.formula = use.formula + 1;
  access.offset = v.constant;
  int64_t width = std::max<int64_t>(1, use.bytes), lane = 0, warp = 0, thread = 0;
  bool others = false;
  access.single = true;
  for (unsigned i = 0; i < v.count; ++i) {
    const Symbol &s = values.symbol(v.terms[i].symbol);
    int64_t factor = std::abs(v.terms[i].factor);
    access.perCta |= s.perCta;
    access.single &= s.uniform && !s.perCta && s.kind != SymbolKind::merged;
    if (s.kind == SymbolKind::special && s.special == "tid" && s.component == 'x')
      thread = factor;
    else if (s.kind == SymbolKind::special && s.special == "laneid")
      lane = factor;
    else if (s.kind == SymbolKind::special && s.special == "warp")
      warp = factor;
    else if (!s.uniform)
      others = true;
    // What is set again in a loop is an index: another element each trip.
    if (s.kind == SymbolKind::merged || s.kind == SymbolKind::product)
      access.indexed |= !s.uniform;
    if (s.kind == SymbolKind::opaque)
      access.indexed |= graph.loopOf[values.blockOf(s.a)] != Loop::none;
  }
  access.fixed = v.count == 0;
  if (v.count == 1 && lineOfThreads && values.symbol(v.terms[0].symbol).isThread() && v.terms[0].factor > 0)
    access.threadStride = uint32_t(std::min<int64_t>(thread, INT32_MAX));
  access.perThread = !others && (thread >= width || (lane >= width && warp >= 32 * lane));
}

void Extractor::objects() {
  scope::Program &program = out.program;
  std::vector<Piece> pieces = cutObjects(values, uses);
  for (const Piece &piece : pieces)
    program.objects.push_back(describe(piece));
  bool resident = readsSpecial("envreg");
  for (size_t i = 0; i < uses.size(); ++i) {
    if (uses[i].object == ~0u)
      continue;
    Event &e = program.events[pending[i].event];
    complete(e.*pending[i].member, uses[i]);
    scope::Object &object = program.objects[uses[i].object];
    if (spaces[i] == ptx::Space::shared)
      object.space = scope::Space::shared;
    else if (spaces[i] == ptx::Space::global && object.space == scope::Space::unknown)
      object.space = scope::Space::global;
    // A cooperative launch gets its workspace through %envreg.
    object.residentPeers = resident;
    bool strong = e.order != scope::Order::weak && e.order != scope::Order::isVolatile;
    if (e.kind <= EventKind::reduction && strong && e.scope == Scope::sys &&
        object.evidence == scope::Evidence::assumed) {
      object.reach = Scope::sys;
      object.evidence = scope::Evidence::seen;
    }
  }
}

void Extractor::boundary() {
  const scope::Program &program = out.program;
  for (const Event &e : program.events) {
    out.boundary.launchesDependents |= e.kind == EventKind::gridLaunch;
    if (e.dst.known() && program.objects[e.dst.object].persistent)
      out.boundary.writes.insert(program.objects[e.dst.object].name);
  }
  if (program.blocks.empty())
    return;
  std::vector<bool> seen(program.blocks.size());
  std::vector<uint32_t> todo{0};
  seen[0] = true;
  while (!todo.empty()) {
    const scope::Block &block = program.blocks[todo.back()];
    todo.pop_back();
    bool waited = false;
    for (uint32_t i = block.first; i < block.first + block.count && !waited; ++i) {
      const Event &e = program.events[i];
      waited = e.kind == EventKind::gridWait;
      if (e.src.known() && program.objects[e.src.object].persistent)
        out.boundary.readsEarly.try_emplace(program.objects[e.src.object].name, program.place(e.origin));
    }
    for (uint32_t s : block.successors)
      if (!waited && !seen[s]) {
        seen[s] = true;
        todo.push_back(s);
      }
  }
}

} // namespace

scope::Place placeOf(const ptx::Module &module, const ptx::Instruction &in) {
  scope::Place place{in.at.line, in.at.column, in.text(), {}, 0};
  for (const ptx::SourceFile &file : module.files)
    if (in.source.line && file.number == in.source.file) {
      place.sourceFile = std::string(file.path);
      place.sourceLine = in.source.line;
    }
  return place;
}

unsigned targetOf(const ptx::Module &module) {
  for (std::string_view target : module.targets)
    if (target.substr(0, 3) == "sm_") {
      unsigned sm = 0;
      for (char c : target.substr(3))
        if (c >= '0' && c <= '9')
          sm = sm * 10 + unsigned(c - '0');
      return sm;
    }
  return 0;
}

Extraction extract(const ptx::Module &module, const ptx::Function &function, const Options &options, size_t budget,
                   std::vector<bool> &inlined) {
  return Extractor(module, function, options, budget, inlined).run();
}

} // namespace interlock::lint
