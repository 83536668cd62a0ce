// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// NVRTC's C interface, as far as it is used.
#include "runtime/SourceJit/Nvrtc.h"

#include "runtime/SourceJit/RtcCalls.h"
#include "runtime/SourceJit/VendorBuild.h"
#include "runtime/Spec/VendorLibrary.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <filesystem>
#include <mutex>
#include <regex>

#include <dlfcn.h>

namespace interlock {

namespace fs = std::filesystem;

namespace {
using Program = struct NvrtcProgram *;
constexpr int invalidOption = 5; // NVRTC_ERROR_INVALID_OPTION

/// The source's folder as NVRTC is told. A name without one is taken to lie in the current folder, which `__FILE__` and
/// line information would then hold.
constexpr std::string_view sourceFolder = "/interlock/";

/// The library and the headers that are built into its companion, which lies beside it.
std::string identityOf(const fs::path &library) {
  nlohmann::json builds = {{library.filename().string(), buildOfFile(library.string())}};
  std::error_code error;
  for (fs::directory_iterator at(fs::canonical(library, error).parent_path(), error), end; !error && at != end;
       at.increment(error))
    if (std::string name = at->path().filename().string(); name.rfind("libnvrtc-builtins.so.", 0) == 0)
      builds[name] = buildOfFile(at->path().string());
  return builds.dump();
}

void replaceAll(std::string &text, std::string_view what, std::string_view by) {
  for (size_t at = 0; (at = text.find(what, at)) != std::string::npos; at += by.size())
    text.replace(at, what.size(), by);
}

/// What NVRTC calls the place where it reads the name of the entry.
constexpr std::string_view entryFile = "__nv_name_map";

/// `add.cu:12: identifier "n" is undefined` of the first error in a log, or the log's first line.
std::string firstProblem(const std::string &log, const std::string &entry) {
  const std::regex problem(R"(([^\n]*)\((\d+)\): (?:catastrophic )?error: ([^\n]*))");
  std::smatch match;
  if (std::regex_search(log, match, problem) && match[1].str() == entryFile)
    return fmt::format("the kernel that was asked for, `{}`: {}", entry, match[3].str());
  if (!match.empty())
    return fmt::format("{}:{}: {}", match[1].str(), match[2].str(), match[3].str());
  return log.substr(0, log.find('\n'));
}
} // namespace

struct Nvrtc::Symbols {
  int (*version)(int *, int *);
  int (*create)(Program *, const char *, const char *, int, const char *const *, const char *const *);
  int (*addName)(Program, const char *);
  int (*compile)(Program, int, const char *const *);
  int (*loweredName)(Program, const char *, const char **);
  int (*destroy)(Program *);
  int (*logSize)(Program, size_t *);
  int (*log)(Program, char *);
  int (*ptxSize)(Program, size_t *);
  int (*ptx)(Program, char *);
  int (*cubinSize)(Program, size_t *);
  int (*cubin)(Program, char *);
  std::string versionName;
};

Nvrtc::Nvrtc(std::string path, std::string build) : path(std::move(path)), build(std::move(build)) {}
// The library stays loaded: it keeps state that a dlclose would pull away.
Nvrtc::~Nvrtc() = default;

Result<std::shared_ptr<Nvrtc>> Nvrtc::find(const std::string &path) {
  constexpr std::array names = {"libnvrtc.so.13", "libnvrtc.so.12"};
  constexpr std::array folders = {"/usr/local/cuda/lib64", "/usr/local/cuda/lib"};
  std::string file = path;
  if (path.empty()) {
    if (auto found = findVendorLibrary(names, folders))
      file = found->path;
  }
  std::error_code error;
  if (file.empty() || !fs::is_regular_file(file, error))
    return makeError(Code::notFound,
                     fmt::format("expected NVRTC to compile CUDA C++ with, found none at {}: the CUDA toolkit's "
                                 "libnvrtc.so.13 or .12 would do",
                                 path.empty() ? "the loader's path and /usr/local/cuda" : path));
  return std::shared_ptr<Nvrtc>(new Nvrtc(file, identityOf(file)));
}

Result<const Nvrtc::Symbols *> Nvrtc::open() const {
  static std::mutex mutex;
  std::lock_guard lock(mutex);
  if (symbols)
    return symbols.get();
  void *library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!library) {
    const char *why = dlerror();
    return makeError(Code::notFound, fmt::format("expected to load {}, could not: {}", path, why ? why : "no reason"));
  }
  auto s = std::make_unique<Symbols>();
  bool complete =
      resolve(library, "nvrtcVersion", s->version) && resolve(library, "nvrtcCreateProgram", s->create) &&
      resolve(library, "nvrtcAddNameExpression", s->addName) && resolve(library, "nvrtcCompileProgram", s->compile) &&
      resolve(library, "nvrtcGetLoweredName", s->loweredName) && resolve(library, "nvrtcDestroyProgram", s->destroy) &&
      resolve(library, "nvrtcGetProgramLogSize", s->logSize) && resolve(library, "nvrtcGetProgramLog", s->log) &&
      resolve(library, "nvrtcGetPTXSize", s->ptxSize) && resolve(library, "nvrtcGetPTX", s->ptx) &&
      resolve(library, "nvrtcGetCUBINSize", s->cubinSize) && resolve(library, "nvrtcGetCUBIN", s->cubin);
  int major = 0, minor = 0;
  if (!complete || s->version(&major, &minor) != 0)
    return makeError(Code::unsupported, fmt::format("expected NVRTC 12 or later at {}, got a library that lacks entry "
                                                    "points",
                                                    path));
  s->versionName = fmt::format("NVRTC {}.{}", major, minor);
  symbols = std::move(s);
  return symbols.get();
}

