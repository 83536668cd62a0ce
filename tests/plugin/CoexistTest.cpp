// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// The compiler in a process that holds another LLVM, whichever comes first and however it is loaded: the kernels are
// those of the command, byte for byte, and the other LLVM goes on (corpus A20).
#include "runtime/Cache/Compiler.h"
#include "tests/plugin/Kernels.h"
#include "tests/unit/cache/Processes.h"

#include <gtest/gtest.h>

#include <dlfcn.h>

namespace interlock {
namespace {

struct Case {
  const char *name;
  const char *library;
  int mode;
  bool first; ///< the other LLVM is loaded before the compiler
};

/// What the child found.
enum Exit { same = 0, noCompiler, otherPtx, otherLlvmFails, notInstalled };

/// Uses another LLVM through its C API: its option parser, a target, a module that is printed.
bool works(void *library) {
  auto find = [&](auto &function, const char *name) {
    function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(dlsym(library, name));
    return function != nullptr;
  };
  void (*parse)(int, const char *const *, const char *) = nullptr;
  void (*target)() = nullptr;
  void *(*context)() = nullptr, *(*module)(const char *, void *) = nullptr;
  char *(*print)(void *) = nullptr;
  if (!find(parse, "LLVMParseCommandLineOptions") || !find(target, "LLVMInitializeNVPTXTarget") ||
      !find(context, "LLVMContextCreate") || !find(module, "LLVMModuleCreateWithNameInContext") ||
      !find(print, "LLVMPrintModuleToString"))
    return false;
  const char *const arguments[] = {"program"};
  parse(1, arguments, "");
  target();
  return std::string(print(module("mine", context()))).find("mine") != std::string::npos;
}

Exit compileBeside(const Case &given, const std::map<std::string, std::string> &expected) {
  void *other = nullptr;
  auto open = [&] { return (other = dlopen(given.library, RTLD_NOW | given.mode)) != nullptr; };
  if (given.first && !open())
    return notInstalled;
  if (given.first && !works(other))
    return otherLlvmFails;
  auto compiler = makePluginCompiler({.path = INTERLOCK_PLUGIN});
  for (const KernelSpec &kernel : test::kernels()) {
    auto made = compiler->compile(kernel, {"ptx"});
    if (!made)
      return noCompiler;
    if ((*made)["ptx"] != expected.at(canonicalForm(kernel)))
      return otherPtx;
    if (!other && !open())
      return notInstalled;
    if (!works(other))
      return otherLlvmFails;
  }
  return same;
}

class Coexist : public testing::TestWithParam<Case> {
protected:
  static void SetUpTestSuite() { expected = test::ptxOfTheCommand(); }
  static std::map<std::string, std::string> expected;
};
std::map<std::string, std::string> Coexist::expected;

TEST_P(Coexist, A20TheSamePtxAsTheCommand) {
  ASSERT_EQ(expected.size(), test::kernels().size());
  // In a process of its own, since a library is never really unloaded.
  int code = test::exitCodeOf(test::inProcess([&] { return compileBeside(GetParam(), expected); }, 120));
  if (code == notInstalled)
    GTEST_SKIP() << GetParam().library << " is not installed";
  EXPECT_EQ(code, same);
}

constexpr Case cases[] = {
    {"Llvm14LocalFirst", "libLLVM-14.so.1", RTLD_LOCAL, true},
    {"Llvm14LocalLast", "libLLVM-14.so.1", RTLD_LOCAL, false},
    {"Llvm14GlobalFirst", "libLLVM-14.so.1", RTLD_GLOBAL, true},
    {"Llvm14GlobalLast", "libLLVM-14.so.1", RTLD_GLOBAL, false},
    {"Llvm15LocalFirst", "libLLVM-15.so.1", RTLD_LOCAL, true},
    {"Llvm15LocalLast", "libLLVM-15.so.1", RTLD_LOCAL, false},
    {"Llvm15GlobalFirst", "libLLVM-15.so.1", RTLD_GLOBAL, true},
    {"Llvm15GlobalLast", "libLLVM-15.so.1", RTLD_GLOBAL, false},
    {"Llvm22LocalFirst", "libLLVM.so.22.1", RTLD_LOCAL, true},
    {"Llvm22LocalLast", "libLLVM.so.22.1", RTLD_LOCAL, false},
    {"Llvm22GlobalFirst", "libLLVM.so.22.1", RTLD_GLOBAL, true},
    {"Llvm22GlobalLast", "libLLVM.so.22.1", RTLD_GLOBAL, false},
};
INSTANTIATE_TEST_SUITE_P(Plugin, Coexist, testing::ValuesIn(cases),
                         [](const auto &info) { return std::string(info.param.name); });

} // namespace
} // namespace interlock
