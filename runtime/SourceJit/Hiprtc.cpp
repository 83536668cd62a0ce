// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// Which hiprtc there is, what it may be asked, and what its answers mean. Loading and calling it is HiprtcChild.cpp's.
#include "runtime/SourceJit/Hiprtc.h"

#include "runtime/SourceJit/ChildProcess.h"
#include "runtime/SourceJit/SourceForm.h"
#include "runtime/SourceJit/VendorBuild.h"
#include "runtime/Spec/ElfFile.h"
#include "runtime/Spec/OwnFile.h"
#include "runtime/Spec/VendorLibrary.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <filesystem>
#include <regex>

namespace interlock {

namespace fs = std::filesystem;

namespace {
struct Known {
  std::string_view chip;
  uint32_t major, minor;
};
constexpr Known known[] = {
#define ILK_HIPRTC(chip, major, minor) {chip, major, minor},
#include "runtime/SourceJit/HiprtcTargets.def"
#undef ILK_HIPRTC
};

constexpr std::array rocmFolders = {"/opt/rocm/lib", "/opt/rocm/lib64"};

/// A library of ROCm: beside the one that is known, or wherever the loader finds it.
std::optional<std::string> companion(const fs::path &folder, const std::string &name) {
  if (std::error_code error; fs::is_regular_file(folder / name, error))
    return (folder / name).string();
  const std::array names = {name.c_str()};
  auto found = findVendorLibrary(names, rocmFolders);
  return found ? std::optional(found->path) : std::nullopt;
}

/// hiprtc itself, its headers, and the compiler behind it: comgr, which links LLVM or needs it.
std::string identityOf(const fs::path &library) {
  std::error_code error;
  const fs::path real = fs::canonical(library, error), folder = real.parent_path();
  nlohmann::json builds = {{library.filename().string(), buildOfFile(library.string())}};
  for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error))
    if (std::string name = at->path().filename().string(); name.rfind("libhiprtc-builtins.so.", 0) == 0)
      builds[name] = buildOfFile(at->path().string());
  for (const char *name : {"libamd_comgr.so.3", "libamd_comgr.so.2"})
    if (auto comgr = companion(folder, name)) {
      builds[name] = buildOfFile(*comgr);
      for (const std::string &needed : neededByFile(*comgr))
        if (needed.rfind("libLLVM", 0) == 0 || needed.rfind("libclang", 0) == 0)
          if (auto compiler = companion(fs::path(*comgr).parent_path(), needed))
            builds[needed] = buildOfFile(*compiler);
      break;
    }
  return builds.dump();
}

/// The first error of a log, `add.hip:12: use of undeclared identifier 'n'`, or its first line.
std::string firstProblem(const std::string &log, const std::string &entry) {
  const std::regex problem(R"(([^\n:]+):(\d+):\d+: (?:fatal )?error: ([^\n]*)(\n[^\n]*)?)");
  std::smatch match;
  if (!std::regex_search(log, match, problem))
    return log.substr(0, log.find('\n'));
  // hiprtc asks for the entry in a line of its own behind the source.
  if (match[4].str().find("__hiprtc_") != std::string::npos)
    return fmt::format("the kernel that was asked for, `{}`: {}", entry, match[3].str());
  return fmt::format("{}:{}: {}", match[1].str(), match[2].str(), match[3].str());
}

bool isOfAnOption(const std::string &log) {
  const std::regex option(R"((^|\n)[^\n:]*error: (unsupported option|unknown argument|no such file))");
  return std::regex_search(log, option);
}

/// hiprtc reads from files in a temporary folder, whose name `__FILE__` and messages would have.
std::string named(const SourceText &text) { return fmt::format("#line 1 \"{}\"\n{}", text.name, text.text); }
} // namespace

