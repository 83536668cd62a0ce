// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// A child process with its outputs in files, so that neither can block the other.
#include "Command.h"

#include <gtest/gtest.h>

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>

namespace interlock::test {

namespace {
std::string readFile(const std::string &name) {
  std::ifstream file(name, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

void redirect(int to, const std::string &file) {
  int opened = open(file.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
  dup2(opened, to);
}
} // namespace

std::string freshFolder() {
  std::string pattern = testing::TempDir() + "interlock-tool-XXXXXX";
  return mkdtemp(pattern.data());
}

std::string writeFile(const std::string &name, const std::string &bytes) {
  std::ofstream(name, std::ios::binary) << bytes;
  return name;
}

Outcome runCommand(const std::vector<std::string> &arguments, const std::vector<std::string> &environment,
                   const std::string &input) {
  std::vector<std::string> command = {INTERLOCK_COMMAND};
  command.insert(command.end(), arguments.begin(), arguments.end());
  return runProgram(command, environment, input);
}

Outcome runProgram(const std::vector<std::string> &command, const std::vector<std::string> &environment,
                   const std::string &input) {
  std::string folder = freshFolder();
  std::string inputFile = writeFile(folder + "/in", input);
  std::vector<char *> list;
  for (const std::string &argument : command)
    list.push_back(const_cast<char *>(argument.c_str()));
  list.push_back(nullptr);
  pid_t child = fork();
  if (child == 0) {
    dup2(open(inputFile.c_str(), O_RDONLY), STDIN_FILENO);
    redirect(STDOUT_FILENO, folder + "/out");
    redirect(STDERR_FILENO, folder + "/err");
    setenv("INTERLOCK_CACHE_DIR", (folder + "/cache").c_str(), 1);
    for (const std::string &entry : environment)
      putenv(const_cast<char *>(entry.c_str()));
    execv(list[0], list.data());
    _exit(127);
  }
  int status = 0;
  waitpid(child, &status, 0);
  Outcome outcome{WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status), readFile(folder + "/out"),
                  readFile(folder + "/err")};
  std::filesystem::remove_all(folder);
  return outcome;
}

} // namespace interlock::test
