// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
#include "runtime/Cache/Files.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <ctime>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace interlock {

namespace fs = std::filesystem;

namespace {

/// Closes a file at the end of a scope, unless it was closed before.
class OpenFile {
public:
  explicit OpenFile(int file) : file(file) {}
  OpenFile(const OpenFile &) = delete;
  OpenFile &operator=(const OpenFile &) = delete;
  ~OpenFile() {
    if (file >= 0)
      ::close(file);
  }
  int get() const { return file; }
  int close() { return ::close(std::exchange(file, -1)); }

private:
  int file;
};

Status writeAll(int file, std::string_view bytes) {
  while (!bytes.empty()) {
    ssize_t written = ::write(file, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR)
      continue;
    if (written < 0)
      return systemError("write an entry");
    bytes.remove_prefix(size_t(written));
  }
  return {};
}

Status fillFile(OpenFile &file, std::string_view bytes) {
  ILK_RETURN_IF_ERROR(writeAll(file.get(), bytes));
  if (::fchmod(file.get(), 0644) != 0)
    return systemError("set the mode of an entry");
  // The system's own stamp may be milliseconds behind that of a `read`, and this entry then look the older one.
  timespec now[2] = {};
  if (::clock_gettime(CLOCK_REALTIME, &now[1]) == 0) {
    now[0] = now[1];
    (void)::futimens(file.get(), now);
  }
  if (::fsync(file.get()) != 0)
    return systemError("sync an entry");
  if (file.close() != 0)
    return systemError("close an entry");
  return {};
}

/// Syncs a folder, so that a rename in it survives a crash. Some file systems cannot; the rename stands anyway.
void syncFolder(const fs::path &path) {
  OpenFile folder(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (folder.get() >= 0)
    (void)::fsync(folder.get());
}

} // namespace

tl::unexpected<Error> systemError(const std::string &what) {
  return makeError(Code::device, fmt::format("could not {}: {}", what, std::strerror(errno)));
}

Status makeFolder(const fs::path &path) {
  std::error_code error;
  fs::create_directories(path, error);
  std::error_code unseen;
  if (fs::is_directory(path, unseen))
    return {};
  if (!error)
    error = unseen;
  return makeError(Code::notFound, fmt::format("could not make the folder {}: {}", path.string(),
                                               error ? error.message() : "something else is in its place"));
}

tl::expected<std::string, ReadFailure> readRegularFile(const fs::path &path, uint64_t limit) {
  auto refuse = [](std::string why) { return tl::unexpected(ReadFailure{false, std::move(why)}); };
  // O_NONBLOCK: a FIFO would wait for a writer.
  OpenFile file(::open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  if (file.get() < 0 && (errno == ENOENT || errno == ENOTDIR))
    return tl::unexpected(ReadFailure{true, "there is none"});
  if (file.get() < 0)
    return refuse(errno == ELOOP ? "it is a link" : std::strerror(errno));
  struct stat status{};
  if (::fstat(file.get(), &status) != 0)
    return refuse(std::strerror(errno));
  if (!S_ISREG(status.st_mode))
    return refuse("it is no regular file");
  if (uint64_t(status.st_size) > limit)
    return refuse(fmt::format("it has {} bytes, more than the {} that there may be", status.st_size, limit));
  std::string bytes(size_t(status.st_size), '\0');
  size_t at = 0;
  while (at < bytes.size()) {
    ssize_t got = ::read(file.get(), bytes.data() + at, bytes.size() - at);
    if (got < 0 && errno == EINTR)
      continue;
    if (got < 0)
      return refuse(std::strerror(errno));
    if (got == 0)
      break;
    at += size_t(got);
  }
  bytes.resize(at); // it may have been cut meanwhile: its digests will say
  return bytes;
}

Status replaceFile(const fs::path &staging, const fs::path &path, std::string_view bytes) {
  std::string name = (staging / "XXXXXX").string();
  OpenFile file(::mkostemp(name.data(), O_CLOEXEC));
  if (file.get() < 0)
    return systemError("make a file in the staging folder");
  Status written = fillFile(file, bytes);
  if (written) {
    std::error_code ignored;
    // A folder in the entry's place (damage) would make the rename fail for ever.
    if (fs::is_directory(fs::symlink_status(path, ignored)))
      fs::remove_all(path, ignored);
    if (::rename(name.c_str(), path.c_str()) != 0)
      written = systemError("publish an entry");
  }
  if (!written)
    ::unlink(name.c_str());
  else
    syncFolder(path.parent_path());
  return written;
}

} // namespace interlock
