// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// Contract statements in the comments of an assembly text: what each holds for, and whether it is there.
#include "analysis/Lint/Statement.h"
#include "analysis/LintAMDGCN/Lint.h"

#include <fmt/format.h>

#include <algorithm>

namespace interlock::lint {
namespace {

constexpr std::string_view marker = "contract:";

const amdgcn::Function *functionAt(const amdgcn::Module &module, const amdgcn::Comment &comment, uint32_t below) {
  const amdgcn::Function *last = nullptr;
  for (const amdgcn::Function &fn : module.functions) {
    if (fn.at.line == below)
      return &fn;
    if (fn.at.line <= comment.at.line)
      last = &fn;
  }
  // Behind the last instruction of a function nothing is in it any more.
  return last && last->begin < last->end && comment.at.line <= module.instructions[last->end - 1].at.line ? last
                                                                                                          : nullptr;
}

uint32_t instructionLine(const amdgcn::Module &module, const amdgcn::Function &fn, uint32_t line) {
  for (uint32_t i = fn.begin; i < fn.end; ++i)
    if (module.instructions[i].at.line >= line)
      return module.instructions[i].at.line;
  return line;
}

} // namespace

tl::expected<Contract, ContractError> contractOfComments(const amdgcn::Module &module, std::string_view file) {
  Contract contract;
  const auto &comments = module.comments;
  for (size_t i = 0; i < comments.size(); ++i) {
    const amdgcn::Comment &comment = comments[i];
    if (!comment.text.starts_with(marker))
      continue;
    uint32_t below = comment.at.line + 1;
    for (size_t k = i + 1; k < comments.size() && comments[k].at.line == below && !comments[k].behindCode; ++k)
      ++below;
    Origin at{std::string(file), comment.at.line, comment.at.column};
    auto statement = readStatement(comment.text.substr(marker.size()), at);
    if (!statement)
      return tl::unexpected(std::move(statement.error()));
    const amdgcn::Function *fn = functionAt(module, comment, below);
    if (fn && statement->function.empty()) {
      statement->function = fn->name;
      if (auto *waiver = std::get_if<Waiver>(&statement->what)) {
        waiver->function = fn->name;
        if (comment.at.line >= fn->at.line)
          waiver->line = instructionLine(module, *fn, comment.behindCode ? comment.at.line : comment.at.line + 1);
      }
    }
    if (auto added = add(contract, std::move(*statement)); !added)
      return tl::unexpected(std::move(added.error()));
  }
  return contract;
}

std::optional<ContractError> findMissingParameter(const Contract &contract, const amdgcn::Module &module) {
  auto shown = [](const amdgcn::Kernel &kernel) {
    return size_t(std::count_if(kernel.arguments.begin(), kernel.arguments.end(),
                                [](const amdgcn::Argument &a) { return !a.hidden(); }));
  };
  auto check = [&](const Contract::Params &all, std::string_view what, auto has) -> std::optional<ContractError> {
    for (const auto &[function, params] : all)
      for (const auto &[index, facts] : params) {
        bool named = false, found = false;
        for (const amdgcn::Kernel &kernel : module.kernels) {
          if (!(function.empty() ? !all.contains(kernel.name) : kernel.name == function))
            continue;
          named = true;
          found |= has(kernel, index);
        }
        if (named && !found)
          return ContractError{facts.writtenAt,
                               fmt::format("expected an argument of {}, got {} {}, which it does not have",
                                           function.empty() ? "some kernel" : function, what, index)};
      }
    return std::nullopt;
  };
  // Without metadata nothing is known of the arguments.
  if (auto missing = check(contract.params, "param", [&](const amdgcn::Kernel &kernel, uint32_t index) {
        return kernel.arguments.empty() || index < shown(kernel);
      }))
    return missing;
  return check(contract.kernargs, "kernarg", [&](const amdgcn::Kernel &kernel, uint32_t byte) {
    return kernel.arguments.empty() || byte < kernel.explicitBytes();
  });
}

} // namespace interlock::lint
