// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// ilk_cache_*: opening, freezing and asking a cache.
#include "runtime/CApi/Handles.h"
#include "runtime/CApi/Status.h"
#include "runtime/CApi/Structs.h"

#include <nlohmann/json.hpp>

#include <cstdlib>
#include <cstring>

using namespace interlock;
using namespace interlock::capi;

namespace {

std::string textOf(const char *text) { return text ? text : ""; }

ilk_cache_counters countersOf(const CacheCounters &c) {
  return {0, c.memoryHits, c.diskHits, c.misses, c.compiled, c.failed, c.refused, c.repaired};
}

nlohmann::json asJson(const CacheReport &report) {
  nlohmann::json misses = nlohmann::json::array();
  for (const CacheMiss &miss : report.misses)
    misses.push_back(
        {{miss.source.empty() ? "spec" : "source", miss.source.empty() ? canonicalForm(miss.spec) : miss.source},
         {"key", miss.key},
         {"reason", miss.reason},
         {"failure", miss.failure},
         {"ms", miss.milliseconds}});
  const CacheCounters &c = report.counters;
  return {{"directory", report.directory},
          {"read_only", report.readOnly},
          {"frozen", report.frozen},
          {"counters",
           {{"memory_hits", c.memoryHits},
            {"disk_hits", c.diskHits},
            {"misses", c.misses},
            {"compiled", c.compiled},
            {"failed", c.failed},
            {"refused", c.refused},
            {"repaired", c.repaired}}},
          {"misses", misses},
          {"notes", report.notes}};
}

} // namespace

Status interlock::capi::giveText(char **out, const std::string &text) {
  ILK_RETURN_IF_ERROR(require("a place for the text", out));
  char *copy = static_cast<char *>(std::malloc(text.size() + 1));
  if (!copy)
    return makeError(Code::internal, fmt::format("expected {} bytes of memory, got none", text.size() + 1));
  std::memcpy(copy, text.c_str(), text.size() + 1);
  *out = copy;
  return {};
}

extern "C" {

ilk_status ilk_cache_open(const ilk_cache_options *given, ilk_cache **cache) {
  return call([&]() -> Status {
    ILK_RETURN_IF_ERROR(require("a place for the cache", cache));
    ILK_ASSIGN_OR_RETURN(ilk_cache_options options, readOptional("ilk_cache_options", given));
    KernelCacheConfig config;
    config.directory = textOf(options.directory);
    if (options.max_bytes)
      config.maxBytes = options.max_bytes;
    if (options.max_files)
      config.maxFiles = options.max_files;
    if (options.memory_entries)
      config.memoryEntries = options.memory_entries;
    config.readOnly = options.read_only != 0;
    config.compilerPath = textOf(options.compiler_path);
    config.templateDir = textOf(options.template_dir);
    config.lineFolder = textOf(options.line_folder);
    if (options.log)
      config.log = [log = options.log, user = options.user](std::string_view note) {
        log(user, std::string(note).c_str());
      };
    auto opened = std::make_unique<ilk_cache>(ilk_cache{openKernelCache(config)});
    if (options.frozen)
      freeze(*opened->kernels);
    *cache = opened.release();
    return {};
  });
}

void ilk_cache_close(ilk_cache *cache) { delete cache; }

ilk_status ilk_cache_freeze(ilk_cache *cache) {
  return call([&]() -> Status {
    ILK_RETURN_IF_ERROR(require("a cache", cache));
    freeze(*cache->kernels);
    return {};
  });
}

ilk_status ilk_cache_thaw(ilk_cache *cache) {
  return call([&]() -> Status {
    ILK_RETURN_IF_ERROR(require("a cache", cache));
    thaw(*cache->kernels);
    return {};
  });
}

ilk_status ilk_cache_get_counters(const ilk_cache *cache, ilk_cache_counters *counters) {
  return call([&]() -> Status {
    ILK_RETURN_IF_ERROR(require("a cache", cache));
    return write("ilk_cache_counters", counters, countersOf(report(*cache->kernels).counters));
  });
}

ilk_status ilk_cache_report(const ilk_cache *cache, char **json) {
  return call([&]() -> Status {
    ILK_RETURN_IF_ERROR(require("a cache", cache));
    // Messages may hold bytes of files that are no UTF-8; replacing them beats throwing.
    return giveText(json,
                    asJson(report(*cache->kernels)).dump(2, ' ', false, nlohmann::json::error_handler_t::replace));
  });
}
}