Result<NvrtcOutput> Nvrtc::compile(const SourceKernel &kernel, const NvrtcWish &wish) const {
  ILK_ASSIGN_OR_RETURN(const Symbols *s, open());
  // A virtual architecture gives PTX, a real one the PTX and the cubin that it was assembled to.
  std::vector<std::string> options = kernel.options;
  std::string chip = kernel.target.substr(kernel.target.find('_') + 1);
  options.push_back(fmt::format("--gpu-architecture={}_{}", wish.cubin ? "sm" : "compute", chip));
  options.push_back("--no-source-include"); // or it would look for headers in the current folder
  if (wish.lines)
    options.push_back("--generate-line-info");
  std::vector<const char *> optionTexts, headerTexts, headerNames;
  for (const std::string &option : options)
    optionTexts.push_back(option.c_str());
  for (const SourceText &header : kernel.headers) {
    headerTexts.push_back(header.text.c_str());
    headerNames.push_back(header.name.c_str());
  }
  std::string fileName = std::string(sourceFolder) + kernel.source.name;
  Program program = nullptr;
  if (s->create(&program, kernel.source.text.c_str(), fileName.c_str(), int(kernel.headers.size()), headerTexts.data(),
                headerNames.data()) != 0)
    return makeError(Code::compile, fmt::format("{} could not begin a program", s->versionName));
  std::unique_ptr<Program, int (*)(Program *)> owner(&program, s->destroy);
  if (s->addName(program, kernel.entry.c_str()) != 0)
    return makeError(Code::badInput, fmt::format("expected the name of a kernel, got '{}', which {} cannot read as one",
                                                 kernel.entry, s->versionName));
  int result = s->compile(program, int(optionTexts.size()), optionTexts.data());
  if (result != 0) {
    std::string log = bytesOf(program, s->logSize, s->log);
    log.erase(std::find(log.begin(), log.end(), '\0'), log.end());
    replaceAll(log, fileName, kernel.source.name);
    log.erase(log.find_last_not_of(" \n") + 1);
    if (result == invalidOption)
      return makeError(Code::badInput, fmt::format("expected options that {} knows, got one that it does not: {}",
                                                   s->versionName, log));
    return makeError(Code::compile, fmt::format("{} [{}]\n{}", firstProblem(log, kernel.entry), s->versionName, log));
  }
  NvrtcOutput output;
  output.version = s->versionName;
  const char *lowered = nullptr;
  if (s->loweredName(program, kernel.entry.c_str(), &lowered) != 0 || !lowered)
    return makeError(Code::compile,
                     fmt::format("expected a kernel {} in {}, found none", kernel.entry, kernel.source.name));
  output.entry = lowered;
  output.ptx = bytesOf(program, s->ptxSize, s->ptx);
  while (!output.ptx.empty() && output.ptx.back() == '\0')
    output.ptx.pop_back();
  replaceAll(output.ptx, fileName, kernel.source.name);
  if (wish.cubin)
    output.cubin = bytesOf(program, s->cubinSize, s->cubin);
  if (output.ptx.empty())
    return makeError(Code::compile, fmt::format("expected {} to make PTX of {}, got none: options that ask for another "
                                                "form (such as --dlink-time-opt) have to go",
                                                s->versionName, kernel.source.name));
  return output;
}

} // namespace interlock
