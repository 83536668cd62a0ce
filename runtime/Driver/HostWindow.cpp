// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
#include "runtime/Driver/HostWindow.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

namespace interlock {

namespace {
/// Fresh memory has a pattern, so that reading what nobody wrote shows, as the emulator's allocations have.
constexpr int freshByte = 0xa5;

tl::unexpected<Error> failed(const char *what, size_t bytes) {
  return makeError(Code::device, fmt::format("expected {} {} bytes of host memory, could not: {}", what, bytes,
                                             std::strerror(errno)));
}
} // namespace

Result<std::shared_ptr<const HostWindow>> HostWindow::map(size_t bytes, int descriptor) {
  int flags = descriptor < 0 ? MAP_PRIVATE | MAP_ANONYMOUS : MAP_SHARED;
  void *memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, flags, descriptor, 0);
  if (memory == MAP_FAILED) {
    auto error = failed("to map", bytes);
    if (descriptor >= 0)
      close(descriptor);
    return error;
  }
  return std::shared_ptr<const HostWindow>(new HostWindow(memory, bytes, descriptor));
}

Result<std::shared_ptr<const HostWindow>> HostWindow::create(size_t bytes) {
  ILK_ASSIGN_OR_RETURN(auto window, map(bytes, -1));
  std::memset(window->host(), freshByte, bytes);
  return window;
}

Result<std::shared_ptr<const HostWindow>> HostWindow::createShared(size_t bytes) {
  // Unlike private memory this is not refused when it is asked for, but ends the process when it is touched.
  if (size_t machine = size_t(sysconf(_SC_PHYS_PAGES)) * size_t(sysconf(_SC_PAGESIZE)); bytes > machine)
    return makeError(Code::device, fmt::format("expected a window within the host's {} bytes, got {}", machine, bytes));
  int descriptor = memfd_create("interlock-window", MFD_CLOEXEC);
  if (descriptor < 0)
    return failed("to share", bytes);
  if (ftruncate(descriptor, off_t(bytes)) != 0) {
    auto error = failed("to share", bytes);
    close(descriptor);
    return error;
  }
  ILK_ASSIGN_OR_RETURN(auto window, map(bytes, descriptor));
  std::memset(window->host(), freshByte, bytes);
  return window;
}

Result<std::shared_ptr<const HostWindow>> HostWindow::import(int descriptor, size_t bytes) {
  struct stat about{};
  if (fstat(descriptor, &about) != 0 || size_t(about.st_size) != bytes)
    return makeError(Code::badInput, fmt::format("expected the descriptor of a window of {} bytes, got one of {}",
                                                 bytes, about.st_size));
  int own = fcntl(descriptor, F_DUPFD_CLOEXEC, 0);
  if (own < 0)
    return failed("to import", bytes);
  return map(bytes, own);
}

HostWindow::~HostWindow() {
  munmap(memory, size);
  if (descriptor >= 0)
    close(descriptor);
}

Result<int> HostWindow::exportDescriptor() const {
  if (!shared())
    return makeError(Code::badInput, "expected a window that was made to be exported, got one of this process");
  int copy = fcntl(descriptor, F_DUPFD_CLOEXEC, 0);
  if (copy < 0)
    return failed("to export", size);
  return copy;
}

} // namespace interlock
