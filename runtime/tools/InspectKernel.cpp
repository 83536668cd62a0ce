// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
#include "runtime/tools/InspectKernel.h"

#include "runtime/tools/CacheFlags.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <optional>

namespace interlock::tool {

namespace fs = std::filesystem;

namespace {
/// A PTX text without what says which line of the expanded kernel an instruction came from.
std::string withoutLines(std::string_view ptx) {
  std::string rest;
  while (!ptx.empty()) {
    size_t end = std::min(ptx.find('\n'), ptx.size() - 1) + 1;
    std::string_view line = ptx.substr(0, end);
    ptx.remove_prefix(end);
    size_t begin = std::min(line.find_first_not_of(" \t"), line.size());
    auto starts = [&](std::string_view word) { return line.substr(begin, word.size()) == word; };
    if (!starts(".loc") && !starts(".file") && !starts(".section\t.debug_macinfo") && !starts("$L__tmp") &&
        !starts("$L__func_"))
      rest += line;
  }
  return rest;
}

class KernelView {
public:
  KernelView(const Context &context, const InspectedKernel &kernel, const InspectRequest &request)
      : context(context), kernel(kernel), request(request) {}

  Status run() {
    if (!request.folder.empty()) {
      std::error_code error;
      fs::create_directories(request.folder, error);
      base = fs::absolute(request.folder, error) / fmt::format("{}-{}", kernelName(), kernel.key.substr(0, 16));
      if (!fs::is_directory(request.folder, error))
        return makeError(Code::badInput,
                         fmt::format("expected a folder to write to, could not make {}", request.folder));
    }
    ILK_RETURN_IF_ERROR(chooseParts());
    compileAnew();
    for (const Part &part : chosen)
      ILK_RETURN_IF_ERROR(show(part));
    if (context.json)
      print({{"key", kernel.key},
             {isSource() ? "source" : "spec",
              isSource() ? kernel.source() : nlohmann::json(canonicalForm(kernel.artifact.spec))},
             {"parts", report},
             {"notes", notes}});
    return missing ? Status(tl::unexpected(*missing)) : Status();
  }

private:
  bool isSource() const { return !kernel.artifact.source.empty(); }
  std::string kernelName() const {
    return isSource() ? kernel.artifact.facts.entry : std::string(name(kernel.artifact.spec.kernel));
  }
  bool inFolder() const { return !request.folder.empty(); }
  std::string fileOf(std::string_view suffix) const { return base.string() + std::string(suffix); }
  void say(std::string sentence) {
    if (!context.json)
      note("interlock: " + sentence);
    notes.push_back(std::move(sentence));
  }

  /// Those of the chip's vendor; one of the other's that was named is refused.
  Status chooseParts() {
    ILK_ASSIGN_OR_RETURN(TargetInfo target, findTarget(kernel.artifact.spec.target));
    for (const Part &part : request.parts.parts) {
      Status status = checkPart(part, target);
      if (!status && !request.parts.all)
        return status;
      if (status)
        chosen.push_back(part);
    }
    return {};
  }

  /// The steps that are not cached, and in a folder PTX and cubin with lines.
  void compileAnew() {
    if (isSource()) {
      whyNotMade = Error{Code::unsupported, "the kernel was given as source, which has no MLIR"};
      return;
    }
    std::vector<std::string> wanted;
    for (const Part &part : chosen)
      if (!part.cached)
        wanted.emplace_back(part.name);
    bool withLines = inFolder() && std::any_of(chosen.begin(), chosen.end(), [](const Part &part) {
                       return part.name == "ptx" || part.name == "cubin" || part.name == "sass";
                     });
    if (withLines)
      for (const char *part : {"expanded", "ptx", "cubin"})
        if (std::find(wanted.begin(), wanted.end(), part) == wanted.end())
          wanted.emplace_back(part);
    if (wanted.empty())
      return;
    const PluginOptions options{context.compilerPath, request.templates, withLines ? fileOf(".expanded.mlir") : ""};
    auto compiler = makePluginCompiler(options);
    auto parts = compiler->compile(kernel.artifact.spec, wanted);
    if (!parts) {
      whyNotMade = parts.error();
      if (withLines)
        say(fmt::format("ptx and cubin are those of the cache, without lines, because they cannot be made again: {}",
                        whyNotMade->message));
      return;
    }
    made = std::move(*parts);
    auto plain = makePluginCompiler({context.compilerPath, request.templates})->identity();
    bool sameCompiler = plain && *plain == kernel.identity;
    if (!sameCompiler)
      say("the kernel was made by another compiler than the one at hand: the steps are what this one makes of its "
          "spec");
    if (withLines && withoutLines(made["ptx"]) != kernel.artifact.text) {
      say("ptx and cubin are those of the cache, without lines, because this compiler makes other ones");
      made.erase("ptx");
      made.erase("cubin");
    }
    if (withLines && made.count("ptx"))
      write(fileOf(".expanded.mlir"), made["expanded"]);
  }

  Result<std::string> bytesOf(const Part &part) {
    if (!part.cached && whyNotMade)
      return tl::unexpected(*whyNotMade);
    if (part.name == "sass" && made.count("cubin"))
      return sassOf(context, made["cubin"], /*lines=*/inFolder());
    if (auto found = made.find(std::string(part.name)); found != made.end())
      return found->second;
    if (part.cached)
      return cachedPart(context, part, kernel.artifact);
    return makeError(Code::internal, fmt::format("expected the compiler to make {}, got nothing", part.name));
  }

  Status show(const Part &part) {
    nlohmann::json &entry = report[std::string(part.name)] = nlohmann::json::object();
    auto bytes = part.binary && !inFolder()
                     ? Result<std::string>(makeError(Code::badInput, fmt::format("expected -o DIR for {}, which is no "
                                                                                 "text, got none",
                                                                                 part.name)))
                     : bytesOf(part);
    if (!bytes) {
      entry["missing"] = bytes.error().message;
      if (!request.partsWereNamed)
        say(fmt::format("no {}: {}", part.name, bytes.error().message));
      else if (!missing)
        missing = bytes.error();
      return {};
    }
    entry["bytes"] = bytes->size();
    if (inFolder()) {
      entry["file"] = fileOf(part.suffix);
      if (!write(fileOf(part.suffix), *bytes))
        return makeError(Code::badInput, fmt::format("expected to write {}, could not", fileOf(part.suffix)));
      if (!context.json)
        fmt::print("{}\n", fileOf(part.suffix));
    } else if (context.json) {
      entry["text"] = *bytes;
    } else {
      if (chosen.size() > 1)
        fmt::print("==== {} ====\n", part.name);
      fmt::print("{}{}", *bytes, bytes->empty() || bytes->back() != '\n' ? "\n" : "");
    }
    return {};
  }

  static bool write(const std::string &file, const std::string &bytes) {
    std::ofstream stream(file, std::ios::binary);
    return (stream << bytes) && stream.flush();
  }

  const Context &context;
  const InspectedKernel &kernel;
  const InspectRequest &request;
  std::vector<Part> chosen;
  fs::path base;
  std::map<std::string, std::string> made;
  std::optional<Error> whyNotMade;
  std::optional<Error> missing;
  nlohmann::json report = nlohmann::json::object();
  std::vector<std::string> notes;
};
} // namespace

nlohmann::json InspectedKernel::source() const {
  return artifact.source.empty() ? nlohmann::json() : nlohmann::json::parse(artifact.source, nullptr, false);
}

Status showParts(const Context &context, const InspectedKernel &kernel, const InspectRequest &request) {
  return KernelView(context, kernel, request).run();
}

} // namespace interlock::tool
