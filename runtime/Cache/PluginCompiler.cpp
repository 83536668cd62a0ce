// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// Loads libinterlock_compiler.so when it is needed, and speaks its C interface.
#include "runtime/Cache/Compiler.h"

#include "interlock/device.hpp"

#include "runtime/Cache/Digest.h"
#include "runtime/Cache/ForkGate.h"
#include "runtime/Spec/CompilerPlugin.h"
#include "runtime/Spec/OwnFile.h"
#include "runtime/Spec/PluginIdentity.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <mutex>
#include <optional>
#include <sstream>

#include <dlfcn.h>

namespace interlock {
namespace {

namespace fs = std::filesystem;
constexpr const char *libraryName = "libinterlock_compiler.so";

struct Plugin {
  decltype(&ilk_compiler_abi) abi = nullptr;
  decltype(&ilk_compiler_identity) identity = nullptr;
  decltype(&ilk_compiler_compile) compile = nullptr;
  decltype(&ilk_compiler_disassemble) disassemble = nullptr;
  decltype(&ilk_compiler_output_part) part = nullptr;
  decltype(&ilk_compiler_output_error) error = nullptr;
  decltype(&ilk_compiler_output_free) release = nullptr;
};

/// Where the plugin may lie: beside what this code was linked into, in ../lib of that, or on the loader's path.
std::vector<std::string> candidates(const std::string &path) {
  if (!path.empty())
    return {path};
  std::vector<std::string> places = placesBesideOwnFile(libraryName, "lib");
  constexpr std::array names = {libraryName};
  auto found = findVendorLibrary(names);
  places.push_back(found ? found->path : libraryName);
  return places;
}

/// Names and bytes of the templates in a folder, so that another edit is another key.
Result<std::string> digestOfFolder(const std::string &folder) {
  std::error_code error;
  std::vector<fs::path> files;
  for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error))
    if (at->path().extension() == ".mlir")
      files.push_back(at->path());
  if (error)
    return makeError(Code::badInput,
                     fmt::format("expected a folder of templates, got {}: {}", folder, error.message()));
  std::sort(files.begin(), files.end());
  std::vector<std::string> fields;
  for (const fs::path &file : files) {
    std::ostringstream text;
    text << std::ifstream(file, std::ios::binary).rdbuf();
    fields.push_back(file.filename().string());
    fields.push_back(text.str());
  }
  return digestOfFields(fields);
}

class PluginCompiler final : public Compiler {
public:
  explicit PluginCompiler(const PluginOptions &options) : options(options) { ForkGate::watch(); }

  Result<std::string> identity() override {
    ForkGate gate;
    ILK_ASSIGN_OR_RETURN(std::string stated, statedIdentity());
    nlohmann::json json = nlohmann::json::parse(stated, nullptr, false);
    if (!json.is_object())
      return makeError(Code::unsupported, fmt::format("expected a compiler plugin to state its identity as a JSON "
                                                      "object, got '{}': the plugin of this library's version would do",
                                                      stated));
    if (options.templateDir.empty() && options.lineFile.empty() && options.lineFolder.empty())
      return stated;
    if (!options.templateDir.empty()) {
      ILK_ASSIGN_OR_RETURN(json["template_dir"], digestOfFolder(options.templateDir));
    }
    if (!options.lineFile.empty())
      json["line_file"] = options.lineFile;
    if (!options.lineFolder.empty())
      json["line_folder"] = options.lineFolder;
    return json.dump();
  }

