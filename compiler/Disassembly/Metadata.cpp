// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// LLVM's document of MessagePack prints YAML by recursion and compares keys of simple kinds only, so what it is given
// is looked at first.
#include "compiler/Disassembly/Metadata.h"

#include "llvm/BinaryFormat/MsgPackDocument.h"
#include "llvm/BinaryFormat/MsgPackReader.h"
#include "llvm/Support/raw_ostream.h"

#include <fmt/format.h>

#include <vector>

namespace interlock::disassembly {
namespace {

namespace msgpack = llvm::msgpack;

/// The deepest that metadata nests is a kernel's argument's fields.
constexpr size_t maxNesting = 16;

/// Whether it is one value of maps with keys that are strings, of lists and of plain values, in the bytes that are
/// there.
bool isPlain(std::string_view note) {
  struct Open {
    uint64_t left; ///< values that are still to come, keys included
    bool map;
  };
  std::vector<Open> open = {{1, false}};
  msgpack::Reader reader(llvm::StringRef(note.data(), note.size()));
  msgpack::Object value;
  while (!open.empty()) {
    if (open.back().left == 0) {
      open.pop_back();
      continue;
    }
    auto read = reader.read(value);
    if (!read) {
      llvm::consumeError(read.takeError());
      return false;
    }
    if (!*read)
      return false;
    bool key = open.back().map && open.back().left % 2 == 0;
    --open.back().left;
    if (key && value.Kind != msgpack::Type::String)
      return false;
    switch (value.Kind) {
    case msgpack::Type::Map:
    case msgpack::Type::Array: {
      uint64_t count = value.Length;
      if (count > note.size() || open.size() >= maxNesting)
        return false;
      bool map = value.Kind == msgpack::Type::Map;
      open.push_back({map ? 2 * count : count, map});
      break;
    }
    case msgpack::Type::Extension:
    case msgpack::Type::Binary:
    case msgpack::Type::Empty:
      return false;
    default:
      break;
    }
  }
  return true;
}

} // namespace

Result<std::string> metadataText(std::string_view note) {
  msgpack::Document document;
  if (!isPlain(note) || !document.readFromBlob(llvm::StringRef(note.data(), note.size()), /*Multi=*/false) ||
      !document.getRoot().isMap())
    return makeError(Code::badInput, "expected metadata of the code object in MessagePack, found something else");
  std::string text;
  llvm::raw_string_ostream stream(text);
  document.toYAML(stream);
  return text;
}

} // namespace interlock::disassembly
