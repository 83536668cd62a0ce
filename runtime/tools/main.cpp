// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// The `interlock` command: reads the environment, parses, runs one subcommand. The only place of the command that knows
// environment variables.
#include "runtime/Cache/KernelCache.h"
#include "runtime/tools/Tool.h"

#include <cctype>
#include <cstdlib>

using namespace interlock::tool;

namespace {
std::string environment(const char *name) {
  const char *value = std::getenv(name);
  return value ? value : "";
}

/// CLI11's messages are sentences with capitals and full stops; ours are neither.
std::string asSentence(std::string text) {
  size_t end = text.find('\n');
  text = text.substr(0, end);
  while (!text.empty() && text.back() == '.')
    text.pop_back();
  if (text.size() > 1 && std::isupper(static_cast<unsigned char>(text[0])) &&
      !std::isupper(static_cast<unsigned char>(text[1])))
    text[0] = char(std::tolower(static_cast<unsigned char>(text[0])));
  return text;
}
} // namespace

int main(int argc, char **argv) {
  Context context;
  context.cacheDir = environment("INTERLOCK_CACHE_DIR");
  context.compilerPath = environment("INTERLOCK_COMPILER");
  context.nvrtcPath = environment("INTERLOCK_NVRTC");
  context.hiprtcPath = environment("INTERLOCK_HIPRTC");
  context.searchPath = environment("PATH");
  context.arguments.assign(argv + 1, argv + argc);
  if (context.cacheDir.empty())
    context.cacheDir = interlock::defaultCacheDirectory(environment("XDG_CACHE_HOME"), environment("HOME"));

  // Ranks that share a GPU wait for each other's kernels, so each of their streams needs a hardware queue of its own;
  // the driver makes 8 unless it is told before it starts.
  setenv("CUDA_DEVICE_MAX_CONNECTIONS", "32", /*overwrite=*/0);

  CLI::App app("Generates, checks and runs the kernels that move MoE tokens between ranks", "interlock");
  app.require_subcommand(1);
  app.fallthrough();
  app.add_flag("--json", context.json, "one JSON object on stdout");
  addCompile(app, context);
  addCache(app, context);
  addInspect(app, context);
  addRun(app, context);
  addTargets(app, context);
  addDoctor(app, context);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError &error) {
    if (error.get_exit_code() == 0) // --help
      return app.exit(error);
    std::string what = asSentence(error.what());
    // `interlock`, or `interlock cache`, and nothing that it knows behind it.
    const CLI::App *last = &app;
    while (!last->get_subcommands().empty())
      last = last->get_subcommands().front();
    if (!last->get_subcommands([](const CLI::App *) { return true; }).empty()) {
      std::vector<std::string> unknown = app.remaining(/*recurse=*/true);
      what = "expected a subcommand" + (last == &app ? "" : " of " + last->get_name()) + ", got " +
             (unknown.empty() ? "none" : "'" + unknown.front() + "'");
    }
    return fail(context, {interlock::Code::badInput, what + "; interlock --help would do"});
  }
  return context.exitCode;
}
