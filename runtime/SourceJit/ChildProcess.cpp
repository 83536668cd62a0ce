// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// Request, reply and output are files in memory: however much is written, nobody waits for a reader.
#include "runtime/SourceJit/ChildProcess.h"

#include <fmt/format.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <vector>

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

namespace interlock {

namespace {
using Clock = std::chrono::steady_clock;

tl::unexpected<Error> failed(const char *what, int error) {
  return makeError(Code::internal, fmt::format("expected to {}, could not: {}", what, std::strerror(error)));
}

class Descriptor {
public:
  explicit Descriptor(int number = -1) : number(number) {}
  Descriptor(const Descriptor &) = delete;
  Descriptor &operator=(const Descriptor &) = delete;
  ~Descriptor() { reset(); }
  int get() const { return number; }
  void reset(int other = -1) {
    if (number >= 0)
      ::close(number);
    number = other;
  }

private:
  int number;
};

Status makeFile(Descriptor &file, std::string_view content = {}) {
  file.reset(::memfd_create("interlock", MFD_CLOEXEC));
  if (file.get() < 0)
    return failed("make a file in memory", errno);
  for (size_t at = 0; at < content.size();) {
    ssize_t written = ::pwrite(file.get(), content.data() + at, content.size() - at, off_t(at));
    if (written < 0 && errno != EINTR)
      return failed("write a request into memory", errno);
    at += size_t(std::max<ssize_t>(written, 0));
  }
  return {};
}

/// At most the last `most` bytes.
std::string endOf(const Descriptor &file, size_t most) {
  struct stat status{};
  if (::fstat(file.get(), &status) != 0)
    return {};
  size_t size = size_t(status.st_size), from = size > most ? size - most : 0;
  std::string bytes(size - from, '\0');
  size_t got = 0;
  while (got < bytes.size()) {
    ssize_t n = ::pread(file.get(), bytes.data() + got, bytes.size() - got, off_t(from + got));
    if (n <= 0 && !(n < 0 && errno == EINTR))
      break;
    got += size_t(std::max<ssize_t>(n, 0));
  }
  bytes.resize(got);
  return bytes;
}

/// File actions and attributes of posix_spawn, and what they are destroyed with.
struct Spawn {
  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;
  Spawn() {
    ::posix_spawn_file_actions_init(&actions);
    ::posix_spawnattr_init(&attributes);
  }
  Spawn(const Spawn &) = delete;
  ~Spawn() {
    ::posix_spawn_file_actions_destroy(&actions);
    ::posix_spawnattr_destroy(&attributes);
  }
};

Result<pid_t> start(const std::string &program, const Descriptor &request, const Descriptor &reply,
                    const Descriptor &output, const Descriptor &life) {
  Spawn spawn;
  sigset_t none, all;
  ::sigemptyset(&none);
  ::sigfillset(&all);
  // A dup2 onto itself clears close-on-exec; onto another number it never hits a source, which lie above the targets.
  int error = ::posix_spawn_file_actions_adddup2(&spawn.actions, request.get(), STDIN_FILENO);
  for (int target : {STDOUT_FILENO, STDERR_FILENO})
    error = error ? error : ::posix_spawn_file_actions_adddup2(&spawn.actions, output.get(), target);
  error = error ? error : ::posix_spawn_file_actions_adddup2(&spawn.actions, reply.get(), replyDescriptor);
  error = error ? error : ::posix_spawn_file_actions_adddup2(&spawn.actions, life.get(), replyDescriptor + 1);
  error = error ? error : ::posix_spawn_file_actions_addclosefrom_np(&spawn.actions, replyDescriptor + 2);
  error = error ? error : ::posix_spawn_file_actions_addchdir_np(&spawn.actions, "/");
  ::posix_spawnattr_setsigmask(&spawn.attributes, &none);
  ::posix_spawnattr_setsigdefault(&spawn.attributes, &all);
  ::posix_spawnattr_setflags(&spawn.attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  std::vector<std::string> kept;
  for (const char *name : {"LD_LIBRARY_PATH", "TMPDIR"})
    if (const char *value = std::getenv(name))
      kept.push_back(std::string(name) + "=" + value);
  std::vector<char *> environment;
  for (std::string &each : kept)
    environment.push_back(each.data());
  environment.push_back(nullptr);
  std::string name = program;
  char *arguments[] = {name.data(), nullptr};
  pid_t child = 0;
  error =
      error ? error
            : ::posix_spawn(&child, program.c_str(), &spawn.actions, &spawn.attributes, arguments, environment.data());
  if (error)
    return failed(fmt::format("start {}", program).c_str(), error);
  return child;
}

/// Copies of descriptors above those that the child is given, so that no dup2 overwrites one that is still needed.
Status moveUp(Descriptor &file) {
  int moved = ::fcntl(file.get(), F_DUPFD_CLOEXEC, replyDescriptor + 2);
  if (moved < 0)
    return failed("copy a descriptor", errno);
  file.reset(moved);
  return {};
}

/// Waits until the child has ended or its time is up. The pipe's other end is only the child's, so that its end wakes
/// this thread; a look at the child now and then also sees one whose copy somebody else's fork still holds.
ChildEnd await(pid_t child, const Descriptor &ended, Clock::time_point deadline) {
  ChildEnd end;
  for (;;) {
    int status = 0;
    pid_t got = ::waitpid(child, &status, end.late ? 0 : WNOHANG);
    if (got == child) {
      if (WIFEXITED(status))
        end.code = WEXITSTATUS(status);
      else if (WIFSIGNALED(status))
        end.signal = WTERMSIG(status);
      return end;
    }
    if (got < 0 && errno != EINTR)
      return end; // waited for by another: what it replied has to do
    auto left = std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now()).count();
    if (left <= 0 && !end.late) {
      end.late = true;
      ::kill(child, SIGKILL);
      continue;
    }
    constexpr int look = 20;
    pollfd waits{ended.get(), 0, 0};
    if (::poll(&waits, 1, int(std::min<long>(left, look))) > 0)
      ::usleep(100); // it is on its way out
  }
}
} // namespace

std::string ChildEnd::how(std::chrono::seconds limit) const {
  if (late)
    return fmt::format("took more than {} s and was stopped", limit.count());
  if (signal)
    return fmt::format("ended with signal {} ({})", *signal, ::strsignal(*signal));
  return code ? fmt::format("ended with exit code {}", *code) : "ended, nobody knows how";
}

Result<ChildEnd> runChild(const std::string &program, std::string_view request, std::chrono::seconds limit) {
  Descriptor input, reply, output, ended, life;
  ILK_RETURN_IF_ERROR(makeFile(input, request));
  ILK_RETURN_IF_ERROR(makeFile(reply));
  ILK_RETURN_IF_ERROR(makeFile(output));
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0)
    return failed("make a pipe", errno);
  ended.reset(ends[0]);
  life.reset(ends[1]);
  for (Descriptor *each : {&input, &reply, &output, &life})
    ILK_RETURN_IF_ERROR(moveUp(*each));
  const Clock::time_point deadline = Clock::now() + limit;
  ILK_ASSIGN_OR_RETURN(pid_t child, start(program, input, reply, output, life));
  life.reset();
  ChildEnd end = await(child, ended, deadline);
  constexpr size_t longestReply = size_t(1) << 30, longestOutput = 4096;
  end.reply = endOf(reply, longestReply);
  end.said = endOf(output, longestOutput);
  return end;
}

} // namespace interlock
