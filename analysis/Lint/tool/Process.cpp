// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// Child processes over posix_spawn.
#include "analysis/Lint/tool/Process.h"

#include <fmt/format.h>

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <cstring>
#include <filesystem>

extern char **environ;

namespace interlock::lint {
namespace {

struct Pipe {
  int ends[2] = {-1, -1};
  bool open() { return pipe2(ends, O_CLOEXEC) == 0; }
  void close(int end) {
    if (ends[end] >= 0)
      ::close(ends[end]);
    ends[end] = -1;
  }
  ~Pipe() {
    close(0);
    close(1);
  }
};

/// Starts the program; 0 or an errno.
int spawn(const std::vector<std::string> &command, const Pipe &out, const Pipe &err, pid_t &child) {
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, out.ends[1], STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&actions, err.ends[1], STDERR_FILENO);
  std::vector<char *> arguments;
  for (const std::string &argument : command)
    arguments.push_back(const_cast<char *>(argument.c_str()));
  arguments.push_back(nullptr);
  int failed = posix_spawn(&child, command[0].c_str(), &actions, nullptr, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  return failed;
}

/// Reads both pipes to their ends; false when that takes longer than the limit.
bool drain(Pipe &out, Pipe &err, ProcessOutput &output, std::chrono::seconds limit) {
  using Clock = std::chrono::steady_clock;
  const Clock::time_point end = Clock::now() + limit;
  std::array<pollfd, 2> waits = {pollfd{out.ends[0], POLLIN, 0}, pollfd{err.ends[0], POLLIN, 0}};
  std::array<std::string *, 2> into = {&output.out, &output.err};
  while (waits[0].fd >= 0 || waits[1].fd >= 0) {
    auto left = std::chrono::duration_cast<std::chrono::milliseconds>(end - Clock::now()).count();
    if (left <= 0)
      return false;
    if (poll(waits.data(), waits.size(), int(left)) < 0 && errno != EINTR)
      return false;
    for (size_t i = 0; i < waits.size(); ++i) {
      if (waits[i].fd < 0 || !waits[i].revents)
        continue;
      char buffer[1 << 16];
      ssize_t got = read(waits[i].fd, buffer, sizeof buffer);
      if (got > 0)
        into[i]->append(buffer, size_t(got));
      else
        waits[i].fd = -1; // poll passes over it
    }
  }
  return true;
}

} // namespace

std::optional<std::string> findProgram(const std::string &name, const std::string &searchPath) {
  for (size_t at = 0; at <= searchPath.size();) {
    size_t end = std::min(searchPath.find(':', at), searchPath.size());
    std::filesystem::path file = std::filesystem::path(searchPath.substr(at, end - at)) / name;
    std::error_code error;
    if (std::filesystem::is_regular_file(file, error) && access(file.c_str(), X_OK) == 0)
      return file.string();
    at = end + 1;
  }
  return std::nullopt;
}

tl::expected<ProcessOutput, std::string> runProcess(const std::vector<std::string> &command,
                                                    std::chrono::seconds limit) {
  Pipe out, err;
  pid_t child = 0;
  int failed = out.open() && err.open() ? spawn(command, out, err, child) : errno;
  if (failed)
    return tl::unexpected(fmt::format("expected to run {}, which failed: {}", command[0], std::strerror(failed)));
  out.close(1);
  err.close(1);
  ProcessOutput output;
  bool inTime = drain(out, err, output, limit);
  if (!inTime)
    kill(child, SIGKILL);
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (!inTime)
    return tl::unexpected(fmt::format("expected {} to end within {} seconds", command[0], limit.count()));
  output.exitCode = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return output;
}

} // namespace interlock::lint
