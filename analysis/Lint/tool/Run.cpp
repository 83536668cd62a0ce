// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// Inputs to judgements: reads, joins contracts, judges, applies waivers, renders.
#include "analysis/Lint/tool/Run.h"

#include "analysis/Lint/tool/Inputs.h"
#include "analysis/PTX/Reader.h"

#include <algorithm>
#include <ostream>

namespace interlock::lint {
namespace {

class Session {
public:
  Session(const RunOptions &options, Renderer &renderer, std::ostream &errors)
      : options(options), renderer(renderer), errors(errors) {
    summary.failOn = options.failOn;
  }

  int run() {
    if (readContractFile()) {
      for (const std::string &input : options.inputs)
        judgeInput(input);
      finishContractFile();
    }
    renderer.finish(summary);
    return summary.exitCode();
  }

private:
  void refuse(Unusable unusable) {
    ++summary.unusable;
    errors << unusable.str() << '\n';
    renderer.unusable(unusable);
  }
  void refuse(const std::string &input, ContractError error) {
    refuse({input, std::move(error.at), std::move(error.message)});
  }

  /// A contract that cannot be read stops everything: judged without it, every input would look worse than it is.
  bool readContractFile() {
    if (options.contractFile.empty())
      return true;
    auto bytes = readBytes(options.contractFile);
    if (!bytes) {
      refuse({options.contractFile, {}, std::move(bytes.error())});
      return false;
    }
    auto contract = readContract(*bytes, options.contractFile);
    if (!contract) {
      refuse(options.contractFile, std::move(contract.error()));
      return false;
    }
    ofFile = std::move(*contract);
    unusedOfFile = ofFile.waivers;
    return true;
  }

  void judgeInput(const std::string &input) {
    auto texts = ptxOf(input, options.searchPath);
    if (!texts)
      return refuse({input, {}, std::move(texts.error())});
    for (const PtxText &ptx : *texts)
      judge(ptx);
  }

  void judge(const PtxText &ptx) {
    auto module = ptx::read(ptx.text, ptx.name);
    if (!module)
      return refuse({ptx.name, {ptx.name, module.error().at.line, module.error().at.column}, module.error().message});
    if (module->version == 0)
      return refuse({ptx.name, {}, "expected PTX, which begins with .version, found none"});

    std::set<std::string, std::less<>> names;
    for (const ptx::Function &fn : module->functions)
      names.emplace(fn.name);
    functions.insert(names.begin(), names.end());
    auto ofComments = contractOfComments(ptx.text, *module, ptx.name);
    if (!ofComments)
      return refuse(ptx.name, std::move(ofComments.error()));
    if (auto missing = findMissingFunction(*ofComments, names))
      return refuse(ptx.name, std::move(*missing));

    Options lint{options.clusterSize, *ofComments};
    merge(lint.contract, ofFile);
    if (auto missing = findMissingParameter(lint.contract, *module))
      return refuse(ptx.name, std::move(*missing));

    Judged judged{ptx.name, ptx.text, module->version, {}, {}, {}};
    judged.targets.assign(module->targets.begin(), module->targets.end());
    judged.unknownDirectives.insert(module->unknownDirectives.begin(), module->unknownDirectives.end());
    judged.report = check(*module, lint);
    keepUnused(judged.report.unusedWaivers);
    summary.count(judged.report);
    ++judgedInputs;
    renderer.judged(judged);
  }

  /// Those of the contract file are unused only if no input needs them.
  void keepUnused(std::vector<Waiver> &unused) {
    std::erase_if(unusedOfFile, [&](const Waiver &waiver) {
      return std::none_of(unused.begin(), unused.end(), [&](const Waiver &other) { return sameOrigin(waiver, other); });
    });
    std::erase_if(unused, [&](const Waiver &waiver) { return waiver.writtenAt.file == options.contractFile; });
  }
  static bool sameOrigin(const Waiver &a, const Waiver &b) {
    return a.writtenAt.file == b.writtenAt.file && a.writtenAt.line == b.writtenAt.line;
  }

  void finishContractFile() {
    if (judgedInputs == 0)
      return;
    if (auto missing = findMissingFunction(ofFile, functions))
      return refuse(options.contractFile, std::move(*missing));
    summary.unusedWaivers = unusedOfFile;
  }

  const RunOptions &options;
  Renderer &renderer;
  std::ostream &errors;
  Summary summary;
  Contract ofFile;
  std::vector<Waiver> unusedOfFile;
  std::set<std::string, std::less<>> functions; ///< of all inputs
  size_t judgedInputs = 0;
};

} // namespace

int run(const RunOptions &options, Renderer &renderer, std::ostream &errors) {
  return Session(options, renderer, errors).run();
}

} // namespace interlock::lint
