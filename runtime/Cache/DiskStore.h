// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// The folder of cache entries: one file an entry, published by rename, bounded in bytes and files, locked per key.
//
//   entries/ab/abcdef…   whole entries only; nothing in progress is ever visible here
//   staging/             files being written, private to their writer
//   lock                 a byte for each key (KeyLock.h)
//   toolchain            identity of the compiler that last wrote here; toolchain.cuda of the one for CUDA source
//
// A folder that may not be written, such as one in an image that is mounted read-only, is read if it has entries.
#pragma once

#include "interlock/status.hpp"
#include "runtime/Cache/Files.h"
#include "runtime/Cache/KeyLock.h"

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace interlock {

struct DiskLimits {
  uint64_t bytes = uint64_t(1) << 30;
  uint64_t files = 10'000;
};

struct StoredEntry {
  std::string key;
  uint64_t bytes = 0;
  std::filesystem::file_time_type lastUse;
};

/// Any number of threads and processes may use one folder.
class DiskStore {
public:
  /// Makes the folders that are missing, nested ones too, and clears what writers that died left in staging. Fails if
  /// the folder can be neither written nor read.
  static Result<DiskStore> open(const std::filesystem::path &root, const DiskLimits &limits);
  /// The same folder, of which nothing is changed: not even the time of an entry's last use.
  static Result<DiskStore> openReadOnly(const std::filesystem::path &root, const DiskLimits &limits);

  /// The bytes of an entry, and marks it as used.
  tl::expected<std::string, ReadFailure> read(const std::string &key) const;
  /// Writes to staging, syncs, renames, syncs the folder, and evicts what is over the limits.
  Status publish(const std::string &key, std::string_view bytes) const;
  /// What is gone already is removed well.
  Status remove(const std::string &key) const;
  KeyLock lock(const std::string &key) const;
  /// Removes what is over these limits, least recently used first, and says how many entries that were.
  uint64_t prune(const DiskLimits &to) const;

  /// `of` is empty for the plugin, else the name of a compiler of sources.
  std::optional<std::string> readToolchain(const std::string &of = {}) const;
  Status writeToolchain(const std::string &identity, const std::string &of = {}) const;

  std::vector<StoredEntry> list() const;
  std::filesystem::path pathOf(const std::string &key) const;
  /// Why nothing can be written here; empty if it can. Then `publish` fails and `lock` is held by nobody.
  const std::string &readOnly() const { return whyReadOnly; }
  const std::filesystem::path &root() const { return folder; }

private:
  DiskStore(std::filesystem::path root, const DiskLimits &limits, std::string whyReadOnly)
      : folder(std::move(root)), limits(limits), whyReadOnly(std::move(whyReadOnly)) {}
  Status replace(const std::filesystem::path &path, std::string_view bytes) const;
  uint64_t evict(const DiskLimits &to, std::string_view keep) const;

  std::filesystem::path folder;
  DiskLimits limits;
  std::string whyReadOnly;
};

} // namespace interlock