Result<std::shared_ptr<Hiprtc>> Hiprtc::find(const SourceOptions &options) {
  constexpr std::array names = {"libhiprtc.so.7", "libhiprtc.so.6", "libhiprtc.so.5", "libamdhip64.so.5"};
  std::shared_ptr<Hiprtc> found(new Hiprtc);
  found->library = options.hiprtcPath;
  found->limit = std::chrono::seconds(options.hiprtcSeconds);
  if (options.hiprtcPath.empty()) {
    if (auto library = findVendorLibrary(names, rocmFolders))
      found->library = library->path;
  }
  std::error_code error;
  if (found->library.empty() || !fs::is_regular_file(found->library, error))
    return makeError(
        Code::notFound,
        fmt::format("expected hiprtc to compile HIP C++ with, found none at {}: ROCm's libhiprtc.so or, of ROCm 5, "
                    "libamdhip64.so.5 would do",
                    options.hiprtcPath.empty() ? "the loader's path and /opt/rocm" : options.hiprtcPath));
  auto helper =
      options.hiprtcHelper.empty() ? findBesideOwnFile("interlock-hiprtc", "bin") : std::optional(options.hiprtcHelper);
  if (!helper || !fs::is_regular_file(*helper, error))
    return makeError(Code::notFound, fmt::format("expected the program interlock-hiprtc, which runs hiprtc, beside the "
                                                 "library or in ../bin, found none{}",
                                                 helper ? " at " + *helper : ""));
  found->helper = *helper;
  const std::regex version(R"(\.so\.(\d+)(?:\.(\d+))?(?:\.\d+)*$)");
  std::string real = fs::canonical(found->library, error).filename().string();
  std::smatch match;
  if (std::regex_search(real, match, version) && match[1].length() < 5 && match[2].length() < 5) {
    found->major = uint32_t(std::stoul(match[1]));
    found->minor = match[2].matched ? uint32_t(std::stoul(match[2])) : 0;
    found->versionName = "hiprtc " + match.str().substr(4);
  } else {
    found->versionName = "hiprtc of an unknown version";
  }
  found->build = identityOf(found->library);
  return found;
}

Status Hiprtc::checkTarget(const std::string &target) const {
  const Known *chip = std::find_if(std::begin(known), std::end(known), [&](auto &each) { return each.chip == target; });
  if (chip == std::end(known))
    return makeError(Code::unsupported,
                     fmt::format("expected a chip that hiprtc is known to compile for, got {}: a kernel of a spec, "
                                 "which the compiler plugin makes, or gfx90a would do",
                                 target));
  if (std::pair(major, minor) < std::pair(chip->major, chip->minor))
    return makeError(Code::unsupported, fmt::format("expected the hiprtc of HIP {}.{} or later for {}, got {}, which "
                                                    "would crash",
                                                    chip->major, chip->minor, target, versionName));
  return {};
}

Result<HiprtcOutput> Hiprtc::compile(const SourceKernel &kernel) const {
  ILK_RETURN_IF_ERROR(checkTarget(kernel.target));
  std::vector<std::string> options = kernel.options;
  options.push_back("--offload-arch=" + kernel.target);
  options.emplace_back("-nostdinc"); // or it would find headers of this machine
  nlohmann::json headers = nlohmann::json::array();
  for (const SourceText &header : kernel.headers)
    headers.push_back({header.name, named(header)});
  const std::vector<uint8_t> request = nlohmann::json::to_cbor({{"library", fs::absolute(library).string()},
                                                                {"file", kernel.source.name},
                                                                {"source", named(kernel.source)},
                                                                {"entry", kernel.entry},
                                                                {"headers", headers},
                                                                {"options", options}});
  ILK_ASSIGN_OR_RETURN(ChildEnd end,
                       runChild(helper, {reinterpret_cast<const char *>(request.data()), request.size()}, limit));
  nlohmann::json reply = nlohmann::json::from_cbor(end.reply, /*strict=*/true, /*allow_exceptions=*/false);
  auto text = [&](const char *field) {
    auto found = reply.find(field);
    return found != reply.end() && found->is_string() ? found->get<std::string>() : std::string();
  };
  if (!reply.is_object() || end.code.value_or(0) != 0) {
    std::string said = end.said.substr(0, end.said.find_last_not_of(" \n") + 1);
    said = said.substr(said.rfind('\n') + 1);
    return makeError(Code::compile, fmt::format("{} {} when it compiled {} for {}{}{}", versionName, end.how(limit),
                                                nameOf(kernel), kernel.target, said.empty() ? "" : ": ", said));
  }
  if (reply.contains("load"))
    return makeError(Code::notFound, fmt::format("expected to load {}, could not: {}", library, text("load")));
  std::string log = text("log");
  log.erase(std::find(log.begin(), log.end(), '\0'), log.end());
  log.erase(log.find_last_not_of(" \n") + 1);
  if (!reply.contains("result") || reply["result"] != 0) {
    if (isOfAnOption(log))
      return makeError(Code::badInput,
                       fmt::format("expected options that {} knows, got one that it does not: {}", versionName, log));
    return makeError(Code::compile, fmt::format("{} [{}]\n{}", firstProblem(log, kernel.entry), versionName, log));
  }
  HiprtcOutput output{{}, text("entry"), versionName};
  if (reply.contains("code") && reply["code"].is_binary()) {
    const auto &bytes = reply["code"].get_binary();
    output.object.assign(bytes.begin(), bytes.end());
  }
  if (output.entry.empty() || output.object.empty())
    return makeError(Code::compile,
                     fmt::format("expected {} to make a code object of {}, got {}: options that ask for "
                                 "another form have to go",
                                 versionName, nameOf(kernel), output.entry.empty() ? "no kernel" : "none"));
  return output;
}

} // namespace interlock
