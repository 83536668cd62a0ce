// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
#include "tests/unit/cache/FakeCompiler.h"

#include <fmt/format.h>

#include <cstdlib>
#include <fstream>
#include <sstream>
#include <thread>

namespace interlock::test {

namespace fs = std::filesystem;

TempFolder::TempFolder() {
  std::string name = (fs::temp_directory_path() / "interlock-test-XXXXXX").string();
  if (const char *made = ::mkdtemp(name.data()))
    folder = made;
}

TempFolder::~TempFolder() {
  std::error_code ignored;
  fs::remove_all(folder, ignored);
}

std::string textOf(const KernelSpec &spec, const std::string &mark) {
  return fmt::format("// mark {}\n.version 8.6\n// {}\n", mark, canonicalForm(spec).size());
}

std::string metaOf(const KernelSpec &spec, const std::string &mark) {
  return nlohmann::json{
      {"entry", "kernel"},       {"target", spec.target}, {"ptx_isa", "8.6"},     {"block_threads", spec.blockThreads},
      {"cluster", spec.cluster}, {"shared_bytes", 1024},  {"cooperative", false}, {"mark", mark}}
      .dump();
}

Artifact artifactOf(const KernelSpec &spec, const std::string &mark, size_t binaryBytes) {
  auto made = makeArtifact(spec, textOf(spec, mark), std::string(binaryBytes, mark.empty() ? 'x' : mark[0]),
                           metaOf(spec, mark));
  return made ? std::move(*made) : Artifact{};
}

bool matches(const Artifact &artifact) {
  std::string mark = artifact.meta.value("mark", "?");
  return artifact.text == textOf(artifact.spec, mark) &&
         artifact.binary.find_first_not_of(mark[0]) == std::string::npos;
}

Result<std::string> FakeCompiler::identity() {
  if (missing)
    return makeError(Code::notFound, "expected a compiler, found none");
  return stated;
}

Result<std::map<std::string, std::string>> FakeCompiler::compile(const KernelSpec &spec,
                                                                 const std::vector<std::string> &parts) {
  if (missing)
    return makeError(Code::notFound, "expected a compiler, found none");
  int number = ++compilations;
  if (onCompile)
    onCompile();
  std::this_thread::sleep_for(takes);
  if (!failure.empty())
    return makeError(Code::compile, failure);
  std::string mark = std::to_string(number);
  std::map<std::string, std::string> made;
  for (const std::string &part : parts)
    if (part != dropped)
      made[part] = part == "ptx" ? textOf(spec, mark) : part == "meta" ? metaOf(spec, mark) : std::string(64, mark[0]);
  return made;
}

KernelSpec numbered(uint32_t n) {
  KernelSpec spec;
  spec.layer.ranks = 8;
  spec.layer.experts = 64;
  spec.layer.topk = 8;
  spec.layer.hidden = 64;
  spec.layer.maxTokens = n + 1;
  return spec;
}

std::vector<fs::path> filesBelow(const fs::path &folder) {
  std::vector<fs::path> files;
  std::error_code error;
  for (fs::recursive_directory_iterator at(folder, error), end; !error && at != end; at.increment(error)) {
    std::error_code gone;
    if (at->is_regular_file(gone))
      files.push_back(at->path());
  }
  return files;
}

std::string slurp(const fs::path &file) {
  std::ostringstream text;
  text << std::ifstream(file, std::ios::binary).rdbuf();
  return text.str();
}

void spill(const fs::path &file, const std::string &bytes) {
  std::ofstream(file, std::ios::binary | std::ios::trunc) << bytes;
}

} // namespace interlock::test
