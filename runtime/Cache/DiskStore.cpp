// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
#include "runtime/Cache/DiskStore.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <ctime>
#include <fstream>
#include <sstream>
#include <thread>
#include <utility>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

namespace interlock {
namespace {

namespace fs = std::filesystem;

/// SHA-256 in hexadecimal digits.
constexpr size_t keySize = 64;
/// A writer that is older than this has died: publishing takes milliseconds.
constexpr auto staleAfter = std::chrono::hours(1);
/// Longer than any compilation; a holder that takes longer does not stop the others.
constexpr auto lockPatience = std::chrono::minutes(2);

tl::unexpected<Error> failed(const std::string &what) {
  return makeError(Code::device, fmt::format("could not {}: {}", what, std::strerror(errno)));
}

Status makeFolder(const fs::path &path) {
  std::error_code error;
  fs::create_directories(path, error);
  // A folder that somebody else made meanwhile is a success.
  std::error_code unseen;
  if (fs::is_directory(path, unseen))
    return {};
  if (!error)
    error = unseen;
  return makeError(Code::notFound, fmt::format("could not make the folder {}: {}", path.string(),
                                               error ? error.message() : "something else is in its place"));
}

Status makeWritable(const fs::path &root) {
  for (const char *name : {"entries", "staging", "locks"})
    ILK_RETURN_IF_ERROR(makeFolder(root / name));
  for (const char *name : {"entries", "staging"})
    if (::access((root / name).c_str(), W_OK | X_OK) != 0)
      return failed(fmt::format("write into {}", (root / name).string()));
  return {};
}

Status writeAll(int file, std::string_view bytes) {
  while (!bytes.empty()) {
    ssize_t written = ::write(file, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR)
      continue;
    if (written < 0)
      return failed("write an entry");
    bytes.remove_prefix(size_t(written));
  }
  return {};
}

/// Syncs a folder, so that a rename in it survives a crash. Some file systems cannot; the rename stands anyway.
void syncFolder(const fs::path &path) {
  int folder = ::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (folder < 0)
    return;
  (void)::fsync(folder);
  ::close(folder);
}

std::optional<std::string> readFile(const fs::path &path) {
  std::error_code error;
  if (!fs::is_regular_file(path, error))
    return std::nullopt;
  std::ifstream file(path, std::ios::binary);
  if (!file)
    return std::nullopt;
  std::ostringstream bytes;
  bytes << file.rdbuf();
  return std::move(bytes).str();
}

void clearStale(const fs::path &staging) {
  std::error_code error;
  auto limit = fs::file_time_type::clock::now() - staleAfter;
  for (fs::directory_iterator at(staging, error), end; !error && at != end; at.increment(error)) {
    std::error_code ignored;
    if (auto time = fs::last_write_time(at->path(), ignored); !ignored && time < limit)
      fs::remove(at->path(), ignored);
  }
}

} // namespace

KeyLock::~KeyLock() {
  // Closing drops the lock, also when the process dies.
  if (file >= 0)
    ::close(file);
}

Result<DiskStore> DiskStore::open(const fs::path &root, const DiskLimits &limits) {
  if (Status writable = makeWritable(root); !writable) {
    if (::access((root / "entries").c_str(), R_OK | X_OK) != 0)
      return tl::unexpected(writable.error());
    return DiskStore(root, limits, writable.error().message);
  }
  clearStale(root / "staging");
  return DiskStore(root, limits, {});
}

fs::path DiskStore::pathOf(const std::string &key) const { return folder / "entries" / key.substr(0, 2) / key; }

std::optional<std::string> DiskStore::read(const std::string &key) const {
  fs::path path = pathOf(key);
  auto bytes = readFile(path);
  if (bytes) {
    // Best effort: on a read-only folder the order of eviction does not matter.
    std::error_code ignored;
    fs::last_write_time(path, fs::file_time_type::clock::now(), ignored);
  }
  return bytes;
}

Status DiskStore::replaceFile(const fs::path &path, std::string_view bytes) const {
  if (!whyReadOnly.empty())
    return makeError(Code::device, whyReadOnly);
  ILK_RETURN_IF_ERROR(makeFolder(path.parent_path()));
  std::string name = (folder / "staging" / "XXXXXX").string();
  int file = ::mkostemp(name.data(), O_CLOEXEC);
  if (file < 0)
    return failed("make a file in the staging folder");
  Status written = writeAll(file, bytes);
  if (written && ::fchmod(file, 0644) != 0)
    written = failed("set the mode of an entry");
  // The system's own stamp may be milliseconds behind that of a `read`, and this entry then look the older one.
  timespec now[2] = {};
  if (written && ::clock_gettime(CLOCK_REALTIME, &now[1]) == 0) {
    now[0] = now[1];
    (void)::futimens(file, now);
  }
  if (written && ::fsync(file) != 0)
    written = failed("sync an entry");
  if (::close(file) != 0 && written)
    written = failed("close an entry");
  if (written) {
    std::error_code ignored;
    // A folder in the entry's place (damage) would make the rename fail for ever.
    if (fs::is_directory(path, ignored))
      fs::remove_all(path, ignored);
    if (::rename(name.c_str(), path.c_str()) != 0)
      written = failed("publish an entry");
  }
  if (!written)
    ::unlink(name.c_str());
  else
    syncFolder(path.parent_path());
  return written;
}

Status DiskStore::publish(const std::string &key, std::string_view bytes) const {
  if (bytes.size() > limits.bytes)
    return makeError(Code::badInput, fmt::format("expected an entry of at most the cache's {} bytes, got {}",
                                                 limits.bytes, bytes.size()));
  ILK_RETURN_IF_ERROR(replaceFile(pathOf(key), bytes));
  evict(key);
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
    return KeyLock(-1, false);
  fs::path path = folder / "locks" / key.substr(0, 2);
  int file = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644);
  if (file < 0)
    return KeyLock(-1, false);
  auto end = std::chrono::steady_clock::now() + lockPatience;
  while (::flock(file, LOCK_EX | LOCK_NB) != 0) {
    bool busy = errno == EWOULDBLOCK || errno == EINTR;
    if (!busy || std::chrono::steady_clock::now() > end)
      return KeyLock(file, false);
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  return KeyLock(file, true);
}

std::optional<std::string> DiskStore::readToolchain() const { return readFile(folder / "toolchain"); }

Status DiskStore::writeToolchain(const std::string &identity) const {
  if (readToolchain() == identity)
    return {};
  return replaceFile(folder / "toolchain", identity);
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
      if (entry.key.size() != keySize || shelf->path().filename() != entry.key.substr(0, 2) ||
          !at->is_regular_file(unseen))
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

void DiskStore::evict(const std::string &newest) const {
  std::vector<StoredEntry> entries = list();
  uint64_t bytes = 0, files = entries.size();
  for (const StoredEntry &entry : entries)
    bytes += entry.bytes;
  if (bytes <= limits.bytes && files <= limits.files)
    return;
  std::sort(entries.begin(), entries.end(),
            [](const StoredEntry &a, const StoredEntry &b) { return a.lastUse < b.lastUse; });
  // A reader that has the file open keeps reading it; one that comes later has a miss.
  for (const StoredEntry &entry : entries) {
    if (bytes <= limits.bytes && files <= limits.files)
      break;
    // Whatever the clocks of other writers say.
    if (entry.key == newest)
      continue;
    std::error_code ignored;
    fs::remove(pathOf(entry.key), ignored);
    bytes -= entry.bytes;
    --files;
  }
}

} // namespace interlock
