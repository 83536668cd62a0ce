// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// Look-ups in what the AMDGCN reader makes, and printing.
#include "analysis/AMDGCN/Module.h"

#include <fmt/format.h>

#include <algorithm>

namespace interlock::amdgcn {
namespace {

void print(std::string &out, const Operand &o) {
  if (o.negated)
    out += '-';
  if (o.absolute)
    out += '|';
  if (o.sext)
    out += "sext(";
  auto list = [&](char open, char close) {
    out += open;
    for (size_t i = 0; i < o.elements.size(); ++i) {
      if (i)
        out += ", ";
      print(out, o.elements[i]);
    }
    out += close;
  };
  switch (o.kind) {
  case OperandKind::reg: {
    static constexpr std::string_view files[] = {"v", "a", "s", "ttmp"};
    std::string_view f = files[size_t(o.file)];
    out += o.count == 1 ? fmt::format("{}{}", f, o.index) : fmt::format("{}[{}:{}]", f, o.index, o.index + o.count - 1);
    if (o.half)
      out += fmt::format(".{}", o.half);
    break;
  }
  case OperandKind::integer:
    if (int64_t(o.bits) >= -16 && int64_t(o.bits) <= 64)
      out += fmt::format("{}", int64_t(o.bits));
    else
      out += fmt::format("{:#x}", o.bits);
    break;
  case OperandKind::real:
    out += fmt::format("{}", o.value);
    break;
  case OperandKind::special:
  case OperandKind::label:
  case OperandKind::expression:
    out += o.name;
    break;
  case OperandKind::symbol:
    out += o.name;
    if (!o.relocation.empty())
      (out += '@') += o.relocation;
    if (o.bits)
      out += fmt::format("{:+}", int64_t(o.bits));
    break;
  case OperandKind::call:
    out += o.name;
    list('(', ')');
    break;
  case OperandKind::list:
    list('[', ']');
    break;
  }
  if (o.sext)
    out += ')';
  if (o.absolute)
    out += '|';
}

} // namespace

std::optional<int64_t> Instruction::argument(std::string_view name) const {
  for (const Operand &o : operands)
    if (o.kind == OperandKind::call && o.name == name && o.elements.size() == 1 &&
        o.elements[0].kind == OperandKind::integer)
      return int64_t(o.elements[0].bits);
  return {};
}

std::string Instruction::text() const {
  std::string out(mnemonic);
  for (size_t i = 0; i < operands.size(); ++i) {
    bool counter = i && operands[i].kind == OperandKind::call && operands[i - 1].kind == OperandKind::call;
    out += i == 0 || counter ? " " : ", ";
    print(out, operands[i]);
  }
  for (const Modifier &m : modifiers) {
    (out += ' ') += m.name;
    if (!m.value.empty())
      (out += ':') += m.value;
  }
  if (!second.empty())
    out += " :: " + second[0].text();
  return out;
}

uint32_t Kernel::explicitBytes() const {
  uint32_t bytes = 0;
  for (const Argument &a : arguments)
    if (!a.hidden())
      bytes = std::max(bytes, a.offset + a.size);
  return bytes;
}

std::string_view Module::processor() const {
  size_t begin = target.find("gfx");
  if (begin == target.npos)
    return {};
  return target.substr(begin, target.find(':', begin) - begin);
}

const Kernel *Module::findKernel(std::string_view wanted) const {
  for (const Kernel &k : kernels)
    if (k.name == wanted)
      return &k;
  return nullptr;
}

const Function *Module::functionOf(uint32_t instruction) const {
  auto it = std::upper_bound(functions.begin(), functions.end(), instruction,
                             [](uint32_t i, const Function &f) { return i < f.begin; });
  if (it == functions.begin() || instruction >= std::prev(it)->end)
    return nullptr;
  return &*std::prev(it);
}

const Symbol *Module::findSymbol(std::string_view wanted) const {
  for (const Symbol &s : symbols)
    if (s.name == wanted)
      return &s;
  return nullptr;
}

std::string_view Module::own(std::string_view original) {
  text = std::make_unique_for_overwrite<char[]>(original.size());
  std::copy(original.begin(), original.end(), text.get());
  return {text.get(), original.size()};
}

} // namespace interlock::amdgcn
