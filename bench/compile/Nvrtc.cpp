// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// NVRTC's C interface, as far as it is used.
#include "bench/compile/Nvrtc.h"

#include <fmt/format.h>

#include <dlfcn.h>

namespace interlock::bench {

namespace {
template <typename Fn> bool resolve(void *library, const char *symbol, Fn &function) {
  function = reinterpret_cast<Fn>(dlsym(library, symbol));
  return function != nullptr;
}

void *openAny(const std::vector<std::string> &paths) {
  for (const std::string &path : paths)
    if (void *library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL))
      return library;
  return nullptr;
}
} // namespace

Result<Nvrtc> Nvrtc::open(const std::string &path) {
  std::vector<std::string> paths{path};
  if (path.empty())
    paths = {"libnvrtc.so.13",
             "libnvrtc.so.12",
             "/usr/local/cuda/lib64/libnvrtc.so.13",
             "/usr/local/cuda/lib64/libnvrtc.so.12",
             "/usr/local/cuda/lib/libnvrtc.so.13",
             "/usr/local/cuda/lib/libnvrtc.so.12"};
  void *library = openAny(paths);
  if (!library)
    return makeError(Code::notFound, fmt::format("expected NVRTC at {}, found none; --nvrtc PATH would do",
                                                 path.empty() ? "libnvrtc.so.13 or .12" : path));
  Nvrtc nvrtc;
  Symbols &s = nvrtc.symbols;
  bool complete =
      resolve(library, "nvrtcVersion", s.version) && resolve(library, "nvrtcCreateProgram", s.create) &&
      resolve(library, "nvrtcCompileProgram", s.compile) && resolve(library, "nvrtcDestroyProgram", s.destroy) &&
      resolve(library, "nvrtcGetProgramLogSize", s.logSize) && resolve(library, "nvrtcGetProgramLog", s.log) &&
      resolve(library, "nvrtcGetPTXSize", s.ptxSize) && resolve(library, "nvrtcGetPTX", s.ptx) &&
      resolve(library, "nvrtcGetCUBINSize", s.cubinSize) && resolve(library, "nvrtcGetCUBIN", s.cubin);
  int major = 0, minor = 0;
  if (!complete || s.version(&major, &minor) != 0)
    return makeError(Code::unsupported, "expected NVRTC 11.3 or later, got one that lacks entry points");
  nvrtc.versionName = fmt::format("NVRTC {}.{}", major, minor);
  return nvrtc;
}

Result<std::string> Nvrtc::compile(const std::string &source, const std::string &chip, NvrtcProduct product,
                                   std::vector<std::string> options) const {
  bool toPtx = product == NvrtcProduct::ptx;
  // sm_90a is the real architecture, compute_90a the virtual one that PTX is made for.
  options.push_back("--gpu-architecture=" + (toPtx ? "compute_" + chip.substr(chip.find('_') + 1) : chip));
  std::vector<const char *> pointers;
  for (const std::string &option : options)
    pointers.push_back(option.c_str());
  Program program = nullptr;
  if (symbols.create(&program, source.c_str(), "dispatch.cu", 0, nullptr, nullptr) != 0)
    return makeError(Code::compile, fmt::format("{} could not begin a program", versionName));
  std::string result, log;
  size_t size = 0;
  bool made = symbols.compile(program, int(pointers.size()), pointers.data()) == 0;
  if (!made && symbols.logSize(program, &size) == 0) {
    log.resize(size);
    symbols.log(program, log.data());
  }
  if (made && (made = (toPtx ? symbols.ptxSize : symbols.cubinSize)(program, &size) == 0)) {
    result.resize(size);
    made = (toPtx ? symbols.ptx : symbols.cubin)(program, result.data()) == 0;
  }
  symbols.destroy(&program);
  if (!made)
    return makeError(Code::compile, fmt::format("{} refused the source: {}", versionName, log));
  if (toPtx && !result.empty() && result.back() == '\0')
    result.pop_back();
  return result;
}

} // namespace interlock::bench
