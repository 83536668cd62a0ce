// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// `interlock inspect`: what the cache holds, one of its entries, or a PTX text of whatever origin.
#include "runtime/tools/CacheFlags.h"
#include "runtime/tools/EntryView.h"
#include "runtime/tools/InspectPtx.h"
#include "runtime/tools/Tool.h"

#include <fmt/format.h>

#include <fstream>
#include <iterator>

namespace interlock::tool {

namespace {
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

Status inspect(const Context &context, const std::string &what) {
  ILK_ASSIGN_OR_RETURN(std::vector<CachedEntry> entries, cachedEntries(context));
  if (what.empty()) {
    listEntries(context, entries);
    return {};
  }
  ILK_ASSIGN_OR_RETURN(const CachedEntry *match, findEntry(entries, what));
  return match ? showEntry(context, *match) : showFile(context, what);
}
} // namespace

void addInspect(CLI::App &app, Context &context) {
  CLI::App *command = app.add_subcommand("inspect", "list the kernel cache, or show an entry or a PTX file");
  auto what = std::make_shared<std::string>();
  command->add_option("what", *what, "a PTX file, a cache entry's file, or the start of an entry's name");
  command->callback([&context, what] {
    if (Status status = inspect(context, *what); !status)
      context.exitCode = fail(context, status.error());
  });
}

} // namespace interlock::tool
