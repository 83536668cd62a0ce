// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
#include "runtime/SourceJit/SourceForm.h"

#include "interlock/spec.hpp"
#include "runtime/Cache/Digest.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <set>

namespace interlock {

namespace {
/// Beginnings of options whose meaning lies outside of what is given (CUDA, "NVRTC", "Supported Compile Options"; Clang
/// command line reference), and what to do instead.
struct Refused {
  std::string_view language; ///< empty: any
  std::string_view option, instead;
};
constexpr Refused refused[] = {
    // clang-format off
    {"",     "--gpu-architecture", "the target says the chip"},
    {"",     "-I",                 "headers are given by name and content"},
    {"",     "-include",           "headers are given by name and content"},
    {"cuda", "-arch",              "the target says the chip"},
    {"cuda", "--include-path",     "headers are given by name and content"},
    {"cuda", "--pre-include",      "headers are given by name and content"},
    {"cuda", "--pch",              "precompiled headers are files"},
    {"cuda", "-pch",               "precompiled headers are files"},
    {"cuda", "--create-pch",       "precompiled headers are files"},
    {"cuda", "-create-pch",        "precompiled headers are files"},
    {"cuda", "--use-pch",          "precompiled headers are files"},
    {"cuda", "-use-pch",           "precompiled headers are files"},
    {"cuda", "--time",             "it writes a file"},
    {"cuda", "-time",              "it writes a file"},
    {"cuda", "--fdevice-time-trace", "it writes a file"},
    {"cuda", "-fdevice-time-trace",  "it writes a file"},
    {"cuda", "--device-time-trace",  "it writes a file"},
    {"hip",  "--offload-arch",     "the target says the chip"},
    {"hip",  "--offload=",         "the target says the chip"},
    {"hip",  "-mcpu",              "the target says the chip"},
    {"hip",  "-target",            "the target says the chip"},
    {"hip",  "--target",           "the target says the chip"},
    {"hip",  "--include",          "headers are given by name and content"},
    {"hip",  "-imacros",           "headers are given by name and content"},
    {"hip",  "-isystem",           "headers are given by name and content"},
    {"hip",  "-iquote",            "headers are given by name and content"},
    {"hip",  "-idirafter",         "headers are given by name and content"},
    {"hip",  "-isysroot",          "headers are given by name and content"},
    {"hip",  "-iprefix",           "headers are given by name and content"},
    {"hip",  "-cxx-isystem",       "headers are given by name and content"},
    {"hip",  "-stdlib++-isystem",  "headers are given by name and content"},
    {"hip",  "-internal-",         "headers are given by name and content"},
    {"hip",  "--sysroot",          "headers are given by name and content"},
    {"hip",  "-resource-dir",      "headers are given by name and content"},
    {"hip",  "--rocm-",            "the device libraries are those of hiprtc"},
    {"hip",  "--hip-",             "the device libraries are those of hiprtc"},
    {"hip",  "-mlink-builtin",     "the device libraries are those of hiprtc"},
    {"hip",  "-fmodule",           "modules are files"},
    {"hip",  "-fpch",              "precompiled headers are files"},
    {"hip",  "-fprofile",          "profiles are files"},
    {"hip",  "-fplugin",           "plugins are files"},
    {"hip",  "-fpass-plugin",      "plugins are files"},
    {"hip",  "-load",              "plugins are files"},
    {"hip",  "-Xclang",            "it hides an option that reads or writes files"},
    {"hip",  "-save-temps",        "it writes files"},
    {"hip",  "--save-temps",       "it writes files"},
    {"hip",  "-ftime-trace",       "it writes a file"},
    {"hip",  "-fsave-optimization-record", "it writes a file"},
    {"hip",  "-M",                 "it writes a file"},
    {"hip",  "-o",                 "it writes a file"},
    {"hip",  "@",                  "it reads a file"},
    // clang-format on
};

bool holdsZero(std::string_view text) { return text.find('\0') != std::string_view::npos; }

/// Names of headers may have folders in them, as in `#include "detail/sum.h"`, but lead nowhere else.
bool isPlainName(std::string_view name) {
  return !name.empty() && name.front() != '/' && name.find("..") == std::string_view::npos &&
         name.find_first_of("\n\"\\") == std::string_view::npos && !holdsZero(name);
}
} // namespace

Status validate(const SourceKernel &kernel) {
  ILK_RETURN_IF_ERROR(findTarget(kernel.target));
  if (kernel.source.text.empty())
    return makeError(Code::badInput, "expected the text of a source, got an empty one");
  if (kernel.entry.empty())
    return makeError(Code::badInput, fmt::format("expected the name of a kernel of {}, got none", kernel.source.name));
  if (!isPlainName(kernel.source.name) || kernel.source.name.find('/') != std::string::npos)
    return makeError(Code::badInput,
                     fmt::format("expected a name for the source, without folders, got '{}'", kernel.source.name));
  std::set<std::string> names;
  for (const SourceText &header : kernel.headers) {
    if (!isPlainName(header.name))
      return makeError(Code::badInput,
                       fmt::format("expected the name of a header as it is included, got '{}'", header.name));
    if (!names.insert(header.name).second)
      return makeError(Code::badInput, fmt::format("expected one header {}, got two of that name", header.name));
  }
  for (const std::string &option : kernel.options)
    for (const Refused &each : refused)
      if ((each.language.empty() || each.language == languageOf(kernel)) &&
          option.compare(0, each.option.size(), each.option) == 0)
        return makeError(
            Code::badInput,
            fmt::format("expected options that depend on nothing but the source, got {}: {}", option, each.instead));
  bool cut = holdsZero(kernel.source.text) || holdsZero(kernel.entry) ||
             std::any_of(kernel.headers.begin(), kernel.headers.end(), [](auto &h) { return holdsZero(h.text); }) ||
             std::any_of(kernel.options.begin(), kernel.options.end(), [](auto &o) { return holdsZero(o); });
  if (cut)
    return makeError(Code::badInput,
                     fmt::format("expected text in {}, its headers and options, got a zero byte", kernel.source.name));
  return {};
}

std::string canonicalForm(const SourceKernel &kernel) {
  nlohmann::json headers = nlohmann::json::object();
  for (const SourceText &header : kernel.headers)
    headers[header.name] = digestOf(header.text);
  nlohmann::json form = {{"language", languageOf(kernel)},
                         {"name", kernel.source.name},
                         {"source", digestOf(kernel.source.text)},
                         {"entry", kernel.entry},
                         {"options", kernel.options},
                         {"headers", headers},
                         {"target", kernel.target},
                         {"contract", kernel.contract.empty() ? "" : digestOf(kernel.contract)}};
  // Names need not be UTF-8; two that differ only in what is replaced here would be two spellings of a broken name.
  return form.dump(-1, ' ', /*ensure_ascii=*/true, nlohmann::json::error_handler_t::replace);
}

std::string languageOf(const SourceKernel &kernel) {
  Result<TargetInfo> target = findTarget(kernel.target);
  return target && target->isAMD() ? "hip" : "cuda";
}

std::string nameOf(const SourceKernel &kernel) {
  return fmt::format("kernel `{}` of {}", kernel.entry, kernel.source.name);
}

} // namespace interlock
