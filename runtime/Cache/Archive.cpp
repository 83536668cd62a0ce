// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
#include "runtime/Cache/Archive.h"

#include "runtime/Cache/Container.h"
#include "runtime/Cache/EntryFile.h"
#include "runtime/Cache/KernelCache.h"
#include "runtime/Cache/Key.h"
#include "runtime/Cache/ZstdFile.h"

#include <fmt/format.h>

#include <algorithm>

namespace interlock {
namespace {

constexpr ContainerKind archiveKind{"ILKARCHV", 1};
/// A manifest takes about 170 bytes an entry; an entry some 100 KB. What says that it is larger is no archive of ours.
constexpr uint64_t manifestLimit = uint64_t(256) << 20, entryLimit = uint64_t(256) << 20;

/// Compilers of sources, whose identities travel beside the plugin's.
constexpr const char *sourceToolchains[] = {"cuda", "hip"};

/// Describes the entries that are whole, in the order of their names.
nlohmann::json describe(const DiskStore &store, ArchiveReport &report) {
  std::vector<StoredEntry> entries = store.list();
  std::sort(entries.begin(), entries.end(), [](const auto &a, const auto &b) { return a.key < b.key; });
  nlohmann::json parts = nlohmann::json::array();
  size_t ofOtherVersions = 0;
  for (const StoredEntry &entry : entries) {
    auto bytes = store.read(entry.key);
    if (!bytes && bytes.error().absent)
      continue; // evicted meanwhile
    auto decoded = decodeEntry(bytes.value_or(""), entry.key);
    if (!decoded && decoded.error().otherVersion) {
      ++ofOtherVersions;
      continue;
    }
    if (!decoded) {
      report.problems.push_back(
          fmt::format("{} was left out: {}", entry.key, bytes ? decoded.error().sentence() : bytes.error().why));
      continue;
    }
    parts.push_back(describePart(entry.key, *bytes));
    ++report.entries;
    report.bytes += bytes->size();
  }
  if (ofOtherVersions)
    report.problems.push_back(
        fmt::format("entries that another version of Interlock wrote were left out: {}", ofOtherVersions));
  return parts;
}

/// Calls `take` with each entry of an archive, all of it checked up to there; returns the manifest.
template <typename Take> Result<nlohmann::json> forEachEntry(const std::string &file, Take take) {
  auto refuse = [&](const std::string &why) {
    return makeError(Code::badInput, fmt::format("expected a whole archive at {}, but {}", file, why));
  };
  ILK_ASSIGN_OR_RETURN(ZstdReader reader, ZstdReader::open(file));
  ILK_ASSIGN_OR_RETURN(std::string headBytes, reader.read(containerHeadSize));
  auto head = decodeHead(archiveKind, headBytes);
  if (!head)
    return refuse(head.error());
  if (auto ours = checkVersion(archiveKind, *head); !ours)
    return refuse(ours.error());
  if (head->manifestSize > manifestLimit)
    return refuse(fmt::format("its manifest would have {} bytes", head->manifestSize));
  ILK_ASSIGN_OR_RETURN(std::string manifestBytes, reader.read(head->manifestSize));
  auto manifest = decodeManifest(*head, manifestBytes);
  if (!manifest)
    return refuse(manifest.error());
  auto parts = partsOf(*manifest);
  if (!parts)
    return refuse(parts.error());
  for (const ContainerPart &part : *parts) {
    if (!isKey(part.name))
      return refuse(fmt::format("it names an entry '{}', which is no key", part.name));
    if (part.size > entryLimit)
      return refuse(fmt::format("its entry {} would have {} bytes", part.name, part.size));
    ILK_ASSIGN_OR_RETURN(std::string bytes, reader.read(part.size));
    if (auto whole = checkPart(part, bytes); !whole)
      return refuse(whole.error());
    auto entry = decodeEntry(bytes, part.name);
    if (!entry && entry.error().otherVersion)
      return makeError(Code::badInput, fmt::format("expected an archive of this version of Interlock, got that of "
                                                   "another at {} ({}): one that this version exports would do",
                                                   file, entry.error().why));
    if (!entry)
      return refuse(fmt::format("of its entry {}, {}", part.name, entry.error().sentence()));
    ILK_RETURN_IF_ERROR(take(part.name, bytes));
  }
  ILK_ASSIGN_OR_RETURN(bool end, reader.atEnd());
  if (!end)
    return refuse("it goes on behind its last entry");
  return std::move(*manifest);
}

Result<DiskStore> storeOf(const KernelCache &cache) {
  if (const DiskStore *store = cache.disk())
    return *store;
  return makeError(Code::badInput, "expected a cache with a directory, got one that is in memory only");
}

} // namespace

Result<ArchiveReport> exportEntries(const DiskStore &store, const std::string &file) {
  ArchiveReport report;
  nlohmann::json manifest = {{"parts", describe(store, report)}};
  manifest["toolchain"] = store.readToolchain().value_or("");
  for (const char *of : sourceToolchains)
    if (auto identity = store.readToolchain(of))
      manifest[of] = *identity;
  ILK_ASSIGN_OR_RETURN(ZstdWriter writer, ZstdWriter::create(file));
  ILK_RETURN_IF_ERROR(writer.write(encodeManifest(archiveKind, manifest)));
  const Decoded<std::vector<ContainerPart>> parts = partsOf(manifest);
  for (const ContainerPart &part : *parts) {
    auto bytes = store.read(part.name);
    if (!bytes || !checkPart(part, *bytes))
      return makeError(Code::device, fmt::format("expected entries that stay as they are while they are exported, but "
                                                 "{} was replaced or evicted: exporting again would do",
                                                 part.name));
    ILK_RETURN_IF_ERROR(writer.write(*bytes));
  }
  ILK_RETURN_IF_ERROR(writer.finish());
  return report;
}

Result<ArchiveReport> importEntries(const DiskStore &store, const std::string &file) {
  ILK_RETURN_IF_ERROR(forEachEntry(file, [](const std::string &, const std::string &) { return Status(); }));
  ArchiveReport report;
  auto manifest = forEachEntry(file, [&](const std::string &key, const std::string &bytes) -> Status {
    ILK_RETURN_IF_ERROR(store.publish(key, bytes));
    ++report.entries;
    report.bytes += bytes.size();
    return {};
  });
  if (!manifest)
    return tl::unexpected(manifest.error());
  for (const char *of : sourceToolchains)
    if (std::string identity = manifest->value(of, std::string()); !identity.empty() && !store.readToolchain(of))
      ILK_RETURN_IF_ERROR(store.writeToolchain(identity, of));
  std::string toolchain = manifest->value("toolchain", std::string());
  if (!toolchain.empty() && !store.readToolchain())
    ILK_RETURN_IF_ERROR(store.writeToolchain(toolchain));
  else if (toolchain != store.readToolchain())
    report.problems.push_back("the entries were made by another compiler than the one that this cache is of: only "
                              "with that one are they found");
  return report;
}

Result<ArchiveReport> exportCache(const KernelCache &cache, const std::string &file) {
  ILK_ASSIGN_OR_RETURN(DiskStore store, storeOf(cache));
  return exportEntries(store, file);
}

Result<ArchiveReport> importCache(KernelCache &cache, const std::string &file) {
  ILK_ASSIGN_OR_RETURN(DiskStore store, storeOf(cache));
  return importEntries(store, file);
}

} // namespace interlock
