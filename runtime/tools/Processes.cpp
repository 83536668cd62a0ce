// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
#include "runtime/tools/Processes.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

namespace interlock::tool {

namespace {
struct Child {
  pid_t process = 0;
  int output = -1;
};

tl::unexpected<Error> failed(const char *what, int error) {
  return makeError(Code::internal, fmt::format("expected to {}, could not: {}", what, std::strerror(error)));
}

Result<Child> start(const std::vector<std::string> &arguments) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0)
    return failed("make a pipe", errno);
  std::string self = "interlock";
  std::vector<char *> argv{self.data()};
  std::vector<std::string> copies = arguments;
  for (std::string &argument : copies)
    argv.push_back(argument.data());
  argv.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
  Child child;
  int error = posix_spawn(&child.process, "/proc/self/exe", &actions, nullptr, argv.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  close(ends[1]);
  child.output = ends[0];
  if (error) {
    close(ends[0]);
    return failed("start a process", error);
  }
  return child;
}

ProcessEnd finish(const Child &child) {
  ProcessEnd end;
  char buffer[4096];
  for (ssize_t got; (got = read(child.output, buffer, sizeof buffer)) > 0 || (got < 0 && errno == EINTR);)
    if (got > 0)
      end.output.append(buffer, size_t(got));
  close(child.output);
  int status = 0;
  while (waitpid(child.process, &status, 0) < 0 && errno == EINTR) {
  }
  end.signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
  end.code = end.signal ? 128 + end.signal : WEXITSTATUS(status);
  return end;
}
} // namespace

Result<std::vector<ProcessEnd>> runSelf(const std::vector<std::vector<std::string>> &arguments) {
  std::vector<Child> children;
  Status started;
  for (const std::vector<std::string> &each : arguments) {
    auto child = start(each);
    if (!child) {
      started = tl::unexpected(std::move(child).error());
      break; // those that run miss one and end with an error in bounded time
    }
    children.push_back(*child);
  }
  std::vector<ProcessEnd> ends;
  for (const Child &child : children)
    ends.push_back(finish(child));
  ILK_RETURN_IF_ERROR(started);
  return ends;
}

Result<TemporaryFolder> TemporaryFolder::create() {
  std::error_code error;
  std::string name = (std::filesystem::temp_directory_path(error) / "interlock-XXXXXX").string();
  if (error || !mkdtemp(name.data()))
    return failed("make a temporary folder", errno);
  return TemporaryFolder(name);
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  if (!folder.empty())
    std::filesystem::remove_all(folder, ignored);
}

} // namespace interlock::tool
