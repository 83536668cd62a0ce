// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// `interlock compile`: one kernel from its description, through the cache, and any step's product on the way.
#include "runtime/tools/CacheFlags.h"
#include "runtime/tools/Finding.h"
#include "runtime/tools/LayerFlags.h"
#include "runtime/tools/Tool.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>

#include <unistd.h>

namespace interlock::tool {

namespace {
struct CompileFlags {
  LayerFlags layer;
  std::string kernel, module, target = "sm_90a", emit, output, templates;
};

/// What `--emit` can name, in the order of the pipeline. The cached ones are kept in the artefact; the others are
/// made anew each time. Some are of one vendor's chips.
struct Product {
  std::string_view name;
  bool cached;
  std::string_view vendor;
};
constexpr Product products[] = {{"stages", false, ""},     {"expanded", false, ""}, {"verified", false, ""},
                                {"lowered", false, ""},    {"llvm", false, ""},     {"ptx", true, "nvptx"},
                                {"cubin", true, "nvptx"},  {"sass", true, "nvptx"}, {"asm", true, "amdgcn"},
                                {"hsaco", true, "amdgcn"}, {"meta", true, ""}};

Status checkProduct(const Product &product, const TargetInfo &target) {
  if (product.vendor.empty() || product.vendor == target.vendor)
    return {};
  return makeError(Code::badInput, fmt::format("expected --emit {} for {}, which is an {} chip, got '{}'",
                                               target.isAMD() ? "asm or hsaco" : "ptx, cubin or sass", target.name,
                                               target.isAMD() ? "AMD" : "NVIDIA", product.name));
}

Result<Product> parseEmit(const std::string &text) {
  std::string names;
  for (const Product &product : products) {
    if (product.name == text)
      return product;
    names += fmt::format("{}{}", names.empty() ? "" : ", ", product.name);
  }
  return makeError(Code::badInput, fmt::format("expected --emit {}, got '{}'", names, text));
}

Result<KernelSpec> specOf(const CompileFlags &flags) {
  KernelSpec spec;
  ILK_ASSIGN_OR_RETURN(spec.kernel, parseKernelKind(flags.kernel));
  ILK_ASSIGN_OR_RETURN(TargetInfo target, findTarget(flags.target));
  ILK_ASSIGN_OR_RETURN(spec.layer, flags.layer.layer());
  ILK_ASSIGN_OR_RETURN(OperationOptions options, flags.layer.operation());
  spec.target = target.name;
  spec.schedule = options.schedule;
  spec.cluster = options.cluster;
  spec.wait = options.wait.value_or(cheapestWait(target));
  // The grid is the launch's; only the geometry that is folded into the kernel matters here.
  DeviceInfo device{"", spec.target, 132, 0, 0};
  LaunchGeometry geometry =
      defaultGeometry(spec.layer, spec.kernel, spec.cluster, device, 1, flags.layer.geometry, spec.schedule);
  spec.blockThreads = geometry.blockThreads;
  spec.tileTokens = geometry.tileTokens;
  ILK_RETURN_IF_ERROR(validate(spec));
  return spec;
}

Result<std::string> cubinOf(const std::string &binary) {
  if (!binary.empty())
    return binary;
  return makeError(Code::notFound, "expected nvJitLink to assemble the PTX, found none; --emit ptx and ptxas would do");
}

/// Disassembles by the CUDA toolkit's tools, which read a file.
Result<std::string> sassOf(const Context &context, const std::string &binary) {
  auto nvdisasm = findProgram({"nvdisasm"}, context.searchPath);
  auto cuobjdump = findProgram({"cuobjdump"}, context.searchPath);
  if (!nvdisasm && !cuobjdump)
    return makeError(Code::notFound, "expected nvdisasm or cuobjdump on the PATH to print SASS, found neither");
  ILK_ASSIGN_OR_RETURN(std::string cubin, cubinOf(binary));
  std::error_code error;
  std::string pattern = (std::filesystem::temp_directory_path(error) / "interlock-XXXXXX").string();
  int file = mkstemp(pattern.data());
  if (file < 0)
    return makeError(Code::notFound, fmt::format("expected to write {}, could not", pattern));
  close(file);
  std::ofstream(pattern, std::ios::binary) << cubin;
  auto text = nvdisasm ? outputOf({*nvdisasm, "-c", pattern}) : outputOf({*cuobjdump, "-sass", pattern});
  std::filesystem::remove(pattern, error);
  if (!text)
    return makeError(Code::device,
                     fmt::format("expected {} to read the cubin, but it failed", nvdisasm ? *nvdisasm : *cuobjdump));
  return *text;
}

Result<std::string> productOf(const Context &context, const std::string &name, const Artifact &artifact) {
  if (name == "ptx" || name == "asm")
    return artifact.text;
  if (name == "hsaco")
    return artifact.binary;
  if (name == "cubin")
    return cubinOf(artifact.binary);
  if (name == "sass")
    return sassOf(context, artifact.binary);
  return artifact.meta.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

Status deliver(const CompileFlags &flags, const std::string &bytes, nlohmann::json &report, bool json) {
  report["bytes"] = bytes.size();
  if (!flags.output.empty()) {
    report["output"] = flags.output;
    std::ofstream file(flags.output, std::ios::binary);
    if (!(file << bytes) || !file.flush())
      return makeError(Code::badInput, fmt::format("expected to write {}, could not", flags.output));
    return {};
  }
  if (flags.emit == "cubin" || flags.emit == "hsaco")
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
  for (const char *key : {"remarks", "findings"})
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
  ILK_ASSIGN_OR_RETURN(Product product, parseEmit(flags.emit));
  std::ifstream file(flags.module, std::ios::binary);
  std::string text{std::istreambuf_iterator<char>(file), {}};
  if (!file.is_open() || file.bad())
    return makeError(Code::badInput, fmt::format("expected to read {}, could not", flags.module));
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

Status compile(const Context &context, const CompileFlags &flags) {
  if (!flags.module.empty())
    return compileModuleFile(context, flags);
  Product product{"", true, ""};
  if (!flags.emit.empty()) {
    ILK_ASSIGN_OR_RETURN(product, parseEmit(flags.emit));
  }
  ILK_ASSIGN_OR_RETURN(KernelSpec spec, specOf(flags));
  ILK_ASSIGN_OR_RETURN(TargetInfo target, findTarget(spec.target));
  ILK_RETURN_IF_ERROR(checkProduct(product, target));
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
      ILK_ASSIGN_OR_RETURN(bytes, productOf(context, flags.emit, *found.artifact));
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
  source->add_option("--kernel", flags->kernel, "dispatch or combine");
  source->add_option("--module", flags->module, "MLIR file with one kernel: a product of --emit, or written by hand");
  command->add_option("--target", flags->target, "the chip to generate for (`interlock targets` lists them)");
  flags->layer.addTo(*command);
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
