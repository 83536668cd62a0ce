// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// Searches by PATH and by the dynamic loader.
#include "runtime/tools/Finding.h"

#include <dlfcn.h>
#include <link.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>

extern char **environ;

namespace interlock::tool {

std::optional<std::string> findProgram(const std::vector<std::string> &names, const std::string &searchPath) {
  for (const std::string &name : names)
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

std::optional<std::string> findLibrary(const std::vector<std::string> &names) {
  for (const std::string &name : names) {
    void *library = dlopen(name.c_str(), RTLD_LAZY | RTLD_LOCAL);
    if (!library)
      continue;
    link_map *map = nullptr;
    std::string path = dlinfo(library, RTLD_DI_LINKMAP, &map) == 0 && map ? map->l_name : name;
    dlclose(library);
    return path;
  }
  return std::nullopt;
}

std::optional<std::string> outputOf(const std::vector<std::string> &command) {
  int ends[2];
  if (pipe(ends) != 0)
    return std::nullopt;
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
  posix_spawn_file_actions_addclose(&actions, ends[0]);
  std::vector<char *> arguments;
  for (const std::string &argument : command)
    arguments.push_back(const_cast<char *>(argument.c_str()));
  arguments.push_back(nullptr);
  pid_t child = 0;
  int failed = posix_spawn(&child, command[0].c_str(), &actions, nullptr, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  close(ends[1]);
  std::string output;
  char buffer[4096];
  for (ssize_t got; !failed && (got = read(ends[0], buffer, sizeof buffer)) > 0;)
    output.append(buffer, size_t(got));
  close(ends[0]);
  int status = 0;
  if (failed || waitpid(child, &status, 0) != child || !WIFEXITED(status) || WEXITSTATUS(status) != 0)
    return std::nullopt;
  return output;
}

} // namespace interlock::tool
