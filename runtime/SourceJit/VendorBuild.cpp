// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
#include "runtime/SourceJit/VendorBuild.h"

#include "runtime/Cache/Digest.h"
#include "runtime/Spec/ElfFile.h"

#include <fstream>
#include <iterator>

namespace interlock {

std::string buildOfFile(const std::string &file) {
  if (std::string id = buildIdOfFile(file); !id.empty())
    return id;
  std::ifstream stream(file, std::ios::binary);
  return digestOf(std::string{std::istreambuf_iterator<char>(stream), {}});
}

} // namespace interlock
