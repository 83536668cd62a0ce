// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// `interlock inspect`: what the cache holds, one of its entries, or a PTX text of whatever origin.
#include "runtime/tools/CacheFlags.h"
#include "runtime/tools/InspectPtx.h"
#include "runtime/tools/Tool.h"

#include <fmt/format.h>

#include <fstream>
#include <iterator>

namespace interlock::tool {

namespace {
nlohmann::json asJson(const CachedEntry &entry) {
  return {{"key", entry.key},
          {"kernel", name(entry.spec.kernel)},
          {"target", entry.spec.target},
          {"bytes", entry.bytes},
          {"spec", canonicalForm(entry.spec)}};
}

void listEntries(const Context &context, const std::vector<CachedEntry> &entries) {
  if (context.json) {
    nlohmann::json list = nlohmann::json::array();
    for (const CachedEntry &entry : entries)
      list.push_back(asJson(entry));
    return print({{"directory", cacheState(context).directory}, {"entries", list}});
  }
  std::vector<std::vector<std::string>> rows;
  for (const CachedEntry &entry : entries) {
    const LayerSpec &layer = entry.spec.layer;
    rows.push_back({entry.key.substr(0, 16), std::string(name(entry.spec.kernel)), entry.spec.target,
                    std::to_string(layer.ranks), std::to_string(layer.experts), std::to_string(layer.topk),
                    std::to_string(layer.hidden), std::string(name(layer.dtype)), std::to_string(layer.maxTokens),
                    std::to_string(entry.bytes)});
  }
  printTable({"entry", "kernel", "target", "ranks", "experts", "top-k", "hidden", "dtype", "tokens", "bytes"}, rows);
}

Status showEntry(const Context &context, const CachedEntry &entry) {
  ILK_ASSIGN_OR_RETURN(Artifact artifact, readEntry(entry.path));
  ILK_ASSIGN_OR_RETURN(nlohmann::json ptx, describePtx(artifact.text, entry.key.substr(0, 16) + ".ptx"));
  if (context.json) {
    nlohmann::json object = asJson(entry);
    object["parts"] = {{"ptx", artifact.text.size()}, {"cubin", artifact.binary.size()}};
    object["meta"] = artifact.meta;
    object["ptx"] = ptx;
    print(object);
    return {};
  }
  fmt::print("{}\n{}", entry.key, canonicalForm(entry.spec));
  fmt::print("ptx {} bytes, cubin {} bytes\n", artifact.text.size(), artifact.binary.size());
  fmt::print("meta {}\n", artifact.meta.dump(2, ' ', false, nlohmann::json::error_handler_t::replace));
  fmt::print("{}", asText(ptx));
  return {};
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

Status inspect(const Context &context, const std::string &what) {
  ILK_ASSIGN_OR_RETURN(std::vector<CachedEntry> entries, cachedEntries(context));
  if (what.empty()) {
    listEntries(context, entries);
    return {};
  }
  const CachedEntry *match = nullptr;
  for (const CachedEntry &entry : entries) {
    if (entry.path != what && entry.key.substr(0, what.size()) != what)
      continue;
    if (match)
      return makeError(Code::badInput,
                       fmt::format("expected the start of one entry's name, got '{}' of several", what));
    match = &entry;
  }
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
