// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// What makes a kernel on a miss: the plugin, found with dlopen, or whatever a test puts in its place.
#pragma once

#include "interlock/spec.hpp"

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace interlock {

/// A code object for AMD GPUs as assembly.
struct Disassembly {
  std::string target; ///< "amdgcn-amd-amdhsa--gfx90a:sramecc+:xnack-"
  std::string text;   ///< what analysis/AMDGCN and LLVM's assembler read
};

class Compiler {
public:
  virtual ~Compiler() = default;
  /// What the cache key needs to know of the compiler: a JSON object of strings (CompilerPlugin.h). Fails if there is
  /// no compiler; then what is cached can still be used.
  virtual Result<std::string> identity() = 0;
  /// The named parts, by name; one that could not be made is missing. Any thread may call it.
  virtual Result<std::map<std::string, std::string>> compile(const KernelSpec &spec,
                                                             const std::vector<std::string> &parts) = 0;
  /// As the function below. A compiler that cannot says so with `notFound`.
  virtual Result<std::vector<Disassembly>> disassemble(std::string_view object, const std::string &chip);
};

struct PluginOptions {
  std::string path; ///< of libinterlock_compiler.so; empty: beside this library or program, in ../lib, or by name
  std::string templateDir; ///< overrides the compiler's templates, if not empty
  /// Where the caller will write the part `expanded`, whose lines PTX and cubin then name; empty: they name none. The
  /// instructions are the same, but it is another identity, since a file is named in what is made.
  std::string lineFile = {};
  /// The same for a compiler of many specs, which writes `expanded` of each into this folder by itself.
  std::string lineFolder = {};
};

/// A kernel's description as MLIR text, in place of a spec: what `--emit expanded` prints, or what a person wrote.
struct ModuleText {
  std::string text;
  std::string file = "<module>"; ///< its name in messages
};
/// The named parts of a module with one stage or kernel, by the compiler plugin; nothing is cached.
Result<std::map<std::string, std::string>> compileModule(const PluginOptions &options, const ModuleText &module,
                                                         const std::vector<std::string> &parts);

/// The code objects in an ELF file, an offload bundle or a program with one inside, by the compiler plugin: those for
/// `chip`, or all if it is empty; at least one. Any bytes may be given.
Result<std::vector<Disassembly>> disassemble(const PluginOptions &options, std::string_view object,
                                             const std::string &chip = {});

/// Loads the compiler plugin, to find out whether it can be: its identity is known without that.
Status loadPlugin(const PluginOptions &options);

/// The compiler plugin. It is loaded by the first call that compiles or disassembles, so making one cannot fail.
std::shared_ptr<Compiler> makePluginCompiler(const PluginOptions &options);

} // namespace interlock
