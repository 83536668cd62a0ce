// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// Opens, lists and reads the kernel cache for the subcommands.
#include "runtime/tools/CacheFlags.h"

#include "runtime/Cache/EntryFile.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>

#include <unistd.h>

namespace interlock::tool {

namespace fs = std::filesystem;

namespace {
std::shared_ptr<Compiler> compilerOf(const Context &context, const std::string &templateDir) {
  return makePluginCompiler({context.compilerPath, templateDir});
}

std::optional<std::string> readFile(const std::string &path) {
  std::ifstream file(path, std::ios::binary);
  if (!file)
    return std::nullopt;
  return std::string{std::istreambuf_iterator<char>(file), {}};
}

/// Calls `visit` with each file of the cache's entries, in the order of their names.
template <typename Visit> void forEachEntry(const std::string &directory, Visit visit) {
  std::error_code error;
  std::vector<fs::path> files;
  fs::recursive_directory_iterator end, at(fs::path(directory) / "entries", error);
  for (; !error && at != end; at.increment(error))
    if (std::error_code unreadable; at->is_regular_file(unreadable))
      files.push_back(at->path());
  std::sort(files.begin(), files.end());
  for (const fs::path &file : files)
    visit(file);
}
} // namespace

Result<std::unique_ptr<KernelCache>> openCache(const Context &context, const std::string &templateDir) {
  if (std::error_code error; !templateDir.empty() && !fs::is_directory(templateDir, error))
    return makeError(Code::badInput, fmt::format("expected a directory of templates, found none at {}", templateDir));
  CacheOptions options;
  options.directory = context.cacheDir;
  options.compiler = compilerOf(context, templateDir);
  auto cache = KernelCache::open(std::move(options));
  for (const std::string &each : cache->notes())
    note("interlock: " + each);
  return cache;
}

Result<std::map<std::string, std::string>> compileParts(const Context &context, const KernelSpec &spec,
                                                        const std::string &templateDir,
                                                        const std::vector<std::string> &parts) {
  ILK_ASSIGN_OR_RETURN(auto made, compilerOf(context, templateDir)->compile(spec, parts));
  for (const std::string &part : parts)
    if (!made.count(part))
      return makeError(Code::internal, fmt::format("expected the compiler to make {}, got nothing", part));
  return made;
}

Result<std::string> compilerIdentity(const Context &context) { return compilerOf(context, {})->identity(); }

CacheState cacheState(const Context &context) {
  CacheState state{context.cacheDir};
  std::error_code error;
  if (context.cacheDir.empty()) {
    state.problem = "no folder is known: INTERLOCK_CACHE_DIR, XDG_CACHE_HOME or HOME would name one";
    return state;
  }
  // A folder that is missing will be made, so what counts is the nearest one that is there.
  fs::path nearest = fs::absolute(context.cacheDir, error);
  while (!fs::exists(nearest, error) && nearest.has_relative_path())
    nearest = nearest.parent_path();
  state.usable = fs::is_directory(nearest, error) && access(nearest.c_str(), W_OK | X_OK) == 0;
  if (!state.usable)
    state.problem = fmt::format("{} cannot be written because of {}; kernels are compiled anew each time",
                                context.cacheDir, nearest.string());
  forEachEntry(context.cacheDir, [&](const fs::path &file) {
    ++state.entries;
    std::error_code gone;
    uint64_t size = fs::file_size(file, gone);
    state.bytes += gone ? 0 : size;
  });
  return state;
}

CacheListing cachedEntries(const Context &context) {
  CacheListing listing;
  forEachEntry(context.cacheDir, [&](const fs::path &file) {
    auto bytes = readFile(file.string());
    if (!bytes)
      return; // just evicted
    std::string key = file.filename().string();
    auto entry = decodeEntry(*bytes, key);
    if (!entry) {
      listing.unlisted.push_back({key, file.string(), entry.error().sentence()});
      return;
    }
    CachedEntry seen{key, file.string(), entry->artifact.spec, bytes->size()};
    if (!entry->artifact.source.empty())
      seen.source = nlohmann::json::parse(entry->artifact.source, nullptr, /*allow_exceptions=*/false);
    listing.entries.push_back(std::move(seen));
  });
  return listing;
}

Result<Artifact> readEntry(const std::string &path) {
  auto bytes = readFile(path);
  if (!bytes)
    return makeError(Code::badInput, fmt::format("expected a readable file at {}, found none", path));
  auto artifact = decodeEntry(*bytes);
  if (!artifact)
    return makeError(Code::badInput,
                     fmt::format("expected an entry of use at {}, but {}", path, artifact.error().sentence()));
  return std::move(artifact->artifact);
}

bool looksLikeEntry(const std::string &bytes) {
  auto manifest = manifestOf(bytes);
  return manifest || manifest.error().otherVersion;
}

} // namespace interlock::tool