  Result<std::map<std::string, std::string>> compile(const KernelSpec &spec,
                                                     const std::vector<std::string> &parts) override {
    std::string canonical = canonicalForm(spec);
    ilk_compiler_request request{};
    request.spec = canonical.data();
    request.spec_size = canonical.size();
    if (options.lineFolder.empty())
      return compile(request, parts);
    std::error_code error;
    fs::create_directories(options.lineFolder, error);
    const std::string file = (fs::absolute(options.lineFolder, error) /
                              fmt::format("{}-{}.expanded.mlir", name(spec.kernel), digestOf(canonical).substr(0, 16)))
                                 .string();
    std::vector<std::string> more = parts;
    more.emplace_back("expanded");
    request.line_file = file.c_str();
    ILK_ASSIGN_OR_RETURN(auto made, compile(request, more));
    // Whoever else compiles the same writes the same.
    std::ofstream stream(file, std::ios::binary);
    if (!(stream << made["expanded"]) || !stream.flush())
      return makeError(Code::badInput,
                       fmt::format("expected to write {}, which lines of a kernel would name, could not", file));
    if (std::find(parts.begin(), parts.end(), "expanded") == parts.end())
      made.erase("expanded");
    return made;
  }

  Result<std::map<std::string, std::string>> compile(const ModuleText &module, const std::vector<std::string> &parts) {
    ilk_compiler_request request{};
    request.module = module.text.data();
    request.module_size = module.text.size();
    request.module_file = module.file.c_str();
    return compile(request, parts);
  }

  /// Whether there is one that can be loaded and is what its file says.
  Status loads() {
    ForkGate gate;
    ILK_RETURN_IF_ERROR(statedIdentity());
    ILK_RETURN_IF_ERROR(load());
    return {};
  }

  Result<std::vector<Disassembly>> disassemble(std::string_view object, const std::string &chip) override {
    ForkGate gate;
    ILK_ASSIGN_OR_RETURN(const Plugin *plugin, load());
    ilk_compiler_disassembly request{sizeof(request), object.data(), object.size(),
                                     chip.empty() ? nullptr : chip.c_str()};
    ilk_compiler_output *raw = nullptr;
    int32_t failed = plugin->disassemble(&request, &raw);
    std::unique_ptr<ilk_compiler_output, decltype(plugin->release)> output(raw, plugin->release);
    if (failed)
      return makeError(Code::badInput, plugin->error(output.get()));
    size_t size = 0;
    const char *bytes = plugin->part(output.get(), "objects", &size);
    nlohmann::json objects = nlohmann::json::parse(std::string_view(bytes ? bytes : "", size), nullptr, false);
    std::vector<Disassembly> made;
    for (const nlohmann::json &each : objects)
      made.push_back({each.value("target", ""), each.value("asm", "")});
    return made;
  }

private:
  /// `request` says what to compile; the rest of it is filled in here.
  Result<std::map<std::string, std::string>> compile(ilk_compiler_request &request,
                                                     const std::vector<std::string> &parts) {
    ForkGate gate;
    ILK_ASSIGN_OR_RETURN(const Plugin *plugin, load());
    std::string names = fmt::format("{}", fmt::join(parts, ","));
    request.size = sizeof(request);
    request.template_dir = options.templateDir.empty() ? nullptr : options.templateDir.c_str();
    request.parts = names.c_str();
    if (!options.lineFile.empty())
      request.line_file = options.lineFile.c_str();
    ilk_compiler_output *raw = nullptr;
    int32_t failed = plugin->compile(&request, &raw);
    std::unique_ptr<ilk_compiler_output, decltype(plugin->release)> output(raw, plugin->release);
    if (failed)
      return makeError(Code::compile, plugin->error(output.get()));
    std::map<std::string, std::string> made;
    for (const std::string &part : parts) {
      size_t size = 0;
      if (const char *bytes = plugin->part(output.get(), part.c_str(), &size))
        made[part].assign(bytes, size);
    }
    return made;
  }

  /// Its file's notes tell; only where they do not it is loaded for that.
  Result<std::string> statedIdentity() {
    std::lock_guard lock(mutex);
    if (!toldByFile.empty())
      return toldByFile;
    std::error_code error;
    std::vector<std::string> places = candidates(options.path);
    auto first = std::find_if(places.begin(), places.end(), [&](auto &place) { return fs::exists(place, error); });
    if (auto told = !plugin && first != places.end() ? identityOfPluginFile(*first) : std::nullopt)
      return toldByFile = *told;
    ILK_ASSIGN_OR_RETURN(const Plugin *loaded, loadUnderLock());
    return statedBy(*loaded);
  }

