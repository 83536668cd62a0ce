// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// Contract statements in the comments of a PTX text: finds them, and what each holds for.
#include "analysis/Lint/Contract.h"
#include "analysis/Lint/Statement.h"
#include "analysis/PTX/Lexer.h"

#include <algorithm>

namespace interlock::lint {
namespace {

constexpr std::string_view marker = "contract:";

struct Comment {
  std::string_view statement;
  Origin at;
  bool behindCode = false;
};

std::vector<Comment> contractComments(std::string_view ptx, std::string_view file) {
  std::vector<Comment> found;
  if (ptx.find(marker) == ptx.npos) // the usual case: no second look at the text
    return found;
  ptx::Lexer lexer(ptx);
  lexer.onComment = [&](const ptx::Lexer::Comment &comment) {
    size_t start = comment.text.find_first_not_of(" \t");
    if (start != comment.text.npos && comment.text.substr(start).starts_with(marker))
      found.push_back({comment.text.substr(start + marker.size()),
                       {std::string(file), comment.at.line, comment.at.column},
                       comment.behindCode});
  };
  while (lexer.next().kind != ptx::TokenKind::end) {
  }
  return found;
}

/// The functions with a body, in the order of the text.
std::vector<const ptx::Function *> bodies(const ptx::Module &module) {
  std::vector<const ptx::Function *> found;
  for (const ptx::Function &fn : module.functions)
    if (fn.defined)
      found.push_back(&fn);
  std::sort(found.begin(), found.end(), [](auto *a, auto *b) { return a->begin.line < b->begin.line; });
  return found;
}

/// The function that a comment on `line` stands in, or right before; `below` is the line behind the comments that stand
/// together with it.
const ptx::Function *functionAt(const std::vector<const ptx::Function *> &bodies, uint32_t line, uint32_t below) {
  auto behind = std::partition_point(bodies.begin(), bodies.end(), [&](auto *fn) { return fn->begin.line <= line; });
  if (behind != bodies.begin() && line <= (*(behind - 1))->end.line)
    return *(behind - 1);
  return behind != bodies.end() && (*behind)->begin.line == below ? *behind : nullptr;
}

/// The line of the first instruction on `line` or behind it; `line` itself if there is none.
uint32_t instructionLine(const ptx::Function &fn, uint32_t line) {
  auto found = std::partition_point(fn.instructions.begin(), fn.instructions.end(),
                                    [&](const ptx::Instruction &in) { return in.at.line < line; });
  return found == fn.instructions.end() ? line : found->at.line;
}

} // namespace

tl::expected<Contract, ContractError> contractOfComments(std::string_view ptx, const ptx::Module &module,
                                                         std::string_view file) {
  Contract contract;
  std::vector<Comment> comments = contractComments(ptx, file);
  if (comments.empty())
    return contract;
  std::vector<uint32_t> below(comments.size());
  for (size_t i = comments.size(); i-- > 0;) {
    uint32_t next = comments[i].at.line + 1;
    bool more = i + 1 < comments.size() && comments[i + 1].at.line == next && !comments[i + 1].behindCode;
    below[i] = more ? below[i + 1] : next;
  }
  const std::vector<const ptx::Function *> functions = bodies(module);
  for (size_t i = 0; i < comments.size(); ++i) {
    const auto &[text, at, behindCode] = comments[i];
    auto statement = readStatement(text, at);
    if (!statement)
      return tl::unexpected(std::move(statement.error()));
    const ptx::Function *fn = functionAt(functions, at.line, below[i]);
    if (fn && statement->function.empty()) {
      statement->function = fn->name;
      if (auto *waiver = std::get_if<Waiver>(&statement->what)) {
        waiver->function = fn->name;
        if (at.line >= fn->body.line)
          waiver->line = instructionLine(*fn, behindCode ? at.line : at.line + 1);
      }
    }
    if (auto added = add(contract, std::move(*statement)); !added)
      return tl::unexpected(std::move(added.error()));
  }
  return contract;
}

} // namespace interlock::lint
