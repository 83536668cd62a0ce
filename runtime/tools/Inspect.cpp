// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// `interlock inspect`: what the cache holds, one kernel of it or made from a description, or PTX, AMDGCN assembly and
// code objects of whatever origin.
#include "runtime/tools/CacheFlags.h"
#include "runtime/tools/EntryView.h"
#include "runtime/tools/InspectAmdgcn.h"
#include "runtime/tools/InspectKernel.h"
#include "runtime/tools/InspectPtx.h"
#include "runtime/tools/KernelFlags.h"
#include "runtime/tools/Tool.h"

#include "runtime/Cache/EntryFile.h"

#include <fmt/format.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>

namespace interlock::tool {

namespace {
struct InspectFlags {
  std::string what, key, emit, output, templates;
  KernelFlags kernel;

  bool wantsParts() const { return !emit.empty() || !output.empty(); }
};

std::string contentOf(const std::string &file) {
  if (std::error_code error; std::filesystem::is_directory(file, error))
    return {}; // which a stream opens, and then throws
  std::ifstream stream(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

Result<InspectedKernel> readKernel(const CachedEntry &cached) {
  auto entry = decodeEntry(contentOf(cached.path));
  if (!entry)
    return makeError(Code::badInput,
                     fmt::format("expected an entry of use at {}, but {}", cached.path, entry.error().sentence()));
  return InspectedKernel{entry->key, std::move(entry->artifact), std::move(entry->identity), cached.bytes};
}

/// From the cache, or made and left there.
Result<InspectedKernel> makeKernel(const Context &context, const InspectFlags &flags) {
  ILK_ASSIGN_OR_RETURN(KernelSpec spec, flags.kernel.spec());
  ILK_ASSIGN_OR_RETURN(auto cache, openCache(context, flags.templates));
  ILK_ASSIGN_OR_RETURN(Lookup found, cache->get(spec));
  ILK_ASSIGN_OR_RETURN(std::string key, cache->keyOf(spec));
  ILK_ASSIGN_OR_RETURN(std::string identity, makePluginCompiler({context.compilerPath, flags.templates})->identity());
  return InspectedKernel{key, *found.artifact, identity, encodeEntry(*found.artifact, identity).size()};
}

Status showKernel(const Context &context, const InspectFlags &flags, const InspectedKernel &kernel) {
  if (!flags.wantsParts())
    return showArtifact(context, {kernel.key, {}, kernel.artifact.spec, kernel.bytes, kernel.source()},
                        kernel.artifact);
  InspectRequest request;
  request.partsWereNamed = !flags.emit.empty();
  ILK_ASSIGN_OR_RETURN(request.parts, parseParts(flags.emit.empty() ? "all" : flags.emit));
  request.folder = flags.output;
  request.templates = flags.templates;
  return showParts(context, kernel, request);
}

void show(const Context &context, const nlohmann::json &description, const std::string &text) {
  if (context.json)
    print(description);
  else
    fmt::print("{}", text);
}

/// Assembly as a file has it, or as the compiler plugin disassembles it: described, or printed with --emit asm.
Status showAmdgcn(const Context &context, const InspectFlags &flags, const std::vector<Disassembly> &objects) {
  if (!flags.wantsParts()) {
    ILK_ASSIGN_OR_RETURN(nlohmann::json description, describeAmdgcn(objects, flags.what));
    show(context, description, amdgcnAsText(description));
    return {};
  }
  if (flags.emit != "asm" || !flags.output.empty())
    return makeError(Code::badInput,
                     fmt::format("expected --emit asm and no -o of AMDGCN code, got the file {}", flags.what));
  nlohmann::json all = nlohmann::json::array();
  std::string text;
  for (const Disassembly &object : objects) {
    all.push_back({{"target", object.target}, {"asm", object.text}});
    text += object.text;
  }
  show(context, {{"file", flags.what}, {"objects", all}}, text);
  return {};
}

Status showFile(const Context &context, const InspectFlags &flags) {
  const std::string &file = flags.what;
  std::string text = contentOf(file);
  if (text.empty())
    return makeError(Code::badInput, fmt::format("expected a PTX or AMDGCN file, a code object, a cache entry or the "
                                                 "start of an entry's name, found nothing to read at {}",
                                                 file));
  if (looksLikeEntry(text)) {
    ILK_ASSIGN_OR_RETURN(InspectedKernel kernel, readKernel({file, file, {}, text.size()}));
    return showKernel(context, flags, kernel);
  }
  if (looksLikeCodeObject(text)) {
    ILK_ASSIGN_OR_RETURN(std::vector<Disassembly> objects, disassemble({context.compilerPath}, text));
    return showAmdgcn(context, flags, objects);
  }
  if (looksLikeAmdgcn(text))
    return showAmdgcn(context, flags, {{{}, text}});
  if (flags.wantsParts())
    return makeError(Code::badInput,
                     fmt::format("expected a kernel of the cache, a cache entry or --kernel with --emit "
                                 "and -o, got the file {}",
                                 file));
  ILK_ASSIGN_OR_RETURN(nlohmann::json description, describePtx(text, file));
  show(context, description, asText(description));
  return {};
}

Status inspect(const Context &context, const InspectFlags &flags) {
  if (!flags.kernel.kernel.empty()) {
    ILK_ASSIGN_OR_RETURN(InspectedKernel kernel, makeKernel(context, flags));
    return showKernel(context, flags, kernel);
  }
  const std::string &what = flags.key.empty() ? flags.what : flags.key;
  CacheListing listing = cachedEntries(context);
  if (what.empty()) {
    if (flags.wantsParts())
      return makeError(Code::badInput,
                       "expected a kernel to inspect: the start of an entry's name, an entry's file, or "
                       "--kernel with its layer, got none");
    listEntries(context, listing);
    return {};
  }
  ILK_ASSIGN_OR_RETURN(const CachedEntry *match, findEntry(listing, what));
  if (match) {
    ILK_ASSIGN_OR_RETURN(InspectedKernel kernel, readKernel(*match));
    return showKernel(context, flags, kernel);
  }
  if (!flags.key.empty())
    return makeError(Code::notFound,
                     fmt::format("expected the start of a name in the cache {}, got '{}', which none of "
                                 "its {} entries has",
                                 context.cacheDir, what, listing.entries.size()));
  return showFile(context, flags);
}
} // namespace

void addInspect(CLI::App &app, Context &context) {
  CLI::App *command =
      app.add_subcommand("inspect", "list the kernel cache, or show a kernel step by step, or describe a PTX file, an "
                                    "AMDGCN assembly or a code object");
  auto flags = std::make_shared<InspectFlags>();
  auto *subject = command->add_option_group("subject")->require_option(0, 1);
  subject->add_option(
      "what", flags->what,
      "a PTX or AMDGCN file, a code object (also in an offload bundle or a program), a cache entry's file, "
      "or the start of an entry's name");
  subject->add_option("--key", flags->key, "the start of a cache entry's name");
  flags->kernel.addTo(*command, *subject);
  command->add_option("--emit", flags->emit,
                      "parts to show, comma-separated: stages, expanded, verified, lowered (or mlir for these four), "
                      "llvm, ptx, cubin, sass, meta, or all; asm of a code object is its disassembly");
  command->add_option("-o,--output", flags->output,
                      "folder to write the parts to; PTX and cubin then name lines of the expanded kernel there");
  command->add_option("--templates", flags->templates, "directory of templates that override the built-in ones");
  command->callback([&context, flags] {
    if (Status status = inspect(context, *flags); !status)
      context.exitCode = fail(context, status.error());
  });
}

} // namespace interlock::tool
