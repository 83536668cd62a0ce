// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// Names, widths and printing of what the PTX reader makes.
#include "analysis/PTX/Module.h"

#include <fmt/format.h>

#include <algorithm>

namespace interlock::ptx {
namespace {

struct TypeRow {
  std::string_view name;
  Type type;
  uint8_t bits;
  char family; // 'b'its, 'u'nsigned, 's'igned, 'f'loat, 'p'redicate, 'o'paque
};
constexpr TypeRow typeTable[] = {
    {"pred", Type::pred, 1, 'p'},      {"b8", Type::b8, 8, 'b'},
    {"b16", Type::b16, 16, 'b'},       {"b32", Type::b32, 32, 'b'},
    {"b64", Type::b64, 64, 'b'},       {"b128", Type::b128, 128, 'b'},
    {"u8", Type::u8, 8, 'u'},          {"u16", Type::u16, 16, 'u'},
    {"u32", Type::u32, 32, 'u'},       {"u64", Type::u64, 64, 'u'},
    {"s8", Type::s8, 8, 's'},          {"s16", Type::s16, 16, 's'},
    {"s32", Type::s32, 32, 's'},       {"s64", Type::s64, 64, 's'},
    {"f16", Type::f16, 16, 'f'},       {"f16x2", Type::f16x2, 32, 'f'},
    {"bf16", Type::bf16, 16, 'f'},     {"bf16x2", Type::bf16x2, 32, 'f'},
    {"f32", Type::f32, 32, 'f'},       {"f32x2", Type::f32x2, 64, 'f'},
    {"f64", Type::f64, 64, 'f'},       {"tf32", Type::tf32, 32, 'f'},
    {"e4m3", Type::e4m3, 8, 'f'},      {"e5m2", Type::e5m2, 8, 'f'},
    {"e4m3x2", Type::e4m3x2, 16, 'f'}, {"e5m2x2", Type::e5m2x2, 16, 'f'},
    {"e2m1x2", Type::e2m1x2, 8, 'f'},  {"e2m3x2", Type::e2m3x2, 16, 'f'},
    {"e3m2x2", Type::e3m2x2, 16, 'f'}, {"ue8m0x2", Type::ue8m0x2, 16, 'f'},
    {"u16x2", Type::u16x2, 32, 'u'},   {"s16x2", Type::s16x2, 32, 's'},
    {"texref", Type::opaque, 0, 'o'},  {"samplerref", Type::opaque, 0, 'o'},
    {"surfref", Type::opaque, 0, 'o'},
};

const TypeRow *row(Type type) {
  for (const TypeRow &r : typeTable)
    if (r.type == type)
      return &r;
  return nullptr;
}

void print(std::string &out, const Operand &o) {
  auto list = [&](char open, char close) {
    out += open;
    for (size_t i = 0; i < o.elements.size(); ++i) {
      if (i)
        out += ", ";
      print(out, o.elements[i]);
    }
    out += close;
  };
  auto offset = [&] {
    if (o.bits)
      out += fmt::format("{:+}", int64_t(o.bits));
  };
  if (o.negated)
    out += '!';
  switch (o.kind) {
  case OperandKind::reg:
  case OperandKind::special:
    if (o.kind == OperandKind::special && o.name != "WARP_SZ")
      out += '%';
    out += o.name;
    if (o.component)
      out += fmt::format(".{}", o.component);
    break;
  case OperandKind::integer:
    out += fmt::format("{}", int64_t(o.bits));
    break;
  case OperandKind::float32:
    out += fmt::format("0f{:08X}", uint32_t(o.bits));
    break;
  case OperandKind::float64:
    out += fmt::format("0d{:016X}", o.bits);
    break;
  case OperandKind::symbol:
  case OperandKind::label:
  case OperandKind::table:
  case OperandKind::name:
    out += o.name;
    if (o.kind == OperandKind::symbol)
      offset();
    break;
  case OperandKind::address:
    out += '[';
    for (size_t i = 0; i < o.elements.size(); ++i) {
      if (i)
        out += ", ";
      print(out, o.elements[i]);
      if (i == 0)
        offset();
    }
    out += ']';
    break;
  case OperandKind::vector:
    list('{', '}');
    break;
  case OperandKind::arguments:
    list('(', ')');
    break;
  case OperandKind::pair:
    for (size_t i = 0; i < o.elements.size(); ++i) {
      if (i)
        out += '|';
      print(out, o.elements[i]);
    }
    break;
  case OperandKind::sink:
    out += '_';
    break;
  }
}

} // namespace

Type parseType(std::string_view modifier) {
  for (const TypeRow &r : typeTable)
    if (r.name == modifier)
      return r.type;
  return Type::none;
}

std::string_view name(Type type) {
  const TypeRow *r = row(type);
  return r ? r->name : "none";
}

unsigned bitWidth(Type type) {
  const TypeRow *r = row(type);
  return r ? r->bits : 0;
}

bool isSigned(Type type) {
  const TypeRow *r = row(type);
  return r && r->family == 's';
}

bool isFloat(Type type) {
  const TypeRow *r = row(type);
  return r && r->family == 'f';
}

std::string_view name(Space space) {
  static constexpr std::string_view names[] = {"none",  "reg",   "sreg",   "const", "global",
                                               "local", "param", "shared", "tex"};
  return names[size_t(space)];
}

Type Instruction::type(unsigned n) const {
  for (std::string_view mod : mods)
    if (Type t = parseType(mod); t != Type::none && n-- == 0)
      return t;
  return Type::none;
}

unsigned Instruction::vectorLength() const { return has("v2") ? 2 : has("v4") ? 4 : has("v8") ? 8 : 1; }

std::string Instruction::mnemonic() const {
  std::string out(opcode);
  for (std::string_view mod : mods)
    (out += '.') += mod;
  return out;
}

std::string Instruction::text() const {
  std::string out = mnemonic();
  for (size_t i = 0; i < operands.size(); ++i) {
    out += i ? ", " : " ";
    print(out, operands[i]);
  }
  return out;
}

const Function *Module::findFunction(std::string_view wanted) const {
  for (const Function &f : functions)
    if (f.name == wanted)
      return &f;
  return nullptr;
}

const Variable *Module::findVariable(std::string_view wanted) const {
  for (const Variable &v : variables)
    if (v.name == wanted)
      return &v;
  return nullptr;
}

std::string_view Module::own(std::string_view original) {
  text = std::make_unique_for_overwrite<char[]>(original.size());
  std::copy(original.begin(), original.end(), text.get());
  return {text.get(), original.size()};
}

} // namespace interlock::ptx
