// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// A hiprtc that compiles nothing and, by what the source says, ends its process in every way that one can end.
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string>
#include <vector>

#include <csignal>
#include <fcntl.h>
#include <unistd.h>

#define EXPORT extern "C" __attribute__((visibility("default")))

extern char **environ;

struct Program {
  std::string source, file, log, code, entry;
  std::vector<std::string> headers, options;
};

namespace {
/// What the process can see of the one that started it.
std::string surroundings() {
  std::error_code error;
  std::string text = "cwd=" + std::filesystem::current_path(error).string() + "\n";
  for (char **each = environ; *each; ++each)
    text += std::string("env=") + *each + "\n";
  for (int descriptor = 0; descriptor < 256; ++descriptor)
    if (::fcntl(descriptor, F_GETFD) >= 0)
      text += "fd=" + std::to_string(descriptor) + "\n";
  sigset_t blocked;
  ::sigprocmask(SIG_BLOCK, nullptr, &blocked);
  struct sigaction onTerm {};
  ::sigaction(SIGTERM, nullptr, &onTerm);
  text += "blocked=" + std::to_string(::sigismember(&blocked, SIGTERM)) +
          "\nignored=" + std::to_string(onTerm.sa_handler == SIG_IGN) + "\n";
  return text;
}

void crash() {
  std::fputs("munmap_chunk(): invalid pointer\n", stderr);
  std::abort();
}
} // namespace

EXPORT int hiprtcCreateProgram(Program **program, const char *source, const char *file, int headers,
                               const char **texts, const char **names) {
  *program = new Program{source, file, "", "", "", {}, {}};
  for (int i = 0; i < headers; ++i)
    (*program)->headers.push_back(std::string(names[i]) + "=" + texts[i]);
  return 0;
}
EXPORT int hiprtcAddNameExpression(Program *program, const char *name) {
  program->entry = name;
  return 0;
}
EXPORT int hiprtcCompileProgram(Program *program, int options, const char **texts) {
  auto says = [&](const char *word) { return program->source.find(word) != std::string::npos; };
  program->options.assign(texts, texts + options);
  if (says("abort"))
    crash();
  if (says("leave early"))
    ::_exit(0);
  if (says("leave with 3"))
    ::_exit(3);
  if (says("half an answer"))
    if (::write(3, "\xa3", 1) == 1)
      ::_exit(0);
  if (says("hang"))
    for (;;)
      ::pause();
  if (says("talk"))
    for (int i = 0; i < 200000; ++i)
      std::printf("what a lot of words this is that nobody reads\n");
  std::fflush(stdout);
  if (says("refuse")) {
    program->log = program->file + ":3:7: error: this is refused\n  here\n1 error generated.\n";
    return 6;
  }
  program->code = says("surroundings") ? surroundings() : program->source;
  for (const auto *list : {&program->headers, &program->options})
    for (const std::string &each : *list)
      program->code += "\n" + each;
  return 0;
}
EXPORT int hiprtcGetLoweredName(Program *program, const char *, const char **name) {
  *name = program->entry.c_str();
  return 0;
}
EXPORT int hiprtcDestroyProgram(Program **) { return 0; }
EXPORT int hiprtcGetProgramLogSize(Program *program, size_t *size) {
  *size = program->log.size() + 1;
  return 0;
}
EXPORT int hiprtcGetProgramLog(Program *program, char *log) {
  std::memcpy(log, program->log.c_str(), program->log.size() + 1);
  return 0;
}
EXPORT int hiprtcGetCodeSize(Program *program, size_t *size) {
  *size = program->code.size();
  return 0;
}
EXPORT int hiprtcGetCode(Program *program, char *code) {
  std::memcpy(code, program->code.data(), program->code.size());
  return 0;
}
