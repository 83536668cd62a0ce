// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// Opcodes looked up, and each instruction decoded by its form.
#include "analysis/Emulator/AMDGCN/Decode.h"

#include <fmt/format.h>

#include <algorithm>

namespace interlock::emu::gcn {

using amdgcn::Instruction;
using amdgcn::Operand;
using amdgcn::OperandKind;

namespace {

Flow unknown(WaveExec &x, const Op &op) {
  return x.fault(op, x.wave.image->messages[op.target], ErrorKind::unsupported);
}

} // namespace

void Decoder::run() {
  auto n = uint32_t(image.module.instructions.size());
  image.code.reserve(n + 1);
  for (uint32_t i = 0; i < n; ++i) {
    at = i;
    image.code.push_back(instruction(image.module.instructions[i]));
  }
  at = n;
  image.code.push_back(refusal(nullptr, "expected the program to end with s_endpgm, found the end of the text"));
}

Op Decoder::refusal(const Instruction *in, std::string why) {
  Op op;
  op.in = in;
  op.run = unknown;
  op.target = uint32_t(image.messages.size());
  image.messages.push_back(std::move(why));
  return op;
}

void Decoder::need(std::string what) {
  if (problem.empty())
    problem = std::move(what);
}

Op Decoder::instruction(const Instruction &in, bool second) {
  problem.clear();
  std::string_view opcode = in.opcode;
  std::string single;
  if (opcode.starts_with("v_dual_")) {
    single = "v_" + std::string(opcode.substr(7));
    opcode = single;
  }
  const Entry *entry = findEntry(opcode);
  if (!entry)
    entry = findEntry(in.mnemonic);
  if (!entry)
    return refusal(&in, fmt::format("the emulator does not know {}", in.mnemonic));
  Op op;
  op.in = &in;
  op.entry = entry;
  op.run = op.entry->run;
  op.compute = op.entry->compute;
  op.compare = op.entry->compare;
  op.sub = op.entry->sub;
  switch (op.entry->form) {
  case Form::plain:
    plain(in, op);
    op.scope = uint8_t(scopeOf(in, false));
    if (op.entry->name == "buffer_wbl2" && image.target->family == Family::gfx90a)
      op.scope = uint8_t(Scope::system); // the one write-back that gfx90a has
    break;
  case Form::branch: {
    if (op.entry->dst != Ty::none && !in.operands.empty())
      op.dst = operand(in.operands[0], op.entry->dst, true);
    if (op.entry->dst != Ty::none && op.dst.kind != SrcKind::scalar)
      need("expected a scalar register as the destination");
    const Operand *o = in.operands.empty() ? nullptr : &in.operands.back();
    if (o && o->kind == OperandKind::label)
      op.target = o->index;
    else
      need("expected a label of the text");
    break;
  }
  case Form::wait:
    waits(in, op);
    break;
  default:
    memory(in, op);
  }
  if (!in.second.empty() && !second && problem.empty()) {
    Op other = instruction(in.second[0], true);
    if (other.run == unknown)
      return refusal(&in, image.messages[other.target]);
    auto single = [](const Op &o) { return (o.compute || o.entry->name == "v_cndmask_b32"); };
    if (!single(op) || !single(other))
      need("expected a pair of instructions that compute");
    op.run = findEntry("v_dual")->run;
    op.target = uint32_t(image.second.size());
    image.second.push_back(std::move(other));
  }
  if (!problem.empty())
    return refusal(&in, fmt::format("cannot run {}: {}", in.mnemonic, problem));
  return op;
}

void Decoder::placeAgprs() {
  auto place = [&](Src &s) {
    if (s.kind == SrcKind::vector && s.index >= agprBase)
      s.index += image.vgprs - agprBase;
  };
  for (auto *list : {&image.code, &image.second})
    for (Op &op : *list) {
      for (Src &s : op.src)
        place(s);
      place(op.dst);
    }
}

const Entry *findEntry(std::string_view opcode) {
  for (auto entries : {scalarEntries(), scalarFloatEntries(), controlEntries(), vectorEntries(), vectorIntegerEntries(),
                       vectorFloatEntries(), vectorHalfEntries(), vectorConvertEntries(), vectorFp8Entries(),
                       vectorCompareEntries(), vectorLaneEntries(), memoryEntries(), localEntries()}) {
    auto at = std::lower_bound(entries.begin(), entries.end(), opcode,
                               [](const Entry &entry, std::string_view name) { return entry.name < name; });
    if (at != entries.end() && at->name == opcode)
      return &*at;
  }
  return nullptr;
}

uint32_t Image::at(uint64_t wanted) const {
  auto it = std::lower_bound(address.begin(), address.end(), wanted);
  return it != address.end() && *it == wanted ? uint32_t(it - address.begin()) : uint32_t(code.size());
}

Result<std::shared_ptr<Image>> decode(amdgcn::Module module, const Target &target, uint32_t device,
                                      AddressSpace &memory, std::vector<uint64_t> &owned) {
  auto image = std::make_shared<Image>();
  image->module = std::move(module);
  image->target = &target;
  Layout layout;
  if (auto ok = layout.place(*image, device, memory, owned); !ok)
    return tl::unexpected(ok.error());
  Decoder decoder(*image, layout);
  decoder.run();
  decoder.placeAgprs();
  return image;
}

} // namespace interlock::emu::gcn
