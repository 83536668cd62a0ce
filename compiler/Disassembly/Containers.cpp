// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// Formats: Clang, "Offload Bundler" (bundled code object layout); a host program has bundles in its section
// .hip_fatbin.
#include "compiler/Disassembly/Containers.h"

#include "llvm/Object/ELF.h"
#include "llvm/Support/Endian.h"

#include <fmt/format.h>

namespace interlock::disassembly {
namespace {

using llvm::object::ELF64LE;
using llvm::object::ELFFile;

constexpr std::string_view bundleMagic = "__CLANG_OFFLOAD_BUNDLE__", compressedMagic = "CCOB",
                           elfMagic = "\x7f"
                                      "ELF";

tl::unexpected<Error> bad(std::string message) { return makeError(Code::badInput, std::move(message)); }

/// The 64-bit number at `at`, which moves behind it; false where the bytes end before.
bool number(std::string_view bytes, uint64_t &at, uint64_t &value) {
  if (bytes.size() < 8 || at > bytes.size() - 8)
    return false;
  value = llvm::support::endian::read64le(bytes.data() + at);
  at += 8;
  return true;
}

/// Adds what a bundle has for AMD GPUs; bundles may follow each other, with zeros between them.
Status addBundles(std::string_view bytes, std::vector<std::string_view> &found) {
  for (size_t at = bytes.find(bundleMagic); at != bytes.npos; at = bytes.find(bundleMagic)) {
    bytes.remove_prefix(at);
    uint64_t next = bundleMagic.size(), entries = 0, end = next;
    if (!number(bytes, next, entries))
      return bad("expected a whole offload bundle, found one that ends in its header");
    for (uint64_t i = 0; i < entries; ++i) {
      uint64_t offset = 0, size = 0, length = 0;
      if (!number(bytes, next, offset) || !number(bytes, next, size) || !number(bytes, next, length) ||
          length > bytes.size() - next || offset > bytes.size() || size > bytes.size() - offset)
        return bad(fmt::format("expected the entries of an offload bundle within its {} bytes, found entry {} beyond "
                               "them",
                               bytes.size(), i + 1));
      std::string_view name = bytes.substr(next, length), code = bytes.substr(offset, size);
      next += length;
      end = std::max({end, next, offset + size});
      if (name.find("amdgcn") != name.npos && code.starts_with(elfMagic))
        found.push_back(code);
    }
    bytes.remove_prefix(end);
  }
  return {};
}

} // namespace

Result<std::vector<std::string_view>> findCodeObjects(std::string_view bytes) {
  std::vector<std::string_view> found;
  if (bytes.starts_with(compressedMagic))
    return bad("expected an offload bundle that is not compressed, found a compressed one; -no-offload-compress would "
               "do");
  if (bytes.starts_with(bundleMagic)) {
    ILK_RETURN_IF_ERROR(addBundles(bytes, found));
    if (found.empty())
      return bad("expected a code object for an AMD GPU in the offload bundle, found none");
    return found;
  }
  if (!bytes.starts_with(elfMagic))
    return bad(
        "expected a code object (an ELF file for AMDGPU), an offload bundle, or a program with one inside, found "
        "something else");
  auto file = ELFFile<ELF64LE>::create(llvm::StringRef(bytes.data(), bytes.size()));
  if (!file) {
    llvm::consumeError(file.takeError());
    return bad("expected a whole ELF file, found one that ends in its header");
  }
  if (file->getHeader().e_machine == llvm::ELF::EM_AMDGPU)
    return std::vector{bytes};
  auto sections = file->sections();
  if (!sections)
    return bad(fmt::format("expected the sections of an ELF file, found: {}", llvm::toString(sections.takeError())));
  for (const auto &section : *sections) {
    auto name = file->getSectionName(section);
    if (!name) {
      llvm::consumeError(name.takeError());
      continue;
    }
    if (*name != ".hip_fatbin")
      continue;
    auto content = file->getSectionContents(section);
    if (!content)
      return bad(fmt::format("expected the content of .hip_fatbin, found: {}", llvm::toString(content.takeError())));
    std::string_view bundles(reinterpret_cast<const char *>(content->data()), content->size());
    if (bundles.starts_with(compressedMagic))
      return bad("expected an offload bundle that is not compressed in .hip_fatbin, found a compressed one; "
                 "-no-offload-compress would do");
    ILK_RETURN_IF_ERROR(addBundles(bundles, found));
  }
  if (found.empty())
    return bad("expected an ELF file for AMDGPU, or one with a code object for it in .hip_fatbin, found neither");
  return found;
}

} // namespace interlock::disassembly
