// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// `interlock inspect`: what the cache holds, one of its entries, a PTX text of whatever origin, or a kernel by its
// description.
#include "runtime/Cache/KernelCache.h"
#include "runtime/tools/CacheFlags.h"
#include "runtime/tools/EntryView.h"
#include "runtime/tools/InspectPtx.h"
#include "runtime/tools/LocalFlags.h"
#include "runtime/tools/Tool.h"

#include <fmt/format.h>

#include <fstream>
#include <iterator>

namespace interlock::tool {

namespace {
struct InspectFlags {
  std::string what, kernel, target = "sm_90a";
  LayerFlags layer;
  LocalFlags local;
};

/// A kernel that the cache has or now gets.
Status showKernel(const Context &context, InspectFlags flags) {
  // What a kernel of a group is made for is folded into it; where nothing is said, a group of one rank would do.
  if (!flags.layer.ranks)
    flags.layer.ranks = 1;
  if (flags.layer.tokens.empty())
    flags.layer.tokens = {1};
  ILK_ASSIGN_OR_RETURN(KernelSpec spec, kernelSpec(flags.kernel, flags.layer, flags.local, flags.target));
  ILK_ASSIGN_OR_RETURN(auto cache, openCache(context, {}));
  ILK_ASSIGN_OR_RETURN(Lookup found, cache->get(spec));
  ILK_ASSIGN_OR_RETURN(std::string key, cache->keyOf(spec));
  return showArtifact(context, {key, "", spec, found.artifact->text.size() + found.artifact->binary.size()},
                      *found.artifact);
}

Status showFile(const Context &context, const std::string &file) {
  std::ifstream stream(file, std::ios::binary);
  std::string text{std::istreambuf_iterator<char>(stream), {}};
  if (!stream.is_open() || stream.bad() || text.empty())
    return makeError(Code::badInput, fmt::format("expected a PTX file, a cache entry or the start of an entry's name, "
                                                 "found nothing to read at {}",
                                                 file));
  if (looksLikeEntry(text)) {
    ILK_ASSIGN_OR_RETURN(Artifact artifact, readEntry(file));
    return showEntry(context, {file, file, artifact.spec, text.size()});
  }
  ILK_ASSIGN_OR_RETURN(nlohmann::json description, describePtx(text, file));
  if (context.json)
    print(description);
  else
    fmt::print("{}", asText(description));
  return {};
}

Status inspect(const Context &context, const InspectFlags &flags) {
  if (!flags.kernel.empty())
    return showKernel(context, flags);
  ILK_ASSIGN_OR_RETURN(std::vector<CachedEntry> entries, cachedEntries(context));
  if (flags.what.empty()) {
    listEntries(context, entries);
    return {};
  }
  ILK_ASSIGN_OR_RETURN(const CachedEntry *match, findEntry(entries, flags.what));
  return match ? showEntry(context, *match) : showFile(context, flags.what);
}
} // namespace

void addInspect(CLI::App &app, Context &context) {
  CLI::App *command =
      app.add_subcommand("inspect", "list the kernel cache, or show an entry, a PTX file or a described kernel");
  auto flags = std::make_shared<InspectFlags>();
  auto *what =
      command->add_option("what", flags->what, "a PTX file, a cache entry's file, or the start of an entry's name");
  command->add_option("--kernel", flags->kernel, "dispatch, combine, dispatch_epilogue or combine_prologue")
      ->excludes(what);
  command->add_option("--target", flags->target, "the chip to generate for (`interlock targets` lists them)");
  flags->layer.addTo(*command);
  flags->local.addTo(*command);
  command->callback([&context, flags] {
    if (Status status = inspect(context, *flags); !status)
      context.exitCode = fail(context, status.error());
  });
}

} // namespace interlock::tool
