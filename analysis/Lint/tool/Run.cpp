// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// Inputs to judgements: reads, joins contracts, judges, applies waivers, renders.
#include "analysis/Lint/tool/Run.h"

#include "analysis/AMDGCN/Reader.h"
#include "analysis/Lint/tool/Inputs.h"
#include "analysis/LintAMDGCN/Lint.h"
#include "analysis/PTX/Reader.h"

#include <algorithm>
#include <ostream>

namespace interlock::lint {
namespace {

/// A text is told by its content: `.amdgcn_target` at the beginning of a line is in every assembly that LLVM writes,
/// and
/// `.version` at the beginning of one in every PTX.
bool isAmdgcn(std::string_view text) {
  for (size_t at = 0; at < text.size(); at = std::min(text.find('\n', at), text.size() - 1) + 1) {
    size_t word = std::min(text.find_first_not_of(" \t", at), text.size());
    if (text.substr(word).starts_with(".amdgcn_target") || text.substr(word).starts_with(".amdhsa_kernel"))
      return true;
    if (text.substr(word).starts_with(".version"))
      return false;
  }
  return false;
}

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
    auto texts = textsOf(input, options.searchPath);
    if (!texts)
      return refuse({input, {}, std::move(texts.error())});
    for (const InputText &text : *texts)
      isAmdgcn(text.text) ? judgeAmdgcn(text) : judgePtx(text);
  }

  void judgeAmdgcn(const InputText &text) {
    auto module = amdgcn::read(text.text, text.name);
    if (!module)
      return refuse({text.name, {text.name, module.error().at.line, module.error().at.column}, module.error().message});
    std::set<std::string, std::less<>> names;
    for (const amdgcn::Function &fn : module->functions)
      names.emplace(fn.name);
    auto contract = contractOf(text.name, names, contractOfComments(*module, text.name));
    if (!contract)
      return;
    if (auto missing = findMissingParameter(*contract, *module))
      return refuse(text.name, std::move(*missing));
    auto report = check(*module, {options.clusterSize, std::move(*contract), options.strict});
    if (!report)
      return refuse({text.name, {}, std::move(report.error())});
    Judged judged{text.name, text.text, 0, {std::string(module->processor())}, {}, {}, scope::Language::amdgcn};
    judged.unknownDirectives.insert(module->unknownDirectives.begin(), module->unknownDirectives.end());
    judged.report = std::move(*report);
    finish(std::move(judged));
  }

  /// What the text's comments say, with the contract file's word on top; nothing if that was refused.
  std::optional<Contract> contractOf(const std::string &name, const std::set<std::string, std::less<>> &names,
                                     tl::expected<Contract, ContractError> ofComments) {
    functions.insert(names.begin(), names.end());
    if (!ofComments) {
      refuse(name, std::move(ofComments.error()));
      return std::nullopt;
    }
    if (auto missing = findMissingFunction(*ofComments, names)) {
      refuse(name, std::move(*missing));
      return std::nullopt;
    }
    merge(*ofComments, ofFile);
    return std::move(*ofComments);
  }

  void finish(Judged judged) {
    keepUnused(judged.report.unusedWaivers);
    summary.count(judged.report);
    ++judgedInputs;
    renderer.judged(judged);
  }

  void judgePtx(const InputText &ptx) {
    auto module = ptx::read(ptx.text, ptx.name);
    if (!module)
      return refuse({ptx.name, {ptx.name, module.error().at.line, module.error().at.column}, module.error().message});
    if (module->version == 0)
      return refuse(
          {ptx.name,
           {},
           "expected PTX, which begins with .version, or AMDGCN assembly with .amdgcn_target, found neither"});

    std::set<std::string, std::less<>> names;
    for (const ptx::Function &fn : module->functions)
      names.emplace(fn.name);
    auto contract = contractOf(ptx.name, names, contractOfComments(ptx.text, *module, ptx.name));
    if (!contract)
      return;
    if (auto missing = findMissingParameter(*contract, *module))
      return refuse(ptx.name, std::move(*missing));

    Judged judged{ptx.name, ptx.text, module->version, {}, {}, {}};
    judged.targets.assign(module->targets.begin(), module->targets.end());
    judged.unknownDirectives.insert(module->unknownDirectives.begin(), module->unknownDirectives.end());
    judged.report = check(*module, {options.clusterSize, std::move(*contract), options.strict});
    finish(std::move(judged));
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
