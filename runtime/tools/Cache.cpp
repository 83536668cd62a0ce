// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// `interlock cache`: what is in the kernel cache, whether it is whole, and clearing it.
#include "runtime/tools/Cache.h"

#include "runtime/Cache/Verify.h"
#include "runtime/tools/EntryView.h"

#include <fmt/format.h>

#include <filesystem>

namespace interlock::tool {

namespace fs = std::filesystem;

namespace {
Status requireFolder(const Context &context) {
  if (!context.cacheDir.empty())
    return {};
  return makeError(Code::badInput, "expected a cache folder: INTERLOCK_CACHE_DIR, XDG_CACHE_HOME or HOME would name "
                                   "one");
}
} // namespace

// The command keeps to the limits that a cache has by default; an embedder's own are the embedder's.
Result<DiskStore> openStoreToRead(const Context &context) {
  ILK_RETURN_IF_ERROR(requireFolder(context));
  auto store = DiskStore::openReadOnly(context.cacheDir, {});
  if (!store)
    return makeError(Code::badInput, store.error().message);
  return store;
}

Result<DiskStore> openStoreToWrite(const Context &context) {
  ILK_RETURN_IF_ERROR(requireFolder(context));
  ILK_ASSIGN_OR_RETURN(DiskStore store, DiskStore::open(context.cacheDir, {}));
  if (!store.readOnly().empty())
    return makeError(Code::badInput, store.readOnly());
  return store;
}

void runInto(Context &context, Status status) {
  if (!status)
    context.exitCode = fail(context, status.error());
}

namespace {

Status show(const Context &context, const std::string &what) {
  CacheListing listing = cachedEntries(context);
  ILK_ASSIGN_OR_RETURN(const CachedEntry *entry, findEntry(listing, what));
  if (!entry)
    return makeError(Code::badInput,
                     fmt::format("expected the start of an entry's name, found none that begins with '{}' in {}: "
                                 "`interlock cache ls` lists them",
                                 what, context.cacheDir));
  return showEntry(context, *entry);
}

Status verify(Context &context) {
  std::vector<VerifiedFile> files;
  // A cache that nobody has used yet is whole.
  if (std::error_code error; fs::exists(context.cacheDir, error)) {
    ILK_ASSIGN_OR_RETURN(DiskStore store, openStoreToRead(context));
    files = verifyEntries(store);
  }
  nlohmann::json problems = nlohmann::json::array();
  size_t otherVersions = 0;
  for (const VerifiedFile &file : files) {
    otherVersions += file.otherVersion;
    if (!file.problem.empty())
      problems.push_back({{"path", file.path.string()}, {"problem", file.problem}});
  }
  if (context.json)
    print({{"directory", context.cacheDir},
           {"files", files.size()},
           {"other_versions", otherVersions},
           {"problems", problems}});
  else
    for (const nlohmann::json &problem : problems)
      fmt::print("{}: {}\n", problem["path"].get<std::string>(), problem["problem"].get<std::string>());
  if (!context.json)
    fmt::print("{} entries, {} of them not whole\n", files.size(), problems.size());
  if (!context.json && otherVersions)
    fmt::print("another version of Interlock wrote {} of them, and this one never looks those up: `interlock cache "
               "prune --other-versions` would remove them\n",
               otherVersions);
  if (!problems.empty())
    context.exitCode = exitMismatch;
  return {};
}

struct PruneFlags {
  std::optional<uint64_t> maxBytes, maxFiles;
  bool damaged = false, otherVersions = false, otherCompilers = false, all = false;

  bool choose(const VerifiedFile &file) const {
    if (!file.problem.empty())
      return all || damaged;
    return all || (otherVersions && file.otherVersion) || (otherCompilers && !file.ofToolchain);
  }
  bool any() const { return maxBytes || maxFiles || damaged || otherVersions || otherCompilers || all; }
};

Status prune(const Context &context, const PruneFlags &flags) {
  if (!flags.any())
    return makeError(Code::badInput, "expected what to remove: --damaged, --other-versions, --other-compilers, "
                                     "--max-bytes, --max-files or --all");
  ILK_ASSIGN_OR_RETURN(DiskStore store, openStoreToWrite(context));
  uint64_t removed = 0;
  for (const VerifiedFile &file : verifyEntries(store)) {
    if (!flags.choose(file))
      continue;
    std::error_code error;
    removed += fs::remove_all(file.path, error) > 0 && !error;
  }
  DiskLimits limits{flags.maxBytes.value_or(UINT64_MAX), flags.maxFiles.value_or(UINT64_MAX)};
  removed += store.prune(limits);
  uint64_t bytes = 0;
  std::vector<StoredEntry> left = store.list();
  for (const StoredEntry &entry : left)
    bytes += entry.bytes;
  if (context.json)
    print({{"directory", context.cacheDir}, {"removed", removed}, {"entries", left.size()}, {"bytes", bytes}});
  else
    fmt::print("removed {}; {} entries of {} bytes are left\n", removed, left.size(), bytes);
  return {};
}

} // namespace

void addCache(CLI::App &app, Context &context) {
  CLI::App *cache = app.add_subcommand("cache", "list, verify, prune, fill and move the kernel cache");
  cache->require_subcommand(1);
  cache->fallthrough();

  CLI::App *ls = cache->add_subcommand("ls", "list the entries");
  ls->callback([&context] { listEntries(context, cachedEntries(context)); });

  CLI::App *shown = cache->add_subcommand("show", "show one entry");
  auto what = std::make_shared<std::string>();
  shown->add_option("entry", *what, "the start of its name")->required();
  shown->callback([&context, what] { runInto(context, show(context, *what)); });

  CLI::App *verified =
      cache->add_subcommand("verify", "read every entry with all its digests; exit 1 if one is damaged");
  verified->callback([&context] { runInto(context, verify(context)); });

  CLI::App *pruned = cache->add_subcommand("prune", "remove entries");
  auto flags = std::make_shared<PruneFlags>();
  pruned->add_flag("--damaged", flags->damaged, "what is no whole entry");
  pruned->add_flag("--other-versions", flags->otherVersions, "what another version of Interlock wrote");
  pruned->add_flag("--other-compilers", flags->otherCompilers, "what another compiler made than the last one here");
  pruned->add_option("--max-bytes", flags->maxBytes, "least recently used ones, until no more bytes are left");
  pruned->add_option("--max-files", flags->maxFiles, "least recently used ones, until no more entries are left");
  pruned->add_flag("--all", flags->all, "everything");
  pruned->callback([&context, flags] { runInto(context, prune(context, *flags)); });

  addCacheFill(*cache, context);
}

} // namespace interlock::tool
