// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// Statements of a contract.
#include "analysis/Lint/Statement.h"
#include "analysis/ScopeModel/Rules.h"

#include <fmt/format.h>

#include <charconv>

namespace interlock::lint {
namespace {

constexpr std::pair<std::string_view, Peers> peerNames[] = {
    {"cta", Peers::cta}, {"cluster", Peers::cluster}, {"gpu", Peers::gpu}, {"sys", Peers::sys}, {"nic", Peers::nic}};

/// The words of a statement, parted by white space and commas.
class Words {
public:
  explicit Words(std::string_view text) : text(text) {}

  /// The next word; empty at the end.
  std::string_view take() {
    size_t start = std::min(text.find_first_not_of(parting), text.size());
    size_t end = std::min(text.find_first_of(parting, start), text.size());
    std::string_view word = text.substr(start, end - start);
    text.remove_prefix(end);
    return word;
  }
  bool accept(std::string_view wanted) {
    Words before = *this;
    if (take() == wanted)
      return true;
    *this = before;
    return false;
  }

private:
  static constexpr std::string_view parting = " \t\r\f\v,";
  std::string_view text;
};

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view space = " \t\r\f\v";
  text.remove_prefix(std::min(text.find_first_not_of(space), text.size()));
  return text.substr(0, text.find_last_not_of(space) + 1);
}

std::string got(std::string_view word) { return word.empty() ? "nothing" : fmt::format("'{}'", word.substr(0, 64)); }

tl::unexpected<ContractError> error(const Origin &at, std::string message) {
  return tl::unexpected(ContractError{at, std::move(message)});
}

bool readFact(std::string_view word, ParamContract &facts) {
  if (word == "ro-during-kernel")
    return facts.readOnlyDuringKernel = true;
  if (word == "pairs-across-kernels")
    return facts.pairsAcrossKernels = true;
  if (word == "signal")
    return facts.signal = true;
  for (auto [name, peers] : peerNames)
    if (word.starts_with("peers=") && word.substr(6) == name) {
      facts.peers = peers;
      return true;
    }
  return false;
}

tl::expected<Statement, ContractError> readParam(Words words, const Origin &at) {
  Statement statement;
  if (words.accept("kernel")) {
    statement.function = words.take();
    if (statement.function.empty())
      return error(at, "expected the name of a kernel after 'kernel', got nothing");
  }
  ParamStatement param;
  param.isKernarg = words.accept("kernarg");
  if (!param.isKernarg && !words.accept("param"))
    return error(at, fmt::format("expected 'param', 'kernarg', 'kernel' or 'waive', got {}", got(words.take())));
  std::string_view what = param.isKernarg ? "kernarg" : "param";
  std::string_view number = words.take();
  auto read = std::from_chars(number.data(), number.data() + number.size(), param.index);
  if (number.empty() || read.ec != std::errc() || read.ptr != number.data() + number.size())
    return error(at, fmt::format("expected {} after '{}', counted from 0, got {}",
                                 param.isKernarg ? "a byte of the kernarg segment" : "the number of a parameter", what,
                                 got(number)));
  std::string_view fact = words.take();
  do {
    if (!readFact(fact, param.facts))
      return error(at, fmt::format("expected peers=cta|cluster|gpu|sys|nic, ro-during-kernel, pairs-across-kernels or "
                                   "signal after '{} {}', got {}",
                                   what, number, got(fact)));
    fact = words.take();
  } while (!fact.empty());
  param.facts.writtenAt = at;
  statement.what = std::move(param);
  return statement;
}

tl::expected<Statement, ContractError> readWaiver(std::string_view text, const Origin &at) {
  size_t colon = std::min(text.find(':'), text.size());
  Words words(text.substr(0, colon));
  words.take(); // waive
  Statement statement;
  Waiver waiver;
  waiver.rule = words.take();
  if (!scope::findRule(waiver.rule))
    return error(at, fmt::format("expected a rule such as SL01 after 'waive', got {}", got(waiver.rule)));
  if (words.accept("kernel")) {
    statement.function = words.take();
    if (statement.function.empty())
      return error(at, "expected the name of a kernel after 'kernel', got nothing");
  }
  if (std::string_view more = words.take(); !more.empty())
    return error(at, fmt::format("expected 'kernel NAME' or a colon after 'waive {}', got {}", waiver.rule, got(more)));
  waiver.reason = trimmed(text.substr(std::min(colon + 1, text.size())));
  if (waiver.reason.empty())
    return error(at, fmt::format("expected a colon and the reason after 'waive {}': a waiver says why", waiver.rule));
  waiver.function = statement.function;
  waiver.writtenAt = at;
  statement.what = std::move(waiver);
  return statement;
}

std::string shown(Peers peers) {
  for (auto [name, value] : peerNames)
    if (value == peers)
      return std::string(name);
  return {};
}

} // namespace

std::string ContractError::str() const { return fmt::format("{}:{}:{}: {}", at.file, at.line, at.column, message); }

tl::expected<Statement, ContractError> readStatement(std::string_view text, const Origin &at) {
  text = trimmed(text);
  if (Words(text).take() == "waive")
    return readWaiver(text, at);
  return readParam(Words(text.substr(0, text.find('#'))), at);
}

tl::expected<void, ContractError> add(Contract &contract, Statement statement) {
  if (auto *waiver = std::get_if<Waiver>(&statement.what)) {
    contract.waivers.push_back(std::move(*waiver));
    return {};
  }
  const auto &[index, isKernarg, facts] = std::get<ParamStatement>(statement.what);
  ParamContract &known = (isKernarg ? contract.kernargs : contract.params)[statement.function][index];
  if (known.peers && facts.peers && *known.peers != *facts.peers)
    return error(facts.writtenAt, fmt::format("expected one peers= of {} {}, got peers={} beside peers={} of line {}",
                                              isKernarg ? "kernarg" : "param", index, shown(*facts.peers),
                                              shown(*known.peers), known.writtenAt.line));
  if (facts.peers)
    known.peers = facts.peers;
  known.readOnlyDuringKernel |= facts.readOnlyDuringKernel;
  known.pairsAcrossKernels |= facts.pairsAcrossKernels;
  known.signal |= facts.signal;
  known.writtenAt = facts.writtenAt;
  return {};
}

} // namespace interlock::lint
