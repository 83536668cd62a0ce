// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
#include "runtime/Cache/DiskStore.h"

#include "runtime/Cache/Key.h"

#include <fmt/format.h>

#include <algorithm>

#include <unistd.h>

namespace interlock {
namespace {

namespace fs = std::filesystem;

/// A writer that is older than this has died: publishing takes milliseconds.
constexpr auto staleAfter = std::chrono::hours(1);
/// Longer than any compilation; a holder that takes longer does not stop the others.
constexpr auto lockPatience = std::chrono::minutes(2);
/// An identity is a short JSON object.
constexpr uint64_t toolchainLimit = 1 << 16;

std::string toolchainFile(const std::string &of) { return of.empty() ? "toolchain" : "toolchain." + of; }

Status makeWritable(const fs::path &root) {
  for (const char *name : {"entries", "staging"}) {
    ILK_RETURN_IF_ERROR(makeFolder(root / name));
    if (::access((root / name).c_str(), W_OK | X_OK) != 0)
      return systemError(fmt::format("write into {}", (root / name).string()));
  }
  return {};
}

/// Whether a stamp lies ahead of the clock by more than clocks of one cluster differ: the clock was set back, and the
/// stamp says nothing of its age.
bool isAhead(fs::file_time_type stamp) { return stamp > fs::file_time_type::clock::now() + staleAfter; }

void clearStale(const fs::path &staging) {
  std::error_code error;
  auto limit = fs::file_time_type::clock::now() - staleAfter;
  for (fs::directory_iterator at(staging, error), end; !error && at != end; at.increment(error)) {
    std::error_code ignored;
    if (auto time = fs::last_write_time(at->path(), ignored); !ignored && (time < limit || isAhead(time)))
      fs::remove(at->path(), ignored);
  }
}

bool canBeRead(const fs::path &root) { return ::access((root / "entries").c_str(), R_OK | X_OK) == 0; }

} // namespace

Result<DiskStore> DiskStore::open(const fs::path &root, const DiskLimits &limits) {
  if (Status writable = makeWritable(root); !writable) {
    if (!canBeRead(root))
      return tl::unexpected(writable.error());
    return DiskStore(root, limits, writable.error().message);
  }
  clearStale(root / "staging");
  return DiskStore(root, limits, {});
}

Result<DiskStore> DiskStore::openReadOnly(const fs::path &root, const DiskLimits &limits) {
  if (!canBeRead(root))
    return systemError(fmt::format("read {}", (root / "entries").string()));
  return DiskStore(root, limits, "it was opened read only");
}

fs::path DiskStore::pathOf(const std::string &key) const { return folder / "entries" / key.substr(0, 2) / key; }

tl::expected<std::string, ReadFailure> DiskStore::read(const std::string &key) const {
  fs::path path = pathOf(key);
  auto bytes = readRegularFile(path, limits.bytes);
  if (bytes && whyReadOnly.empty()) {
    // Best effort: it only orders the eviction.
    std::error_code ignored;
    fs::last_write_time(path, fs::file_time_type::clock::now(), ignored);
  }
  return bytes;
}

Status DiskStore::replace(const fs::path &path, std::string_view bytes) const {
  if (!whyReadOnly.empty())
    return makeError(Code::device, fmt::format("could not write into {}: {}", folder.string(), whyReadOnly));
  // The folder may have been cleared under a running process.
  for (const fs::path &needed : {folder / "staging", folder / "entries", path.parent_path()})
    ILK_RETURN_IF_ERROR(makeFolder(needed));
  return replaceFile(folder / "staging", path, bytes);
}

Status DiskStore::publish(const std::string &key, std::string_view bytes) const {
  if (bytes.size() > limits.bytes)
    return makeError(Code::badInput, fmt::format("expected an entry of at most the cache's {} bytes, got {}",
                                                 limits.bytes, bytes.size()));
  ILK_RETURN_IF_ERROR(replace(pathOf(key), bytes));
  evict(limits, key);
  return {};
}

Status DiskStore::remove(const std::string &key) const {
  std::error_code error;
  fs::remove_all(pathOf(key), error);
  if (error)
    return makeError(Code::device, fmt::format("could not remove the entry {}: {}", key, error.message()));
  return {};
}

KeyLock DiskStore::lock(const std::string &key) const {
  if (!whyReadOnly.empty())
    return KeyLock::none(whyReadOnly);
  return KeyLock::acquire(folder / "lock", key, lockPatience);
}

std::optional<std::string> DiskStore::readToolchain(const std::string &of) const {
  auto bytes = readRegularFile(folder / toolchainFile(of), toolchainLimit);
  return bytes ? std::optional(std::move(*bytes)) : std::nullopt;
}

Status DiskStore::writeToolchain(const std::string &identity, const std::string &of) const {
  if (readToolchain(of) == identity)
    return {};
  return replace(folder / toolchainFile(of), identity);
}

std::vector<StoredEntry> DiskStore::list() const {
  std::vector<StoredEntry> entries;
  std::error_code error;
  for (fs::directory_iterator shelf(folder / "entries", error), none; !error && shelf != none; shelf.increment(error)) {
    // What goes while we look, or was never an entry, is simply not listed.
    std::error_code gone;
    for (fs::directory_iterator at(shelf->path(), gone), end; !gone && at != end; at.increment(gone)) {
      std::error_code unseen;
      StoredEntry entry{at->path().filename().string(), 0, {}};
      if (!isKey(entry.key) || shelf->path().filename() != entry.key.substr(0, 2) ||
          !fs::is_regular_file(at->symlink_status(unseen)))
        continue;
      entry.bytes = at->file_size(unseen);
      if (!unseen)
        entry.lastUse = at->last_write_time(unseen);
      if (!unseen)
        entries.push_back(std::move(entry));
    }
  }
  return entries;
}

uint64_t DiskStore::prune(const DiskLimits &to) const { return evict(to, {}); }

uint64_t DiskStore::evict(const DiskLimits &to, std::string_view keep) const {
  std::vector<StoredEntry> entries = list();
  uint64_t bytes = 0, files = entries.size(), gone = 0;
  for (StoredEntry &entry : entries) {
    bytes += entry.bytes;
    // Else the clock, set back, would keep an entry that nobody uses for as long as it was set back.
    if (isAhead(entry.lastUse))
      entry.lastUse = fs::file_time_type::min();
  }
  if (bytes <= to.bytes && files <= to.files)
    return 0;
  std::sort(entries.begin(), entries.end(),
            [](const StoredEntry &a, const StoredEntry &b) { return a.lastUse < b.lastUse; });
  // A reader that has the file open keeps reading it; one that comes later has a miss.
  for (const StoredEntry &entry : entries) {
    if (bytes <= to.bytes && files <= to.files)
      break;
    // Whatever the clocks of other writers say.
    if (entry.key == keep)
      continue;
    std::error_code ignored;
    gone += fs::remove(pathOf(entry.key), ignored);
    bytes -= entry.bytes;
    --files;
  }
  return gone;
}

} // namespace interlock