  static std::string statedBy(const Plugin &plugin) {
    const char *stated = plugin.identity();
    return stated ? stated : "";
  }

  Result<const Plugin *> load() {
    std::lock_guard lock(mutex);
    return loadUnderLock();
  }

  Result<const Plugin *> loadUnderLock() {
    if (plugin)
      return &*plugin;
    std::string why;
    void *library = nullptr;
    for (const std::string &place : candidates(options.path)) {
      if ((library = dlopen(place.c_str(), RTLD_NOW | RTLD_LOCAL)))
        break;
      if (const char *message = dlerror(); why.empty() && message)
        why = message;
    }
    if (!library)
      return makeError(
          Code::notFound,
          fmt::format("expected the compiler plugin {} beside the library, in ../lib or on the loader's path, "
                      "found none ({}): only cached kernels can be used",
                      libraryName, why));
    Plugin found;
    auto resolve = [&](auto &function, const char *name) {
      function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(dlsym(library, name));
      return function != nullptr;
    };
    bool complete =
        resolve(found.abi, "ilk_compiler_abi") && resolve(found.identity, "ilk_compiler_identity") &&
        resolve(found.compile, "ilk_compiler_compile") && resolve(found.disassemble, "ilk_compiler_disassemble") &&
        resolve(found.part, "ilk_compiler_output_part") && resolve(found.error, "ilk_compiler_output_error") &&
        resolve(found.release, "ilk_compiler_output_free");
    if (!complete || found.abi() != ILK_COMPILER_ABI)
      return makeError(Code::unsupported,
                       fmt::format("expected a compiler plugin of interface {}, got {}: the plugin of this "
                                   "library's version would do",
                                   ILK_COMPILER_ABI, complete ? std::to_string(found.abi()) : "an incomplete one"));
    // Keys were made of what the file told: what this one makes must not stand under them.
    if (!toldByFile.empty() && statedBy(found) != toldByFile)
      return makeError(Code::unsupported,
                       fmt::format("expected the compiler plugin {}, got {}: it was replaced while this process used "
                                   "it, and a new process would do",
                                   toldByFile, statedBy(found)));
    plugin = std::move(found);
    return &*plugin;
  }

  PluginOptions options;
  std::mutex mutex;
  std::optional<Plugin> plugin;
  std::string toldByFile; ///< the identity that this process works with, if the plugin's file told it
};

} // namespace

Result<std::vector<Disassembly>> Compiler::disassemble(std::string_view, const std::string &) {
  return makeError(Code::notFound, "expected a compiler that can disassemble code objects, got one that cannot: the "
                                   "compiler plugin would do");
}

Result<std::map<std::string, std::string>> compileModule(const PluginOptions &options, const ModuleText &module,
                                                         const std::vector<std::string> &parts) {
  return PluginCompiler(options).compile(module, parts);
}

Result<std::vector<Disassembly>> disassemble(const PluginOptions &options, std::string_view object,
                                             const std::string &chip) {
  return PluginCompiler(options).disassemble(object, chip);
}

Status loadPlugin(const PluginOptions &options) { return PluginCompiler(options).loads(); }

Disassembler pluginDisassembler(const std::string &path) {
  auto compiler = std::make_shared<PluginCompiler>(PluginOptions{.path = path});
  return [compiler](std::string_view object, std::string_view chip) -> Result<std::string> {
    ILK_ASSIGN_OR_RETURN(std::vector<Disassembly> made, compiler->disassemble(object, std::string(chip)));
    return made.empty() ? std::string() : std::move(made.front().text);
  };
}

std::shared_ptr<Compiler> makePluginCompiler(const PluginOptions &options) {
  return std::make_shared<PluginCompiler>(options);
}

} // namespace interlock
