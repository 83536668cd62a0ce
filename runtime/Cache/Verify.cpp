// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
#include "runtime/Cache/Verify.h"

#include "runtime/Cache/EntryFile.h"
#include "runtime/Cache/Key.h"

#include <algorithm>

namespace interlock {
namespace {

namespace fs = std::filesystem;

VerifiedFile verify(const DiskStore &store, const fs::path &path) {
  std::string key = path.filename().string();
  if (!isKey(key) || store.pathOf(key) != path)
    return {path, "it is not named as an entry"};
  auto bytes = store.read(key);
  if (!bytes)
    return {path, bytes.error().absent ? "" : "it cannot be read: " + bytes.error().why};
  auto entry = decodeEntry(*bytes, key);
  if (!entry && entry.error().otherVersion)
    return {.path = path, .problem = "", .otherVersion = true};
  if (!entry)
    return {path, entry.error().sentence()};
  return {path, "", entry->identity == store.readToolchain(entry->toolchain()).value_or("")};
}

} // namespace

std::vector<VerifiedFile> verifyEntries(const DiskStore &store) {
  std::vector<VerifiedFile> files;
  const fs::path root = store.root() / "entries";
  std::error_code error;
  for (fs::directory_iterator shelf(root, error), none; !error && shelf != none; shelf.increment(error)) {
    std::error_code gone;
    if (!fs::is_directory(shelf->symlink_status(gone))) {
      files.push_back({shelf->path(), "it is not named as an entry"});
      continue;
    }
    for (fs::directory_iterator at(shelf->path(), gone), end; !gone && at != end; at.increment(gone))
      files.push_back(verify(store, at->path()));
  }
  std::sort(files.begin(), files.end(), [](const auto &a, const auto &b) { return a.path < b.path; });
  return files;
}

} // namespace interlock
