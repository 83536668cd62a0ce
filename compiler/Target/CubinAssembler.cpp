// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
#include "compiler/Target/CubinAssembler.h"

#include "runtime/Spec/PluginIdentity.h"

#include <fmt/format.h>

#include <dlfcn.h>

#include <utility>
#include <vector>

namespace interlock::target {
namespace {

/// nvJitLink's C interface, as far as it is used; its entry points carry the toolkit's version as a suffix.
using Handle = struct JitLink *;
using JitResult = int;
constexpr int inputPtx = 2;

template <typename Fn> bool resolve(void *library, const std::string &symbol, Fn &function) {
  function = reinterpret_cast<Fn>(dlsym(library, symbol.c_str()));
  return function != nullptr;
}

} // namespace

struct CubinAssembler::Symbols {
  JitResult (*create)(Handle *, uint32_t, const char **) = nullptr;
  JitResult (*destroy)(Handle *) = nullptr;
  JitResult (*addData)(Handle, int, const void *, size_t, const char *) = nullptr;
  JitResult (*complete)(Handle) = nullptr;
  JitResult (*cubinSize)(Handle, size_t *) = nullptr;
  JitResult (*cubin)(Handle, void *) = nullptr;
  JitResult (*logSize)(Handle, size_t *) = nullptr;
  JitResult (*log)(Handle, char *) = nullptr;

  bool load(void *library, const std::string &suffix) {
    auto symbol = [&](const char *name) { return fmt::format("__nvJitLink{}{}", name, suffix); };
    return resolve(library, symbol("Create"), create) && resolve(library, symbol("Destroy"), destroy) &&
           resolve(library, symbol("AddData"), addData) && resolve(library, symbol("Complete"), complete) &&
           resolve(library, symbol("GetLinkedCubinSize"), cubinSize) &&
           resolve(library, symbol("GetLinkedCubin"), cubin) && resolve(library, symbol("GetErrorLogSize"), logSize) &&
           resolve(library, symbol("GetErrorLog"), log);
  }
};

CubinAssembler::CubinAssembler(void *library, std::unique_ptr<Symbols> symbols, std::string name)
    : library(library), symbols(std::move(symbols)), name(std::move(name)) {}

// The library stays loaded: nvJitLink keeps threads and state that a dlclose would pull away.
CubinAssembler::~CubinAssembler() = default;

Result<std::shared_ptr<const CubinAssembler>> CubinAssembler::find() {
  std::optional<VendorLibrary> file = findNvJitLink();
  void *library = file ? dlopen(file->path.c_str(), RTLD_NOW | RTLD_LOCAL) : nullptr;
  if (!library)
    return makeError(Code::notFound, "nvJitLink was not found (libnvJitLink.so.13 or .12): the driver assembles the "
                                     "PTX when it loads; install the CUDA toolkit's nvJitLink to get a cubin");
  JitResult (*version)(unsigned *, unsigned *) = nullptr;
  unsigned major = 0, minor = 0;
  if (!resolve(library, "nvJitLinkVersion", version) || version(&major, &minor) != 0)
    return makeError(Code::unsupported,
                     "the nvJitLink that was found does not state its version: 12.3 or later would do");
  auto symbols = std::make_unique<Symbols>();
  if (!symbols->load(library, fmt::format("_{}_{}", major, minor)))
    return makeError(
        Code::unsupported,
        fmt::format("nvJitLink {}.{} lacks an entry point that is needed: 12.3 or later would do", major, minor));
  return std::shared_ptr<const CubinAssembler>(
      new CubinAssembler(library, std::move(symbols), fmt::format("nvJitLink {}.{}", major, minor)));
}

Result<std::string> CubinAssembler::assemble(std::string_view ptx, std::string_view chip, bool keepLines) const {
  std::string arch = fmt::format("-arch={}", chip);
  const char *options[] = {arch.c_str(), "-lineinfo"};
  Handle handle = nullptr;
  if (symbols->create(&handle, keepLines ? 2 : 1, options) != 0)
    return makeError(Code::unsupported, fmt::format("{} does not know {}: a newer toolkit would do", name, chip));
  auto fail = [&](const char *step) {
    size_t size = 0;
    std::string text;
    if (symbols->logSize(handle, &size) == 0 && size > 1) {
      text.resize(size);
      symbols->log(handle, text.data());
      text.resize(size - 1);
    }
    symbols->destroy(&handle);
    return makeError(Code::compile,
                     fmt::format("{} refused the PTX for {} when it was to {}: {}", name, chip, step, text));
  };
  // Terminated, because nvJitLink reads PTX as a string.
  std::string text(ptx);
  if (symbols->addData(handle, inputPtx, text.c_str(), text.size() + 1, "interlock.ptx") != 0)
    return fail("read it");
  if (symbols->complete(handle) != 0)
    return fail("assemble it");
  size_t size = 0;
  if (symbols->cubinSize(handle, &size) != 0)
    return fail("hand out the cubin");
  std::string cubin(size, '\0');
  if (symbols->cubin(handle, cubin.data()) != 0)
    return fail("hand out the cubin");
  symbols->destroy(&handle);
  return cubin;
}

} // namespace interlock::target
