// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// The scope-lint command: its command line and its environment. Nothing else of it knows either.
#include "analysis/Lint/Explain.h"
#include "analysis/Lint/tool/Run.h"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <filesystem>
#include <iostream>

using namespace interlock;

namespace {

std::string environment(const char *name) {
  const char *value = std::getenv(name);
  return value ? value : "";
}

std::string ownFolder() {
  std::error_code error;
  return std::filesystem::canonical("/proc/self/exe", error).parent_path().string();
}

int refuse(const std::string &sentence) {
  std::cerr << "scope-lint: " << sentence << '\n';
  return 2;
}

/// CLI11's messages are sentences with capitals and full stops; ours are neither.
std::string asSentence(std::string text) {
  text = text.substr(0, text.find('\n'));
  while (!text.empty() && text.back() == '.')
    text.pop_back();
  if (text.size() > 1 && !std::isupper(static_cast<unsigned char>(text[1])))
    text[0] = char(std::tolower(static_cast<unsigned char>(text[0])));
  return text;
}

CLI::Validator oneOf(const std::vector<std::string> &words) {
  auto check = [words](const std::string &word) {
    return std::find(words.begin(), words.end(), word) != words.end()
               ? std::string()
               : fmt::format("expected {}, got '{}'", fmt::join(words, ", "), word);
  };
  return {check, ""};
}

int explain(const std::string &id) {
  if (id == "all") {
    for (const scope::Rule &rule : scope::rules())
      std::cout << lint::rulePage(rule) << '\n';
    return 0;
  }
  const scope::Rule *rule = scope::findRule(id);
  if (!rule) {
    std::string ids;
    for (const scope::Rule &known : scope::rules())
      ids += fmt::format("{}{}", ids.empty() ? "" : ", ", known.id);
    return refuse(fmt::format("expected a rule, got '{}': there are {}", id, ids));
  }
  std::cout << lint::rulePage(*rule);
  return 0;
}

std::unique_ptr<lint::Renderer> makeRenderer(const std::string &format) {
  if (format == "json")
    return lint::makeJsonRenderer(std::cout);
  if (format == "sarif")
    return lint::makeSarifRenderer(std::cout);
  return lint::makeTextRenderer(std::cout);
}

int scopeLint(int argc, char **argv) {
  lint::RunOptions options;
  std::string format = "text", failOn = "warning", rule;
  CLI::App app(
      "Judges the memory ordering of PTX and of AMDGCN assembly: who hands what to whom, and whether scope, order, "
      "proxy and cache operations suffice.",
      "scope-lint");
  app.set_version_flag("--version", "scope-lint " INTERLOCK_VERSION);
  app.add_option(
         "FILE", options.inputs,
         "PTX or AMDGCN assembly as LLVM prints it, told by what it contains, or - for standard input; code objects "
         "for AMD GPUs, also in offload bundles and programs, by their disassembly, which takes the interlock command "
         "(looked for beside scope-lint, then in PATH); other executables, objects, libraries and fatbins by the PTX "
         "embedded in them, which takes cuobjdump (looked for in PATH, then in CUDA_HOME/bin)")
      ->type_name("");
  app.add_option("--format", format, "text (default), json or sarif")
      ->type_name("FORMAT")
      ->check(oneOf({"text", "json", "sarif"}));
  app.add_option("--cluster", options.clusterSize,
                 "of PTX: CTAs per cluster of the launch, 1 to 16, where it has no .reqnctapercluster; not given: any")
      ->type_name("N")
      ->check(CLI::Range(1, 16));
  app.add_flag(
      "--strict", options.strict,
      "of PTX: judge by SL30 to SL32 too, what nothing orders at all, as far as the text shows it for certain");
  app.add_option("--contract", options.contractFile,
                 "who accesses the memory behind the kernels' parameters, and which findings are waived")
      ->type_name("FILE");
  app.add_option("--fail-on", failOn,
                 "the mildest severity that makes the exit code 1: error, warning (default) or note")
      ->type_name("SEVERITY")
      ->check(oneOf({"error", "warning", "note"}));
  app.add_option("--explain", rule, "print what a rule means, with an example and its twin that is right; all: of each")
      ->type_name("SLnn|AMnn");
  app.footer("Exit code: 0 nothing at or over --fail-on, 1 findings, 2 an input, the contract or the command line is "
             "unusable (every usable input is judged all the same).");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError &error) {
    if (error.get_exit_code() == 0) // --help, --version
      return app.exit(error);
    return refuse(asSentence(error.what()) + "; scope-lint --help would do");
  }
  if (!rule.empty())
    return explain(rule);
  if (options.inputs.empty())
    return refuse("expected a file, or - for standard input, got none; scope-lint --help would do");
  options.failOn = failOn == "error"  ? scope::Severity::error
                   : failOn == "note" ? scope::Severity::note
                                      : scope::Severity::warning;
  // The interlock command is installed beside this one.
  options.searchPath = ownFolder() + ":" + environment("PATH");
  if (std::string home = environment("CUDA_HOME"); !home.empty())
    options.searchPath += ":" + home + "/bin";
  return lint::run(options, *makeRenderer(format), std::cerr);
}

} // namespace

int main(int argc, char **argv) {
  try {
    int code = scopeLint(argc, argv);
    std::cout.flush();
    return std::cout ? code : refuse("expected standard output to take what was written, it did not");
  } catch (const std::bad_alloc &) {
    return refuse("expected enough memory for the input, got too little");
  }
}
