// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
#include "runtime/Memory/UnixSocket.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <thread>

#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>

namespace interlock {

namespace {
/// Longer messages are somebody's mistake: what is exchanged at set-up is small.
constexpr uint64_t longestMessage = uint64_t(1) << 30;
/// What the kernel takes at once (SCM_MAX_FD).
constexpr size_t mostDescriptors = 253;

tl::unexpected<Error> failed(std::string_view what) {
  return makeError(Code::device, fmt::format("expected {}, could not: {}", what, std::strerror(errno)));
}

struct Address {
  sockaddr_un name{};
  socklen_t size = 0;
};

Result<Address> addressOf(const std::string &name) {
  Address address;
  address.name.sun_family = AF_UNIX;
  if (name.empty() || name.size() >= sizeof address.name.sun_path)
    return makeError(Code::badInput, fmt::format("expected a socket's name of 1 to {} bytes, got '{}'",
                                                 sizeof address.name.sun_path - 1, name));
  std::memcpy(address.name.sun_path, name.data(), name.size());
  address.size = socklen_t(offsetof(sockaddr_un, sun_path) + name.size() + 1);
  if (name[0] == '@') {
    address.name.sun_path[0] = 0;
    --address.size; // an abstract name has no end but its length
  }
  return address;
}

Result<FileDescriptor> openSocket() {
  FileDescriptor made(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (!made)
    return failed("to make a socket");
  return made;
}

Status wait(std::span<pollfd> on, const Deadline &deadline) {
  for (;;) {
    int ready = poll(on.data(), on.size(), deadline.left());
    if (ready > 0)
      return {};
    if (ready == 0)
      return makeError(Code::timeout, "a process of the group did not answer in time");
    if (errno != EINTR)
      return failed("to wait for a socket");
  }
}

Status wait(const FileDescriptor &on, short events, const Deadline &deadline) {
  pollfd waiting{on.get(), events, 0};
  return wait({&waiting, 1}, deadline);
}

tl::unexpected<Error> gone() { return makeError(Code::device, "a process of the group has ended"); }

/// Sends or receives all of `bytes` bytes. MSG_NOSIGNAL: a peer that is gone is an error, not a signal.
template <typename Call>
Status transfer(const FileDescriptor &with, short events, size_t bytes, const Deadline &deadline, Call call) {
  for (size_t done = 0; done < bytes;) {
    ILK_RETURN_IF_ERROR(wait(with, events, deadline));
    ssize_t moved = call(done, bytes - done);
    if (moved > 0)
      done += size_t(moved);
    else if (moved == 0 || errno == EPIPE || errno == ECONNRESET)
      return gone();
    else if (errno != EINTR && errno != EAGAIN)
      return failed("to use a socket");
  }
  return {};
}

Status sendAll(const FileDescriptor &to, const void *from, size_t bytes, const Deadline &deadline) {
  return transfer(to, POLLOUT, bytes, deadline, [&](size_t at, size_t left) {
    return send(to.get(), static_cast<const char *>(from) + at, left, MSG_NOSIGNAL | MSG_DONTWAIT);
  });
}

Status receiveAll(const FileDescriptor &from, void *to, size_t bytes, const Deadline &deadline) {
  return transfer(from, POLLIN, bytes, deadline, [&](size_t at, size_t left) {
    return recv(from.get(), static_cast<char *>(to) + at, left, MSG_DONTWAIT);
  });
}
} // namespace

int Deadline::left() const {
  auto now = std::chrono::steady_clock::now();
  return now >= end ? 0 : int(std::chrono::duration_cast<std::chrono::milliseconds>(end - now).count()) + 1;
}

Result<FileDescriptor> listenAt(const std::string &name, uint32_t backlog) {
  ILK_ASSIGN_OR_RETURN(Address address, addressOf(name));
  ILK_ASSIGN_OR_RETURN(FileDescriptor listener, openSocket());
  if (name[0] != '@')
    unlink(name.c_str()); // what an earlier run may have left
  if (bind(listener.get(), reinterpret_cast<const sockaddr *>(&address.name), address.size) != 0)
    return failed(fmt::format("to make the socket {}", name));
  if (listen(listener.get(), int(backlog)) != 0)
    return failed(fmt::format("to listen at {}", name));
  return listener;
}

Result<FileDescriptor> connectTo(const std::string &name, const Deadline &deadline) {
  ILK_ASSIGN_OR_RETURN(Address address, addressOf(name));
  for (;;) {
    ILK_ASSIGN_OR_RETURN(FileDescriptor made, openSocket());
    if (connect(made.get(), reinterpret_cast<const sockaddr *>(&address.name), address.size) == 0)
      return made;
    bool early = errno == ENOENT || errno == ECONNREFUSED || errno == EAGAIN || errno == EINTR;
    if (!early)
      return failed(fmt::format("to connect to {}", name));
    if (deadline.over())
      return makeError(Code::timeout, fmt::format("expected a process of the group to listen at {}, none did", name));
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
}

Result<size_t> firstReady(std::span<const FileDescriptor *const> sockets, const Deadline &deadline) {
  std::vector<pollfd> waiting;
  for (const FileDescriptor *each : sockets)
    waiting.push_back({each->get(), POLLIN, 0});
  ILK_RETURN_IF_ERROR(wait(waiting, deadline));
  return std::find_if(waiting.begin(), waiting.end(), [](const pollfd &each) { return each.revents != 0; }) -
         waiting.begin();
}

Result<FileDescriptor> acceptOne(const FileDescriptor &listener, const Deadline &deadline) {
  for (;;) {
    ILK_RETURN_IF_ERROR(wait(listener, POLLIN, deadline));
    FileDescriptor one(accept4(listener.get(), nullptr, nullptr, SOCK_CLOEXEC));
    ucred who{};
    socklen_t size = sizeof who;
    if (!one || getsockopt(one.get(), SOL_SOCKET, SO_PEERCRED, &who, &size) != 0)
      return failed("to accept a connection");
    if (who.uid == geteuid())
      return one;
  }
}

Status sendMessage(const FileDescriptor &to, std::string_view message, const Deadline &deadline) {
  uint64_t size = message.size();
  ILK_RETURN_IF_ERROR(sendAll(to, &size, sizeof size, deadline));
  return sendAll(to, message.data(), message.size(), deadline);
}

Result<std::string> receiveMessage(const FileDescriptor &from, const Deadline &deadline) {
  uint64_t size = 0;
  ILK_RETURN_IF_ERROR(receiveAll(from, &size, sizeof size, deadline));
  if (size > longestMessage)
    return makeError(Code::badInput,
                     fmt::format("expected a message of at most {} bytes, got one of {}", longestMessage, size));
  std::string message(size, 0);
  ILK_RETURN_IF_ERROR(receiveAll(from, message.data(), size, deadline));
  return message;
}

Status sendDescriptors(const FileDescriptor &to, std::string_view message,
                       std::span<const FileDescriptor> descriptors) {
  if (descriptors.size() > mostDescriptors)
    return makeError(Code::badInput,
                     fmt::format("expected at most {} descriptors, got {}", mostDescriptors, descriptors.size()));
  std::vector<int> numbers;
  for (const FileDescriptor &each : descriptors)
    numbers.push_back(each.get());
  size_t bytes = numbers.size() * sizeof(int);
  alignas(cmsghdr) char control[CMSG_SPACE(mostDescriptors * sizeof(int))] = {};
  iovec data{const_cast<char *>(message.data()), message.size()};
  msghdr header{};
  header.msg_iov = &data;
  header.msg_iovlen = 1;
  if (bytes) {
    header.msg_control = control;
    header.msg_controllen = CMSG_SPACE(bytes);
    cmsghdr *rights = CMSG_FIRSTHDR(&header);
    rights->cmsg_level = SOL_SOCKET;
    rights->cmsg_type = SCM_RIGHTS;
    rights->cmsg_len = CMSG_LEN(bytes);
    std::memcpy(CMSG_DATA(rights), numbers.data(), bytes);
  }
  ssize_t sent = sendmsg(to.get(), &header, MSG_NOSIGNAL);
  if (sent < 0)
    return failed("to hand descriptors to a process of the group");
  if (size_t(sent) != message.size())
    return makeError(Code::internal, "expected a message to fit in the socket's buffer");
  return {};
}

Result<ReceivedDescriptors> receiveDescriptors(const FileDescriptor &from, const Deadline &deadline) {
  ILK_RETURN_IF_ERROR(wait(from, POLLIN, deadline));
  alignas(cmsghdr) char control[CMSG_SPACE(mostDescriptors * sizeof(int))];
  char buffer[4096];
  iovec data{buffer, sizeof buffer};
  msghdr header{};
  header.msg_iov = &data;
  header.msg_iovlen = 1;
  header.msg_control = control;
  header.msg_controllen = sizeof control;
  ssize_t got = recvmsg(from.get(), &header, MSG_CMSG_CLOEXEC);
  if (got < 0)
    return failed("to take descriptors from a process of the group");
  ReceivedDescriptors received;
  for (cmsghdr *part = CMSG_FIRSTHDR(&header); part; part = CMSG_NXTHDR(&header, part)) {
    if (part->cmsg_level != SOL_SOCKET || part->cmsg_type != SCM_RIGHTS)
      continue;
    std::vector<int> numbers((part->cmsg_len - CMSG_LEN(0)) / sizeof(int));
    std::memcpy(numbers.data(), CMSG_DATA(part), numbers.size() * sizeof(int));
    for (int number : numbers)
      received.descriptors.emplace_back(number);
  }
  if (got == 0)
    return gone();
  if (header.msg_flags & (MSG_CTRUNC | MSG_TRUNC))
    return makeError(Code::device, "expected all descriptors of a process of the group, got a part of them; a higher "
                                   "limit of open files would do");
  received.message.assign(buffer, size_t(got));
  return received;
}

} // namespace interlock
