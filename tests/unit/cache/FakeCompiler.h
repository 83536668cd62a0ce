// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// A compiler for tests of the cache: counts, waits, fails and changes its identity as it is told.
#pragma once

#include "runtime/Cache/Artifact.h"
#include "runtime/Cache/Compiler.h"

#include <atomic>
#include <chrono>
#include <filesystem>
#include <functional>
#include <string>

namespace interlock::test {

/// A folder of its own that goes with the object.
class TempFolder {
public:
  TempFolder();
  ~TempFolder();
  TempFolder(const TempFolder &) = delete;
  TempFolder &operator=(const TempFolder &) = delete;
  const std::filesystem::path &path() const { return folder; }
  std::string string(const char *below = "cache") const { return (folder / below).string(); }

private:
  std::filesystem::path folder;
};

class FakeCompiler final : public Compiler {
public:
  Result<std::string> identity() override;
  Result<std::map<std::string, std::string>> compile(const KernelSpec &spec,
                                                     const std::vector<std::string> &parts) override;

  std::string stated = R"({"digest":"d1","templates":"t1","llvm":"22.1.8","assembler":"none"})";
  bool missing = false;               ///< no identity, no kernels: as if there were no plugin
  std::string failure;                ///< if not empty, what compile fails with
  std::string dropped;                ///< a part that is not made
  std::chrono::milliseconds takes{0}; ///< per compilation
  std::function<void()> onCompile;    ///< called in each compilation
  std::atomic<int> compilations{0};
};

/// The parts that FakeCompiler makes: `mark` is in both the text and the meta, so a mixed pair shows.
std::string textOf(const KernelSpec &spec, const std::string &mark);
std::string metaOf(const KernelSpec &spec, const std::string &mark);
Artifact artifactOf(const KernelSpec &spec, const std::string &mark, size_t binaryBytes = 64);
/// Whether text and meta carry the same mark.
bool matches(const Artifact &artifact);

/// The `n`th of many specs that are all right and all different.
KernelSpec numbered(uint32_t n);

/// Regular files below a folder.
std::vector<std::filesystem::path> filesBelow(const std::filesystem::path &folder);
std::string slurp(const std::filesystem::path &file);
void spill(const std::filesystem::path &file, const std::string &bytes);

} // namespace interlock::test
