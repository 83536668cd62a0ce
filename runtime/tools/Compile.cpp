// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// `interlock compile`: one kernel from its description, through the cache, and any step's product on the way.
#include "runtime/tools/CacheFlags.h"
#include "runtime/tools/KernelFlags.h"
#include "runtime/tools/Parts.h"
#include "runtime/tools/SourceFlags.h"
#include "runtime/tools/Tool.h"

#include <fmt/format.h>

#include <filesystem>
#include <fstream>
#include <iterator>

namespace interlock::tool {

namespace {
struct CompileFlags {
  KernelFlags kernel;
  SourceFlags source;
  std::string module, emit, output, templates;
};

Status deliver(const CompileFlags &flags, const std::string &bytes, nlohmann::json &report, bool json) {
  report["bytes"] = bytes.size();
  if (!flags.output.empty()) {
    report["output"] = flags.output;
    std::ofstream file(flags.output, std::ios::binary);
    if (!(file << bytes) || !file.flush())
      return makeError(Code::badInput, fmt::format("expected to write {}, could not", flags.output));
    return {};
  }
  if (auto part = parsePart(flags.emit); part && part->binary)
    return makeError(Code::badInput, fmt::format("expected -o FILE with --emit {}, got none", flags.emit));
  if (json)
    report["text"] = bytes;
  else
    fmt::print("{}", bytes);
  return {};
}

void describe(const Lookup &found, nlohmann::json &report) {
  const Artifact &artifact = *found.artifact;
  report["cache"] = found.outcome == Outcome::miss ? "miss" : "hit";
  report["from"] = name(found.outcome);
  report["reason"] = found.reason;
  report["ms"] = found.milliseconds;
  report["entry"] = artifact.facts.entry;
  report["block_threads"] = artifact.facts.blockThreads;
  report["cluster"] = artifact.facts.cluster;
  report["shared_bytes"] = artifact.facts.sharedBytes;
  if (Result<TargetInfo> target = findTarget(artifact.spec.target)) {
    report[fmt::format("{}_bytes", target->textPart())] = artifact.text.size();
    report[fmt::format("{}_bytes", target->binaryPart())] = artifact.binary.size();
  }
  for (const char *key : {"launch_mode", "launch_waits", "remarks", "findings"})
    if (artifact.meta.contains(key))
      report[key] = artifact.meta[key];
}

/// A product of a module that somebody wrote or that an earlier `--emit` printed.
Status compileModuleFile(const Context &context, const CompileFlags &flags) {
  if (flags.emit.empty() || flags.emit == "stages")
    return makeError(Code::badInput,
                     fmt::format("expected --emit expanded, verified, lowered, llvm, ptx, cubin, sass, asm, "
                                 "hsaco or meta with --module, got '{}': a module is not cached",
                                 flags.emit));
  ILK_ASSIGN_OR_RETURN(Part product, parsePart(flags.emit));
  std::error_code error;
  std::ifstream file(flags.module, std::ios::binary);
  if (!file.is_open() || std::filesystem::is_directory(flags.module, error))
    return makeError(Code::badInput, fmt::format("expected to read {}, could not", flags.module));
  std::string text{std::istreambuf_iterator<char>(file), {}};
  std::string part = product.name == "sass" ? "cubin" : std::string(product.name);
  ILK_ASSIGN_OR_RETURN(auto parts,
                       compileModule({context.compilerPath, flags.templates}, {text, flags.module}, {part}));
  std::string bytes = std::move(parts[part]);
  if (product.name == "cubin") {
    ILK_ASSIGN_OR_RETURN(bytes, cubinOf(bytes));
  } else if (product.name == "sass") {
    ILK_ASSIGN_OR_RETURN(bytes, sassOf(context, bytes));
  }
  nlohmann::json report = {
      {"module", flags.module}, {"cache", "miss"}, {"reason", "a module is compiled anew each time"}};
  ILK_RETURN_IF_ERROR(deliver(flags, bytes, report, context.json));
  if (context.json)
    print(report);
  return {};
}

/// A kernel of a source, through the same cache.
Status compileSourceFile(const Context &context, const CompileFlags &flags) {
  Part product{"", "", true};
  if (!flags.emit.empty()) {
    ILK_ASSIGN_OR_RETURN(product, parsePart(flags.emit));
  }
  if (!product.cached)
    return makeError(Code::badInput, fmt::format("expected --emit ptx, cubin, sass, asm, hsaco or meta with --source, "
                                                 "got '{}': a source has no MLIR",
                                                 flags.emit));
  ILK_ASSIGN_OR_RETURN(TargetInfo target, findTarget(flags.kernel.target));
  ILK_RETURN_IF_ERROR(checkPart(product, target));
  ILK_ASSIGN_OR_RETURN(SourceKernel kernel, flags.source.kernel(flags.kernel.target));
  ILK_ASSIGN_OR_RETURN(std::shared_ptr<KernelCache> cache, openCache(context, {}));
  ILK_ASSIGN_OR_RETURN(CompiledSource made, compileSource(*cache, kernel, {context.nvrtcPath, context.hiprtcPath}));
  nlohmann::json meta = nlohmann::json::parse(made.meta);
  nlohmann::json report = {{"source", flags.source.file},
                           {"entry", made.image.entry},
                           {"target", kernel.target},
                           {"cache", made.outcome == "miss" ? "miss" : "hit"},
                           {"from", made.outcome},
                           {"reason", made.reason},
                           {"ms", made.milliseconds},
                           {"block_threads", made.blockThreads},
                           {"max_threads", made.maxThreads},
                           {"cluster", made.cluster},
                           {"shared_bytes", made.sharedBytes},
                           {fmt::format("{}_bytes", target.textPart()), made.image.text.size()},
                           {fmt::format("{}_bytes", target.binaryPart()), made.image.binary.size()},
                           {"remarks", meta["remarks"]},
                           {"findings", meta["findings"]}};
  if (!flags.emit.empty()) {
    Artifact artifact;
    artifact.text = std::move(made.image.text);
    artifact.binary = std::move(made.image.binary);
    artifact.meta = std::move(meta);
    ILK_ASSIGN_OR_RETURN(std::string bytes, cachedPart(context, product, artifact));
    ILK_RETURN_IF_ERROR(deliver(flags, bytes, report, context.json));
  }
  if (context.json) {
    print(report);
  } else if (flags.emit.empty() || !flags.output.empty()) {
    note(fmt::format("{} of {} for {}: cache {}{}{} in {:.1f} ms{}", made.image.entry, kernel.source.name,
                     kernel.target, made.outcome == "miss" ? "miss" : "hit", made.reason.empty() ? "" : ", ",
                     made.reason, made.milliseconds, flags.output.empty() ? "" : "; wrote " + flags.output));
    for (const nlohmann::json &remark : report["remarks"])
      note("interlock: " + remark.get<std::string>());
  }
  return {};
}

Status compile(const Context &context, const CompileFlags &flags) {
  if (!flags.module.empty())
    return compileModuleFile(context, flags);
  if (flags.source.given())
    return compileSourceFile(context, flags);
  Part product{"", "", true};
  if (!flags.emit.empty()) {
    ILK_ASSIGN_OR_RETURN(product, parsePart(flags.emit));
  }
  ILK_ASSIGN_OR_RETURN(KernelSpec spec, flags.kernel.spec());
  ILK_ASSIGN_OR_RETURN(TargetInfo target, findTarget(spec.target));
  ILK_RETURN_IF_ERROR(checkPart(product, target));
  nlohmann::json report = {{"kernel", name(spec.kernel)},
                           {"target", spec.target},
                           {"schedule", name(spec.schedule)},
                           {"wait", name(spec.wait)},
                           {"tile_tokens", spec.tileTokens}};
  std::string bytes;
  if (product.cached) {
    ILK_ASSIGN_OR_RETURN(auto cache, openCache(context, flags.templates));
    ILK_ASSIGN_OR_RETURN(Lookup found, cache->get(spec));
    describe(found, report);
    if (!flags.emit.empty()) {
      ILK_ASSIGN_OR_RETURN(bytes, cachedPart(context, product, *found.artifact));
    }
  } else {
    ILK_ASSIGN_OR_RETURN(auto parts, compileParts(context, spec, flags.templates, {flags.emit}));
    bytes = std::move(parts[flags.emit]);
    report["cache"] = "miss";
    report["reason"] = fmt::format("{} is made anew each time", flags.emit);
  }
  if (!flags.emit.empty())
    ILK_RETURN_IF_ERROR(deliver(flags, bytes, report, context.json));
  if (context.json)
    print(report);
  else if (product.cached && (flags.emit.empty() || !flags.output.empty()))
    note(fmt::format("{} for {}: cache {}{}{} in {:.1f} ms{}", name(spec.kernel), spec.target,
                     report["cache"].get<std::string>(), report["reason"].get<std::string>().empty() ? "" : ", ",
                     report["reason"].get<std::string>(), report["ms"].get<double>(),
                     flags.output.empty() ? "" : "; wrote " + flags.output));
  return {};
}
} // namespace

void addCompile(CLI::App &app, Context &context) {
  CLI::App *command = app.add_subcommand("compile", "generate one kernel, or print a step of its making");
  auto flags = std::make_shared<CompileFlags>();
  auto *source = command->add_option_group("source")->require_option(1);
  flags->kernel.addTo(*command, *source);
  source->add_option("--module", flags->module, "MLIR file with one kernel: a product of --emit, or written by hand");
  flags->source.addTo(*command, *source);
  command->add_option("--emit", flags->emit,
                      "stages, expanded, verified, lowered, llvm, ptx, cubin, sass, asm, hsaco or meta (default: only "
                      "cache it); asm and hsaco are of AMD chips, ptx, cubin and sass of NVIDIA's");
  command->add_option("-o,--output", flags->output, "file to write (default: stdout)");
  command->add_option("--templates", flags->templates, "directory of templates that override the built-in ones");
  command->callback([&context, flags] {
    if (Status status = compile(context, *flags); !status)
      context.exitCode = fail(context, status.error());
  });
}

} // namespace interlock::tool
