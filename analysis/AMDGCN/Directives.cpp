// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// Directives: sections and their data, descriptors of kernels (`.amdhsa_kernel`), metadata.
#include "analysis/AMDGCN/Parser.h"

#include <fmt/format.h>

#include <algorithm>

namespace interlock::amdgcn {
namespace {

constexpr uint64_t maxData = uint64_t(256) << 20;

/// Directives that say nothing about what the code does.
constexpr std::string_view ignored[] = {".addrsig",
                                        ".addrsig_sym",
                                        ".globl",
                                        ".global",
                                        ".weak",
                                        ".hidden",
                                        ".protected",
                                        ".internal",
                                        ".local",
                                        ".ident",
                                        ".file",
                                        ".cfi_sections",
                                        ".cfi_startproc",
                                        ".cfi_endproc",
                                        ".p2alignl",
                                        ".p2alignw",
                                        ".reloc",
                                        ".amdgpu_info",
                                        ".amdgpu_hsa_kernel",
                                        ".amd_amdgpu_isa",
                                        ".hsa_code_object_version",
                                        ".hsa_code_object_isa",
                                        ".end_amdgpu_info",
                                        ".cfi_escape",
                                        ".cfi_undefined",
                                        ".cfi_def_cfa",
                                        ".cfi_def_cfa_register",
                                        ".cfi_offset",
                                        ".cfi_endproc",
                                        ".cfi_llvm_def_aspace_cfa",
                                        ".cfi_llvm_register_pair",
                                        ".cfi_llvm_vector_registers",
                                        ".cfi_personality"};

struct Width {
  std::string_view directive;
  uint8_t bytes;
};
constexpr Width widths[] = {{".byte", 1},  {".short", 2}, {".hword", 2}, {".2byte", 2}, {".long", 4}, {".int", 4},
                            {".4byte", 4}, {".quad", 8},  {".8byte", 8}, {".xword", 8}, {".word", 4}, {".value", 2}};

std::string_view unquoted(std::string_view s) {
  return s.size() > 1 && s.front() == '"' && s.back() == '"' ? s.substr(1, s.size() - 2) : s;
}

std::string_view untilComma(Cursor &c) {
  c.skipBlanks();
  size_t begin = c.pos;
  bool quoted = false;
  for (; !c.atEnd() && (quoted || c.peek() != ','); ++c.pos)
    quoted ^= c.peek() == '"';
  std::string_view out = c.text.substr(begin, c.pos - begin);
  while (!out.empty() && (out.back() == ' ' || out.back() == '\t'))
    out.remove_suffix(1);
  c.accept(',');
  return out;
}

/// A path in quotes, as it stands; empty if none stands here.
std::string_view quoted(Cursor &c) {
  Cursor before = c;
  if (!c.accept('"'))
    return {};
  size_t begin = c.pos;
  while (!c.atEnd() && c.peek() != '"')
    ++c.pos;
  std::string_view path = c.text.substr(begin, c.pos - begin);
  if (!c.accept('"')) {
    c = before;
    return {};
  }
  return path;
}

} // namespace

std::optional<int64_t> Parser::valueOf(Cursor c) {
  auto v = evaluate(c, [&](std::string_view name) -> std::optional<int64_t> {
    auto it = module.values.find(name);
    return it == module.values.end() ? std::nullopt : std::optional(it->second);
  });
  c.skipBlanks();
  return c.atEnd() || c.peek() == ',' ? v : std::nullopt;
}

void Parser::setValue(std::string_view name, Cursor c) {
  if (auto v = valueOf(c))
    module.values[name] = *v;
  else
    lateValues.emplace_back(name, c);
}

void Parser::section(std::string_view directive, Cursor c) {
  std::string_view name = directive, flags = "a";
  bool known = directive != ".section";
  if (!known) {
    name = unquoted(untilComma(c));
    if (name.empty())
      return failHere(c, "a name behind .section");
    flags = unquoted(untilComma(c));
    known = flags.empty() && (name == ".text" || name == ".data" || name == ".rodata" || name == ".bss");
    if (known)
      flags = "a";
  }
  bool code = name == ".text" || name.starts_with(".text.") || flags.find('x') != flags.npos;
  inCode = code;
  inData = !code && flags.find('a') != flags.npos;
  if (!inData)
    return;
  auto [it, fresh] = sectionByName.emplace(name, uint32_t(module.sections.size()));
  if (fresh)
    module.sections.push_back({name});
  sectionIndex = it->second;
}

void Parser::append(const void *bytes, uint64_t size, const Location &at) {
  Section *s = current();
  if (!s)
    return;
  dataBytes += size;
  if (size > maxData || dataBytes > maxData)
    return fail(at, fmt::format("expected at most {} MiB of data", maxData >> 20));
  if (bytes) {
    s->bytes.resize(s->size);
    auto *b = static_cast<const uint8_t *>(bytes);
    s->bytes.insert(s->bytes.end(), b, b + size);
  }
  s->size += size;
}

void Parser::alignTo(uint64_t align, const Location &at) {
  Section *s = current();
  if (!s)
    return;
  s->align = std::max(s->align, align);
  if (uint64_t rest = s->size % align)
    append(nullptr, align - rest, at);
}

void Parser::data(Cursor c, uint8_t width) {
  if (!inData)
    return;
  do {
    c.skipBlanks();
    Location at = c.here();
    Cursor number = c;
    if (auto v = evaluate(number, [&](std::string_view name) -> std::optional<int64_t> {
          auto it = module.values.find(name);
          return it == module.values.end() ? std::nullopt : std::optional(it->second);
        })) {
      c = number;
      auto bits = uint64_t(*v);
      uint8_t bytes[8];
      for (unsigned i = 0; i < width; ++i)
        bytes[i] = uint8_t(bits >> 8 * i);
      append(bytes, width, at);
    } else {
      Operand o;
      if (!operand(c, o, 0))
        return;
      if (o.kind == OperandKind::symbol) {
        current()->relocations.push_back({current()->size, o.name, int64_t(o.bits), width});
      } else if (o.kind == OperandKind::real && (width == 4 || width == 8)) {
        uint8_t bytes[8];
        float f = float(o.value);
        std::copy_n(width == 4 ? reinterpret_cast<uint8_t *>(&f) : reinterpret_cast<uint8_t *>(&o.value), width, bytes);
        append(bytes, width, at);
        continue;
      } // else: a difference of labels, such as a jump table's; who reads it is told by a value of 0
      uint8_t none[8] = {};
      append(none, width, at);
      while (!c.atEnd() && c.peek() != ',')
        ++c.pos;
    }
    if (failed())
      return;
  } while (c.accept(','));
  if (!c.atEnd())
    failHere(c, "',' or the end of the line behind a value");
}

void Parser::string(Cursor c, bool terminated) {
  if (!inData)
    return;
  do {
    c.skipBlanks();
    if (c.peek() != '"')
      return failHere(c, "a quoted string");
    Location at = c.here();
    std::string out;
    for (++c.pos; !c.atEnd() && c.peek() != '"'; ++c.pos) {
      char k = c.peek();
      if (k == '\\') {
        k = c.peek(1);
        ++c.pos;
        if (k >= '0' && k <= '7') {
          unsigned v = 0, n = 0;
          for (; n < 3 && c.peek() >= '0' && c.peek() <= '7'; ++n, ++c.pos)
            v = v * 8 + unsigned(c.peek() - '0');
          --c.pos;
          k = char(v);
        } else {
          k = k == 'n' ? '\n' : k == 't' ? '\t' : k == 'r' ? '\r' : k == 'b' ? '\b' : k == 'f' ? '\f' : k;
        }
      }
      out += k;
    }
    if (!c.accept('"'))
      return failHere(c, "'\"' at the end of a string");
    append(out.data(), out.size() + terminated, at);
  } while (!failed() && c.accept(','));
}

/// `.zero n`, `.space n, value`, `.fill repeat, size, value`.
void Parser::space(Cursor c, const Location &at, bool fill) {
  if (!inData)
    return;
  std::vector<int64_t> n;
  do {
    Cursor from = c;
    untilComma(c);
    auto v = valueOf(from);
    if (!v)
      return failHere(from, "a number of bytes that can be computed");
    n.push_back(*v);
  } while (!c.atEnd());
  uint64_t size = fill && n.size() > 1 ? uint64_t(n[1]) : 1, count = uint64_t(n[0]);
  uint64_t value = uint64_t(n.size() > 1u + fill ? n[1 + fill] : 0);
  if (size == 0 || size > 8 || count > maxData)
    return fail(at, fmt::format("expected at most {} MiB of data", maxData >> 20));
  if (!value)
    return append(nullptr, size * count, at);
  uint8_t bytes[8];
  for (unsigned i = 0; i < 8; ++i)
    bytes[i] = uint8_t(value >> 8 * i);
  for (; count && !failed(); --count)
    append(bytes, size, at);
}

void Parser::kernelDirective(std::string_view name, Cursor c, const Location &at) {
  if (name == ".end_amdhsa_kernel") {
    kernel = nullptr;
    return;
  }
  if (!name.starts_with(".amdhsa_"))
    return fail(at,
                fmt::format("expected directives .amdhsa_… up to .end_amdhsa_kernel, found {}", name.substr(0, 200)));
  c.skipBlanks();
  std::string_view key = name.substr(8);
  if (auto v = valueOf(c))
    kernel->descriptor[key] = *v;
  else
    late.push_back({size_t(kernel - module.kernels.data()), key, c});
}

void Parser::directive(std::string_view name, Cursor c, Location at) {
  if (kernel)
    return kernelDirective(name, c, at);
  auto is = [&](std::initializer_list<std::string_view> names) {
    return std::find(names.begin(), names.end(), name) != names.end();
  };
  for (const Width &w : widths)
    if (w.directive == name)
      // In code it is an instruction that only its bits tell.
      return inCode && name == ".long" ? instruction(name, c, at) : data(c, w.bytes);
  if (name == ".amdgcn_target") {
    module.target = unquoted(untilComma(c));
  } else if (name == ".amdhsa_code_object_version") {
    if (auto v = valueOf(c))
      module.codeObjectVersion = uint32_t(*v);
  } else if (name == ".amdhsa_kernel") {
    c.skipBlanks();
    std::string_view symbol = c.peek() == '"' ? unquoted(untilComma(c)) : c.name();
    if (symbol.empty())
      return failHere(c, "the name of a kernel");
    for (const Kernel &k : module.kernels)
      if (k.name == symbol)
        return fail(at, fmt::format("expected one descriptor of {}", symbol.substr(0, 200)));
    kernel = &module.kernels.emplace_back();
    kernel->name = kernel->symbol = symbol;
    kernel->at = at;
  } else if (name == ".amdgpu_metadata") {
    metadata.on = true;
  } else if (name == ".amdgpu_lds") {
    Symbol s;
    s.name = untilComma(c);
    s.kind = SymbolKind::local;
    auto size = valueOf(c);
    untilComma(c);
    auto align = c.atEnd() ? std::optional<int64_t>(4) : valueOf(c);
    if (s.name.empty() || !size || !align || *size < 0 || *align <= 0 || (*align & (*align - 1)))
      return fail(at, "expected .amdgpu_lds with a name, a size and an alignment that is a power of two");
    s.size = uint64_t(*size);
    s.align = uint64_t(*align);
    if (symbolIndex.emplace(s.name, uint32_t(module.symbols.size())).second)
      module.symbols.push_back(s);
  } else if (is({".text", ".data", ".bss", ".rodata", ".section"})) {
    section(name, c);
  } else if (name == ".pushsection") {
    sectionStack.emplace_back(sectionIndex, inCode);
    section(".section", c);
  } else if (name == ".popsection") {
    if (sectionStack.empty())
      return fail(at, "expected a .pushsection before .popsection");
    std::tie(sectionIndex, inCode) = sectionStack.back();
    inData = !inCode && sectionIndex < module.sections.size();
    sectionStack.pop_back();
  } else if (name == ".type") {
    std::string_view symbol = untilComma(c), kind = untilComma(c);
    if (kind == "@function" || kind == "%function" || kind == "@gnu_indirect_function")
      isFunction[symbol] = true;
  } else if (name == ".size") {
    std::string_view symbol = untilComma(c);
    if (auto it = symbolIndex.find(symbol); it != symbolIndex.end())
      if (auto v = valueOf(c))
        module.symbols[it->second].size = uint64_t(*v);
  } else if (is({".p2align", ".align", ".balign"})) {
    Cursor first = c;
    untilComma(c);
    auto v = valueOf(first);
    if (!v || *v < 0 || (name != ".balign" ? *v > 24 : *v > (1 << 24) || *v == 0 || (*v & (*v - 1))))
      return fail(at, fmt::format("expected {} with an alignment of at most 16 MiB", name));
    alignTo(name == ".balign" ? uint64_t(*v) : uint64_t(1) << *v, at);
  } else if (is({".ascii", ".asciz", ".string"})) {
    string(c, name != ".ascii");
  } else if (is({".zero", ".space", ".skip", ".fill"})) {
    space(c, at, name == ".fill");
  } else if (is({".set", ".equ", ".equiv"})) {
    std::string_view symbol = untilComma(c);
    setValue(symbol, c);
  } else if (is({".comm", ".lcomm"})) {
    std::string_view symbol = untilComma(c);
    auto size = valueOf(c);
    if (symbol.empty() || !size || *size < 0)
      return fail(at, fmt::format("expected {} with a name and a size", name));
    auto before = std::tuple(sectionIndex, inCode, inData);
    section(".bss", c);
    alignTo(16, at);
    label(symbol, at);
    append(nullptr, uint64_t(*size), at);
    std::tie(sectionIndex, inCode, inData) = before;
  } else if (name == ".file") {
    auto number = unsignedNumber(c);
    std::string_view first = quoted(c), second = quoted(c);
    if (number) // without one it only names the input
      module.files[uint32_t(*number)] = second.empty() ? SourceFile{{}, first} : SourceFile{first, second};
  } else if (name == ".loc") {
    SourceLine s;
    for (uint32_t *into : {&s.file, &s.line, &s.column})
      if (auto n = unsignedNumber(c))
        *into = uint32_t(*n);
    source = s;
  } else if (std::find(std::begin(ignored), std::end(ignored), name) == std::end(ignored)) {
    ++module.unknownDirectives[name];
  }
}

/// The metadata is YAML (User Guide for AMDGPU Backend, "Code Object Metadata"), of which LLVM writes block mappings,
/// block sequences and plain scalars. Indentation tells the lists of a kernel from those around it.
void Parser::metadataLine(const Cursor &whole) {
  Metadata &m = metadata;
  Cursor c = whole;
  if (c.text == ".end_amdgpu_metadata") {
    m.on = m.kernels = false;
    return;
  }
  if (c.text.empty() || c.text == "---" || c.text == "...")
    return;
  uint32_t indent = c.start.column - 1;
  bool item = c.text.starts_with("- ") || c.text == "-";
  if (item) {
    ++c.pos;
    c.skipBlanks();
  }
  std::string_view key = c.name(), value;
  if (c.peek() == ':') {
    ++c.pos;
    c.skipBlanks();
    value = unquoted(c.rest());
    if (value.size() > 1 && value.front() == '\'' && value.back() == '\'')
      value = value.substr(1, value.size() - 2);
  }
  if (!item && indent == 0) {
    m.kernels = key == "amdhsa.kernels";
    m.itemIndent = 0;
    if (key == "amdhsa.target" && module.target.empty())
      module.target = value;
    return;
  }
  if (!m.kernels)
    return;
  if (item && m.itemIndent == 0)
    m.itemIndent = indent + 1; // counted from 1, so that 0 is "none yet"
  if (item && indent + 1 == m.itemIndent) {
    m.found.emplace_back();
    m.list = {};
  } else if (item && m.list == ".args" && !m.found.empty()) {
    m.found.back().arguments.emplace_back();
  }
  if (m.found.empty())
    return;
  Kernel &k = m.found.back();
  uint32_t keyColumn = item ? indent + uint32_t(c.text.find(key.empty() ? "-" : key)) : indent;
  if (keyColumn + 1 <= m.itemIndent + 2) { // a key of the kernel itself
    if (value.empty()) {
      m.list = key;
      return;
    }
    m.list = {};
    Cursor number{value, 0, {}};
    if (key == ".name")
      k.name = value;
    else if (key == ".symbol")
      k.symbol = value;
    else if (auto n = unsignedNumber(number); n && number.atEnd() && key.size() > 1)
      k.metadata[key.substr(1)] = int64_t(*n);
    else if ((value == "true" || value == "false") && key.size() > 1)
      k.metadata[key.substr(1)] = value == "true";
    return;
  }
  if (m.list != ".args" || k.arguments.empty())
    return;
  Argument &a = k.arguments.back();
  Cursor number{value, 0, {}};
  auto n = unsignedNumber(number);
  if (key == ".offset" && n)
    a.offset = uint32_t(*n);
  else if (key == ".size" && n)
    a.size = uint32_t(*n);
  else if (key == ".value_kind")
    a.valueKind = value;
  else if (key == ".name")
    a.name = value;
  else if (key == ".address_space")
    a.addressSpace = value;
}

} // namespace interlock::amdgcn
