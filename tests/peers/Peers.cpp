// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
#include "tests/peers/Peers.h"

#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <thread>

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

namespace interlock::test {

namespace fs = std::filesystem;

namespace {
std::string freshFolder() {
  std::string pattern = testing::TempDir() + "interlock-peers-XXXXXX";
  return mkdtemp(pattern.data());
}

/// One cache for all processes of this program: equal kernels are compiled once.
const std::string &cacheFolder() {
  static const struct Folder {
    Folder() : path(freshFolder()) { setenv("INTERLOCK_CACHE_DIR", path.c_str(), 1); }
    ~Folder() { fs::remove_all(path); }
    std::string path;
  } folder;
  return folder.path;
}

pid_t start(const std::vector<std::string> &arguments, const std::string &output) {
  (void)cacheFolder();
  std::string command = (fs::read_symlink("/proc/self/exe").parent_path() / "interlock").string();
  std::vector<std::string> all{command, "run"};
  all.insert(all.end(), arguments.begin(), arguments.end());
  std::vector<char *> argv;
  for (std::string &each : all)
    argv.push_back(each.data());
  argv.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  for (auto [to, suffix] : {std::pair(STDOUT_FILENO, ".out"), std::pair(STDERR_FILENO, ".err")})
    posix_spawn_file_actions_addopen(&actions, to, (output + suffix).c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
  pid_t process = 0;
  int error = posix_spawn(&process, command.c_str(), &actions, nullptr, argv.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  EXPECT_EQ(error, 0) << command;
  return error ? 0 : process;
}

std::string readFile(const std::string &name) {
  std::ifstream file(name, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

PeerEnd finish(pid_t process, const std::string &output, std::chrono::steady_clock::time_point end) {
  PeerEnd result;
  int status = 0;
  while (waitpid(process, &status, WNOHANG) == 0) {
    if (!result.late && std::chrono::steady_clock::now() > end) {
      result.late = true;
      ::kill(process, SIGKILL);
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  result.code = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
  result.out = readFile(output + ".out");
  result.err = readFile(output + ".err");
  return result;
}

std::chrono::steady_clock::time_point after(double seconds) {
  return std::chrono::steady_clock::now() + std::chrono::milliseconds(int64_t(seconds * 1000));
}
} // namespace

Peers::Peers(const std::vector<std::vector<std::string>> &arguments) : folder(freshFolder()) {
  for (size_t i = 0; i < arguments.size(); ++i) {
    std::vector<std::string> all{
        "--json",    "--device",        peerDevice().name, "--processes", std::to_string(arguments.size()),
        "--process", std::to_string(i), "--rendezvous",    folder + "/r"};
    all.insert(all.end(), arguments[i].begin(), arguments[i].end());
    processes.push_back(start(all, folder + "/" + std::to_string(i)));
  }
}

Peers::~Peers() {
  for (pid_t process : processes)
    if (process) {
      ::kill(process, SIGKILL);
      waitpid(process, nullptr, 0);
    }
  fs::remove_all(folder);
}

void Peers::kill(size_t process) { ::kill(processes[process], SIGKILL); }

std::vector<PeerEnd> Peers::wait(double seconds) {
  auto end = after(seconds);
  std::vector<PeerEnd> ends;
  for (size_t i = 0; i < processes.size(); ++i)
    ends.push_back(finish(std::exchange(processes[i], 0), folder + "/" + std::to_string(i), end));
  return ends;
}

PeerEnd runInterlock(const std::vector<std::string> &arguments, double seconds) {
  std::string folder = freshFolder();
  std::vector<std::string> all{"--json", "--device", peerDevice().name};
  all.insert(all.end(), arguments.begin(), arguments.end());
  PeerEnd end = finish(start(all, folder + "/run"), folder + "/run", after(seconds));
  fs::remove_all(folder);
  return end;
}

} // namespace interlock::test
