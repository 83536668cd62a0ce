// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// A file of contract statements; contracts put together and held against what they speak of.
#include "analysis/Lint/Contract.h"
#include "analysis/Lint/Statement.h"

#include <fmt/format.h>

namespace interlock::lint {

tl::expected<Contract, ContractError> readContract(std::string_view text, std::string_view file) {
  Contract contract;
  for (uint32_t line = 1; !text.empty(); ++line) {
    size_t end = std::min(text.find('\n'), text.size());
    std::string_view statement = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    size_t start = statement.find_first_not_of(" \t\r\f\v");
    if (start == statement.npos || statement[start] == '#')
      continue;
    auto read = readStatement(statement, {std::string(file), line, uint32_t(start + 1)});
    if (!read)
      return tl::unexpected(std::move(read.error()));
    if (auto added = add(contract, std::move(*read)); !added)
      return tl::unexpected(std::move(added.error()));
  }
  return contract;
}

void merge(Contract &contract, Contract more) {
  auto mergeParams = [](Contract::Params &into, Contract::Params &from) {
    for (auto &[function, params] : from)
      for (auto &[index, facts] : params) {
        ParamContract &known = into[function][index];
        if (facts.peers)
          known.peers = facts.peers;
        known.readOnlyDuringKernel |= facts.readOnlyDuringKernel;
        known.pairsAcrossKernels |= facts.pairsAcrossKernels;
        known.signal |= facts.signal;
        known.writtenAt = std::move(facts.writtenAt);
      }
  };
  mergeParams(contract.params, more.params);
  mergeParams(contract.kernargs, more.kernargs);
  for (Waiver &waiver : more.waivers)
    contract.waivers.push_back(std::move(waiver));
}

std::optional<ContractError> findMissingParameter(const Contract &contract, const ptx::Module &module) {
  for (const auto &[function, kernargs] : contract.kernargs)
    if (module.findFunction(function) || function.empty())
      return ContractError{kernargs.begin()->second.writtenAt,
                           "expected 'param' and the number of a parameter, got 'kernarg': PTX names its parameters"};
  size_t most = 0; // parameters of a kernel that the statements about every kernel hold for
  const ptx::Function *widest = nullptr;
  for (const ptx::Function &fn : module.functions)
    if (fn.entry && !contract.params.contains(fn.name) && (!widest || fn.params.size() > most)) {
      widest = &fn;
      most = fn.params.size();
    }
  for (const auto &[function, params] : contract.params) {
    const ptx::Function *fn = function.empty() ? widest : module.findFunction(function);
    if (!fn)
      continue;
    for (const auto &[index, facts] : params)
      if (index >= fn->params.size())
        return ContractError{facts.writtenAt,
                             fmt::format("expected a parameter of {}{}, got param {}: it has {}, counted from 0",
                                         function.empty() ? "a kernel such as " : "", fn->name, index,
                                         fn->params.size())};
  }
  return std::nullopt;
}

std::optional<ContractError> findMissingFunction(const Contract &contract,
                                                 const std::set<std::string, std::less<>> &functions) {
  auto missing = [&](const std::string &name) { return !name.empty() && !functions.contains(name); };
  auto error = [](const std::string &name, const Origin &at) {
    return ContractError{at, fmt::format("expected the name of a function that is there, got {}", name)};
  };
  for (const Contract::Params *all : {&contract.params, &contract.kernargs})
    for (const auto &[function, params] : *all)
      if (missing(function) && !params.empty())
        return error(function, params.begin()->second.writtenAt);
  for (const Waiver &waiver : contract.waivers)
    if (missing(waiver.function))
      return error(waiver.function, waiver.writtenAt);
  return std::nullopt;
}

} // namespace interlock::lint
