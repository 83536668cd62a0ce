// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// interlock-hiprtc: loads hiprtc and compiles one source with it, in a process of its own, since hiprtc may end the one
// that it is in. Not for people: runtime/SourceJit/Hiprtc.cpp starts it. The request is a CBOR object: `library`,
// `source`, `entry` and `file` (strings), `headers` (pairs of name and text), `options` (strings). So is the reply:
// `result` (hiprtc's, 0 is success), `log`, `entry` (the kernel's name in the code object), `code` (bytes); or `load`
// (string): why hiprtc could not be loaded.
#include "runtime/SourceJit/ChildProcess.h"
#include "runtime/SourceJit/RtcCalls.h"

#include <nlohmann/json.hpp>

#include <csignal>
#include <cstdio>
#include <string>
#include <vector>

#include <dlfcn.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

namespace {
using nlohmann::json;
using Program = struct HiprtcProgram *;

struct Hiprtc {
  int (*create)(Program *, const char *, const char *, int, const char **, const char **);
  int (*addName)(Program, const char *);
  int (*compile)(Program, int, const char **);
  int (*loweredName)(Program, const char *, const char **);
  int (*logSize)(Program, size_t *);
  int (*log)(Program, char *);
  int (*codeSize)(Program, size_t *);
  int (*code)(Program, char *);

  bool resolve(void *library) {
    auto symbol = [library](const char *name, auto &function) { return interlock::resolve(library, name, function); };
    return symbol("hiprtcCreateProgram", create) && symbol("hiprtcAddNameExpression", addName) &&
           symbol("hiprtcCompileProgram", compile) && symbol("hiprtcGetLoweredName", loweredName) &&
           symbol("hiprtcGetProgramLogSize", logSize) && symbol("hiprtcGetProgramLog", log) &&
           symbol("hiprtcGetCodeSize", codeSize) && symbol("hiprtcGetCode", code);
  }
};

json compile(const json &request) {
  void *library = ::dlopen(request.at("library").get_ref<const std::string &>().c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!library) {
    const char *why = ::dlerror();
    return {{"load", why ? why : "no reason"}};
  }
  Hiprtc hiprtc;
  if (!hiprtc.resolve(library))
    return {{"load", "it lacks entry points of hiprtc"}};
  auto texts = request.at("headers").get<std::vector<std::pair<std::string, std::string>>>();
  auto optionTexts = request.at("options").get<std::vector<std::string>>();
  std::vector<const char *> names, contents, options;
  for (const auto &[name, text] : texts) {
    names.push_back(name.c_str());
    contents.push_back(text.c_str());
  }
  for (const std::string &option : optionTexts)
    options.push_back(option.c_str());
  auto source = request.at("source").get<std::string>(), entry = request.at("entry").get<std::string>(),
       file = request.at("file").get<std::string>();
  Program program = nullptr;
  int result = hiprtc.create(&program, source.c_str(), file.c_str(), int(names.size()), contents.data(), names.data());
  if (result == 0)
    result = hiprtc.addName(program, entry.c_str());
  if (result == 0)
    result = hiprtc.compile(program, int(options.size()), options.data());
  json reply = {{"result", result}, {"log", program ? interlock::bytesOf(program, hiprtc.logSize, hiprtc.log) : ""}};
  const char *lowered = nullptr;
  if (result == 0 && hiprtc.loweredName(program, entry.c_str(), &lowered) == 0 && lowered)
    reply["entry"] = lowered;
  if (result == 0) {
    std::string code = interlock::bytesOf(program, hiprtc.codeSize, hiprtc.code);
    reply["code"] = json::binary({code.begin(), code.end()});
  }
  return reply;
}

std::string readAll(int descriptor) {
  std::string bytes;
  char buffer[1 << 16];
  for (ssize_t got; (got = ::read(descriptor, buffer, sizeof buffer)) > 0;)
    bytes.append(buffer, size_t(got));
  return bytes;
}

bool writeAll(int descriptor, const std::vector<uint8_t> &bytes) {
  for (size_t at = 0; at < bytes.size();) {
    ssize_t written = ::write(descriptor, bytes.data() + at, bytes.size() - at);
    if (written <= 0)
      return false;
    at += size_t(written);
  }
  return true;
}
} // namespace

int main() {
  // It ends with whoever asked, leaves no core file where it crashes, and fills no disk.
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  const rlimit noCore{0, 0}, files{size_t(1) << 30, size_t(1) << 30};
  ::setrlimit(RLIMIT_CORE, &noCore);
  ::setrlimit(RLIMIT_FSIZE, &files);
  const json request = json::from_cbor(readAll(STDIN_FILENO), /*strict=*/true, /*allow_exceptions=*/false);
  bool complete = request.is_object() && request.contains("library");
  for (const char *field : {"source", "entry", "file"})
    complete = complete && request.contains(field) && request[field].is_string();
  for (const char *field : {"headers", "options"})
    complete = complete && request.contains(field) && request[field].is_array();
  if (!complete) {
    std::fputs(
        "interlock-hiprtc: expected a request on its standard input, got none: the library starts it by itself, to "
        "compile HIP C++\n",
        stderr);
    return 2;
  }
  bool written = writeAll(interlock::replyDescriptor, json::to_cbor(compile(request)));
  // Without destructors: those of a library that has freed too much are of no use to anybody.
  ::_exit(written ? 0 : 1);
}
