// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// `interlock cache enumerate | prewarm | export | import`: a cache that is filled before it is needed, and moved.
#include "interlock/source.hpp"
#include "runtime/Cache/Archive.h"
#include "runtime/Spec/SpecList.h"
#include "runtime/tools/Cache.h"
#include "runtime/tools/CacheFlags.h"
#include "runtime/tools/DeploymentFlags.h"

#include <fmt/format.h>

#include <chrono>

namespace interlock::tool {

namespace {

Status enumerate(const Context &context, const DeploymentFlags &flags) {
  ILK_ASSIGN_OR_RETURN(std::vector<KernelSpec> kernels, flags.kernels());
  if (!context.json) {
    fmt::print("{}", formatSpecList(kernels));
    return {};
  }
  ILK_ASSIGN_OR_RETURN(auto cache, openCache(context, {}));
  nlohmann::json list = nlohmann::json::array();
  for (const KernelSpec &kernel : kernels) {
    ILK_ASSIGN_OR_RETURN(std::string key, cache->keyOf(kernel));
    list.push_back(
        {{"key", key}, {"kernel", name(kernel.kernel)}, {"target", kernel.target}, {"spec", canonicalForm(kernel)}});
  }
  print({{"kernels", list}});
  return {};
}

struct PrewarmFlags {
  DeploymentFlags deployment;
  uint32_t jobs = 0;
  std::string templates;
  bool fromSource = false;
};

Status prewarm(Context &context, const PrewarmFlags &flags) {
  ILK_ASSIGN_OR_RETURN(std::vector<KernelSpec> kernels, flags.deployment.kernels());
  ILK_ASSIGN_OR_RETURN(auto cache, openCache(context, flags.templates));
  auto begin = std::chrono::steady_clock::now(), last = begin;
  auto progress = [&](const PrewarmProgress &now) {
    auto time = std::chrono::steady_clock::now();
    if (now.done < now.of && time - last < std::chrono::seconds(1))
      return;
    last = time;
    note(fmt::format("{} of {} kernels, {} compiled, {} failed", now.done, now.of, now.compiled, now.failed));
  };
  const PrewarmOptions options{flags.jobs, progress};
  PrewarmReport report = flags.fromSource
                             ? prewarmFromSource(*cache, kernels, options, {context.nvrtcPath, context.hiprtcPath})
                             : interlock::prewarm(*cache, kernels, options);
  std::chrono::duration<double, std::milli> spent = std::chrono::steady_clock::now() - begin;
  nlohmann::json failures = nlohmann::json::array();
  for (const PrewarmFailure &failure : report.failures)
    failures.push_back({{"spec", canonicalForm(failure.spec)}, {"message", failure.error.message}});
  if (context.json)
    print({{"directory", context.cacheDir},
           {"kernels", kernels.size()},
           {"compiled", report.compiled},
           {"cached", report.cached},
           {"failures", failures},
           {"notes", cache->notes()},
           {"ms", spent.count()}});
  else
    fmt::print("{} kernels: {} compiled, {} were there, {} failed, in {:.0f} ms\n", kernels.size(), report.compiled,
               report.cached, report.failures.size(), spent.count());
  if (report.failures.empty())
    return {};
  // The first one stands for all; --json has every one.
  const Error &first = report.failures.front().error;
  return makeError(first.code, fmt::format("{} of {} kernels could not be made; the first: {}", report.failures.size(),
                                           kernels.size(), first.message));
}

Status move(const Context &context, const std::string &file, bool out) {
  ILK_ASSIGN_OR_RETURN(DiskStore store, out ? openStoreToRead(context) : openStoreToWrite(context));
  ILK_ASSIGN_OR_RETURN(ArchiveReport report, out ? exportEntries(store, file) : importEntries(store, file));
  for (const std::string &problem : report.problems)
    note("interlock: " + problem);
  if (context.json)
    print({{"directory", context.cacheDir},
           {"file", file},
           {"entries", report.entries},
           {"bytes", report.bytes},
           {"problems", report.problems}});
  else
    fmt::print("{} entries of {} bytes {} {}\n", report.entries, report.bytes, out ? "into" : "from", file);
  return {};
}

} // namespace

void addCacheFill(CLI::App &cache, Context &context) {
  CLI::App *enumerated = cache.add_subcommand("enumerate", "list every kernel that a deployment can ask for");
  auto deployment = std::make_shared<DeploymentFlags>();
  deployment->addTo(*enumerated);
  enumerated->callback([&context, deployment] { runInto(context, enumerate(context, *deployment)); });

  CLI::App *prewarmed = cache.add_subcommand("prewarm", "compile them now, on all cores; no GPU is needed");
  auto flags = std::make_shared<PrewarmFlags>();
  flags->deployment.addTo(*prewarmed);
  prewarmed->add_option("--jobs", flags->jobs, "threads (default: one per core)");
  prewarmed->add_flag("--from-source", flags->fromSource,
                      "dispatch and combine as they are made of CUDA or HIP C++, by NVRTC or hiprtc");
  prewarmed->add_option("--templates", flags->templates, "directory of templates to use instead of the built-in ones");
  prewarmed->callback([&context, flags] { runInto(context, prewarm(context, *flags)); });

  for (bool out : {true, false}) {
    CLI::App *moved = cache.add_subcommand(out ? "export" : "import", out ? "write the entries into one file"
                                                                          : "check such a file and take its entries");
    auto file = std::make_shared<std::string>();
    moved->add_option("file", *file, "the archive")->required();
    moved->callback([&context, file, out] { runInto(context, move(context, *file, out)); });
  }
}

} // namespace interlock::tool
