// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// Lines, comments, labels, and what can only be known at the end of the text.
#include "analysis/AMDGCN/Parser.h"

#include <fmt/format.h>

#include <algorithm>

namespace interlock::amdgcn {
namespace {

bool isNameStart(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '.' || c == '$';
}
bool isNameByte(char c) { return isNameStart(c) || (c >= '0' && c <= '9'); }

std::string_view trimmed(std::string_view s) {
  while (!s.empty() && (s.front() == ' ' || s.front() == '\t'))
    s.remove_prefix(1);
  while (!s.empty() && (s.back() == ' ' || s.back() == '\t' || s.back() == '\r'))
    s.remove_suffix(1);
  return s;
}

/// Shows what stands at a place in a message, however long or odd it is.
std::string shown(std::string_view rest) {
  if (rest.empty())
    return "the end of the line";
  size_t n = 0;
  while (n < rest.size() && n < 40 && rest[n] != ' ' && rest[n] != '\t' && rest[n] != ',')
    ++n;
  n = std::max<size_t>(n, 1);
  std::string out = "'";
  for (char c : rest.substr(0, n))
    out += c >= ' ' && c < 0x7f ? std::string(1, c) : fmt::format("\\x{:02x}", uint8_t(c));
  return out + (n == 40 ? "…'" : "'");
}

} // namespace

std::string ReadError::str() const { return fmt::format("{}:{}:{}: {}", file, at.line, at.column, message); }

tl::expected<Module, ReadError> read(std::string_view text, std::string_view file) { return Parser(text, file).run(); }

std::string_view Cursor::name() {
  if (!isNameStart(peek()))
    return {};
  size_t begin = pos;
  while (pos < text.size() && isNameByte(text[pos]))
    ++pos;
  return text.substr(begin, pos - begin);
}

void Parser::fail(const Location &at, std::string message) {
  if (!error)
    error = ReadError{file, at, std::move(message)};
}

void Parser::failHere(const Cursor &c, std::string_view expected) {
  fail(c.here(), fmt::format("expected {}, found {}", expected, shown(c.rest())));
}

void Parser::comment(Location at, std::string_view words, bool behindCode) {
  words = trimmed(words);
  if (behindCode)
    lineComment = words;
  module.comments.push_back({at, words, behindCode, uint32_t(module.instructions.size())});
}

/// The next line without its comments, blanks taken away in front; false at the end of the text.
bool Parser::nextLine(Cursor &out) {
  if (pos >= text.size())
    return false;
  size_t end = text.find('\n', pos);
  std::string_view whole = text.substr(pos, (end == text.npos ? text.size() : end) - pos);
  pos = end == text.npos ? text.size() : end + 1;
  ++line;
  lineComment = {};
  size_t begin = 0;
  if (inBlockComment) {
    size_t close = whole.find("*/");
    if (close == whole.npos) {
      out = {{}, 0, {line, 1}};
      return true;
    }
    inBlockComment = false;
    begin = close + 2;
  }
  size_t stop = whole.size();
  bool quoted = false;
  for (size_t i = begin; i < stop; ++i) {
    char c = whole[i];
    if (quoted) {
      if (c == '\\')
        ++i;
      else
        quoted = c != '"';
    } else if (c == '"') {
      quoted = true;
    } else if (c == ';' || (c == '/' && i + 1 < stop && whole[i + 1] == '/')) {
      bool behindCode = !trimmed(whole.substr(begin, i - begin)).empty();
      comment({line, uint32_t(i) + 1}, whole.substr(i + (c == ';' ? 1 : 2)), behindCode);
      stop = i;
    } else if (c == '/' && i + 1 < stop && whole[i + 1] == '*') {
      // Only what stands before it counts: LLVM writes such comments behind registers, within an instruction.
      size_t close = whole.find("*/", i + 2);
      if (close == whole.npos) {
        inBlockComment = true;
        stop = i;
      } else {
        i = close + 1;
      }
    }
  }
  while (begin < stop && (whole[begin] == ' ' || whole[begin] == '\t'))
    ++begin;
  std::string_view code = trimmed(whole.substr(begin, stop - begin));
  out = {code, 0, {line, uint32_t(begin) + 1}};
  return true;
}

void Parser::label(std::string_view name, Location at) {
  if (inCode) {
    if (!labelIndex.emplace(name, uint32_t(module.labels.size())).second)
      return fail(at, fmt::format("expected each label once, found {} again", name.substr(0, 200)));
    auto here = uint32_t(module.instructions.size());
    module.labels.push_back({name, here, at});
    if (auto f = isFunction.find(name); f != isFunction.end()) {
      if (!module.functions.empty() && module.functions.back().end == 0)
        module.functions.back().end = here;
      module.functions.push_back({name, here, 0, at});
    }
    return;
  }
  if (!inData)
    return;
  if (!symbolIndex.emplace(name, uint32_t(module.symbols.size())).second)
    return fail(at, fmt::format("expected each symbol once, found {} again", name.substr(0, 200)));
  module.symbols.push_back({name, SymbolKind::data, sectionIndex, current()->size});
}

void Parser::statement(Cursor c) {
  for (;;) {
    c.skipBlanks();
    if (c.atEnd() || c.peek() == '#') // remains of a preprocessor
      return;
    Location at = c.here();
    std::string_view name;
    if (c.peek() == '"') { // a quoted symbol
      size_t close = c.text.find('"', c.pos + 1);
      if (close == c.text.npos)
        return failHere(c, "a name that its second quote ends");
      name = c.text.substr(c.pos + 1, close - c.pos - 1);
      c.pos = close + 1;
      if (c.peek() != ':')
        return failHere(c, "':' behind a quoted label");
    } else {
      name = c.name();
    }
    if (name.empty() && c.peek() >= '0' && c.peek() <= '9') // a numbered label has a number for a name
      while (c.peek() >= '0' && c.peek() <= '9')
        ++c.pos, name = c.text.substr(c.pos - name.size() - 1, name.size() + 1);
    if (name.empty())
      return failHere(c, "a label, a directive or an instruction");
    if (c.peek() == ':' && c.peek(1) != ':') {
      ++c.pos;
      label(name, at);
      if (failed())
        return;
      continue;
    }
    if (name[0] == '.')
      return directive(name, c, at);
    Cursor after = c;
    after.skipBlanks();
    if (after.peek() == '=' && after.peek(1) != '=') {
      ++after.pos;
      return setValue(name, after);
    }
    if (!inCode)
      return; // of a section that is not loaded, or data that nothing reads
    return instruction(name, c, at);
  }
}

void Parser::resolve(Operand &o) {
  for (Operand &e : o.elements)
    resolve(e);
  if (o.kind != OperandKind::symbol || !o.relocation.empty())
    return;
  if (auto found = labelIndex.find(o.name); found != labelIndex.end() && o.bits == 0) {
    o.kind = OperandKind::label;
    o.index = module.labels[found->second].instruction;
  }
}

void Parser::finish() {
  auto end = uint32_t(module.instructions.size());
  for (size_t i = 0; i < module.functions.size(); ++i)
    if (module.functions[i].end == 0)
      module.functions[i].end = i + 1 < module.functions.size() ? module.functions[i + 1].begin : end;
  for (Instruction &in : module.instructions) {
    for (Operand &o : in.operands)
      resolve(o);
    for (Instruction &second : in.second)
      for (Operand &o : second.operands)
        resolve(o);
  }
  // `.set` may name values that stand further down; a chain of them takes as many rounds.
  for (bool any = true; any;) {
    any = false;
    for (auto &[name, value] : lateValues)
      if (!module.values.count(name))
        if (auto v = valueOf(value))
          any = module.values.emplace(name, *v).second;
  }
  for (Late &l : late) {
    auto v = valueOf(l.value);
    if (!v)
      return failHere(l.value, fmt::format("a value of .amdhsa_{} that can be computed", l.name));
    module.kernels[l.kernel].descriptor[l.name] = *v;
  }
  std::unordered_map<std::string_view, uint32_t> byName;
  for (size_t i = 0; i < module.functions.size(); ++i)
    byName.emplace(module.functions[i].name, uint32_t(i));
  std::unordered_map<std::string_view, uint32_t> described;
  for (size_t i = 0; i < module.kernels.size(); ++i) {
    Kernel &k = module.kernels[i];
    described.emplace(k.name, uint32_t(i));
    if (auto f = byName.find(k.name); f != byName.end())
      k.function = f->second;
  }
  for (Kernel &k : metadata.found) {
    std::string_view name =
        k.symbol.size() > 3 && k.symbol.ends_with(".kd") ? k.symbol.substr(0, k.symbol.size() - 3) : k.name;
    auto d = described.find(name);
    if (d == described.end())
      continue;
    Kernel &into = module.kernels[d->second];
    if (!k.name.empty())
      into.name = k.name;
    into.symbol = k.symbol;
    into.arguments = std::move(k.arguments);
    into.metadata = std::move(k.metadata);
  }
}

tl::expected<Module, ReadError> Parser::run() {
  // NULs behind the text are not part of it: a file's section is padded with them.
  text = text.substr(0, text.find_last_not_of('\0') + 1);
  Cursor c;
  while (!failed() && nextLine(c)) {
    if (metadata.on)
      metadataLine(c);
    else
      statement(c);
  }
  Location end{std::max(line, 1u), 1};
  if (inBlockComment)
    fail(end, "expected '*/' at the end of a comment, found the end of the text");
  if (metadata.on)
    fail(end, "expected .end_amdgpu_metadata, found the end of the text");
  if (kernel)
    fail(end, fmt::format("expected .end_amdhsa_kernel of {}, found the end of the text", kernel->name.substr(0, 200)));
  if (!failed())
    finish();
  if (failed())
    return tl::unexpected(std::move(*error));
  return std::move(module);
}

} // namespace interlock::amdgcn
