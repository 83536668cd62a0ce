// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// Only headers that can be reached from the source are given to the compiler, so that no other one is in the key.
#include "runtime/tools/SourceFlags.h"

#include <fmt/format.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <optional>
#include <regex>

namespace interlock::tool {

namespace fs = std::filesystem;

namespace {
Result<std::string> contentOf(const fs::path &file) {
  std::error_code error;
  std::ifstream stream(file, std::ios::binary);
  if (!stream.is_open() || fs::is_directory(file, error))
    return makeError(Code::badInput, fmt::format("expected to read {}, could not", file.string()));
  return std::string{std::istreambuf_iterator<char>(stream), {}};
}

/// What a text includes, in either form. What stands in a comment or an `#if` that is not taken does no harm.
std::vector<std::string> includesOf(const std::string &text) {
  static const std::regex include(R"(#[ \t]*include[ \t]*[<"]([^>"\n]+)[>"])");
  std::vector<std::string> names;
  for (std::sregex_iterator at(text.begin(), text.end(), include), end; at != end; ++at)
    names.push_back((*at)[1]);
  return names;
}

/// The headers that can be reached from a text.
class Headers {
public:
  explicit Headers(const std::vector<std::string> &folders) : folders(folders) {}

  Status addAllOf(const std::string &text, const fs::path &folder) {
    for (const std::string &name : includesOf(text)) {
      std::optional<fs::path> file = find(name, folder);
      if (!file)
        continue;
      auto [known, isNew] = files.emplace(name, *file);
      std::error_code error;
      if (!isNew && !fs::equivalent(known->second, *file, error))
        return makeError(Code::badInput, fmt::format("expected one header that is included as {}, got {} and {}: other "
                                                     "names would do",
                                                     name, known->second.string(), file->string()));
      if (!isNew)
        continue;
      ILK_ASSIGN_OR_RETURN(std::string content, contentOf(*file));
      all.push_back({name, content});
      ILK_RETURN_IF_ERROR(addAllOf(content, file->parent_path()));
    }
    return {};
  }

  std::vector<SourceText> take() { return std::move(all); }

private:
  std::optional<fs::path> find(const std::string &name, const fs::path &folder) const {
    std::error_code error;
    if (fs::is_regular_file(folder / name, error))
      return folder / name;
    for (const std::string &each : folders)
      if (fs::is_regular_file(fs::path(each) / name, error))
        return fs::path(each) / name;
    return std::nullopt;
  }

  const std::vector<std::string> &folders;
  std::map<std::string, fs::path> files;
  std::vector<SourceText> all;
};
} // namespace

void SourceFlags::addTo(CLI::App &command, CLI::App &choice) {
  choice.add_option(
      "--source", file,
      "file with the kernel: CUDA C++, compiled by NVRTC, or for an AMD chip HIP C++, compiled by hiprtc");
  command.add_option("--entry", entry, "with --source: the kernel, as the source would name it");
  command.add_option("--include", includes, "with --source: folder to look for headers in, besides the source's own");
  command.add_option("--option", options, "with --source: an option for the compiler, as in --option=-DN=4");
  command.add_option("--contract", contract, "with --source: contract file for scope-lint, with waivers");
}

Result<SourceKernel> SourceFlags::kernel(const std::string &target) const {
  if (entry.empty())
    return makeError(Code::badInput, "expected --entry NAME with --source, got none");
  for (const std::string &folder : includes)
    if (std::error_code error; !fs::is_directory(folder, error))
      return makeError(Code::badInput, fmt::format("expected a folder of headers, found none at {}", folder));
  SourceKernel kernel;
  fs::path path(file);
  kernel.source.name = path.filename().string();
  ILK_ASSIGN_OR_RETURN(kernel.source.text, contentOf(path));
  Headers headers(includes);
  ILK_RETURN_IF_ERROR(headers.addAllOf(kernel.source.text, path.parent_path()));
  kernel.headers = headers.take();
  kernel.entry = entry;
  kernel.options = options;
  kernel.target = target;
  if (!contract.empty()) {
    ILK_ASSIGN_OR_RETURN(kernel.contract, contentOf(contract));
  }
  return kernel;
}

} // namespace interlock::tool
