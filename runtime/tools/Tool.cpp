// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// Output of the command.
#include "runtime/tools/Tool.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>

namespace interlock::tool {

namespace {
std::string_view codeName(Code code) {
  switch (code) {
  case Code::badInput:
    return "bad-input";
  case Code::unsupported:
    return "unsupported";
  case Code::notFound:
    return "not-found";
  case Code::compile:
    return "compile";
  case Code::device:
    return "device";
  case Code::timeout:
    return "timeout";
  case Code::notPrepared:
    return "not-prepared";
  case Code::internal:
    break;
  }
  return "internal";
}
} // namespace

int fail(const Context &context, const Error &error) {
  note("interlock: " + error.message);
  if (context.json)
    print({{"error", {{"code", codeName(error.code)}, {"message", error.message}}}});
  bool asked = error.code == Code::badInput || error.code == Code::unsupported || error.code == Code::notFound ||
               error.code == Code::notPrepared || error.code == Code::compile;
  return asked ? exitBadInput : exitMismatch;
}

void note(std::string_view line) { fmt::print(stderr, "{}\n", line); }

void print(const nlohmann::json &object) {
  // Names and messages may hold bytes of files that are no UTF-8; replacing them beats throwing.
  fmt::print("{}\n", object.dump(2, ' ', false, nlohmann::json::error_handler_t::replace));
}

void printTable(const std::vector<std::string> &headings, const std::vector<std::vector<std::string>> &rows) {
  std::vector<size_t> widths;
  for (const std::string &heading : headings)
    widths.push_back(heading.size());
  for (const auto &row : rows)
    for (size_t i = 0; i < row.size(); ++i)
      widths[i] = std::max(widths[i], row[i].size());
  auto line = [&](const std::vector<std::string> &cells) {
    std::string text;
    for (size_t i = 0; i < cells.size(); ++i)
      text += i == 0 ? fmt::format("{:<{}}", cells[i], widths[i]) : fmt::format("  {:>{}}", cells[i], widths[i]);
    fmt::print("{}\n", text.substr(0, text.find_last_not_of(' ') + 1));
  };
  line(headings);
  for (const auto &row : rows)
    line(row);
}

} // namespace interlock::tool
