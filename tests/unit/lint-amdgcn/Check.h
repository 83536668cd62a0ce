// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// Assembly in, findings out, for tests; and files of the corpus.
#pragma once

#include "analysis/AMDGCN/Reader.h"
#include "analysis/LintAMDGCN/Lint.h"
#include "analysis/ScopeModel/Rules.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>

namespace interlock::lint {

inline Report checkAssembly(const std::string &text) {
  auto module = amdgcn::read(text, "test.s");
  EXPECT_TRUE(module) << (module ? "" : module.error().str());
  if (!module)
    return {};
  auto contract = contractOfComments(*module, "test.s");
  EXPECT_TRUE(contract) << (contract ? "" : contract.error().str());
  if (!contract)
    return {};
  Options options;
  options.contract = *contract;
  auto report = check(*module, options);
  EXPECT_TRUE(report) << (report ? "" : report.error());
  return report ? std::move(*report) : Report{};
}

/// "AM01 error line 12: expected …", …
inline std::vector<std::string> summary(const Report &report, scope::Severity least = scope::Severity::note) {
  std::vector<std::string> out;
  for (const scope::Finding &f : report.findings)
    if (f.severity >= least)
      out.push_back(fmt::format("{} {} line {}: {}", f.rule, scope::name(f.severity), f.place.line, f.message));
  return out;
}

/// The rules of what is found at warning or above.
inline std::vector<std::string> rulesOf(const Report &report) {
  std::vector<std::string> out;
  for (const scope::Finding &f : report.findings)
    if (f.severity >= scope::Severity::warning)
      out.emplace_back(f.rule);
  return out;
}

inline std::vector<std::filesystem::path> filesIn(const char *folder) {
  std::vector<std::filesystem::path> files;
  for (const auto &entry : std::filesystem::directory_iterator(std::filesystem::path(ILK_AMDGCN_CORPUS) / folder))
    if (entry.path().extension() == ".s")
      files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  return files;
}

inline std::string readFile(const std::filesystem::path &path) {
  std::ifstream in(path);
  return {std::istreambuf_iterator<char>(in), {}};
}

/// A file of the clean corpus.
inline std::string cleanText(std::string_view name) {
  std::string text = readFile(std::filesystem::path(ILK_AMDGCN_CORPUS) / "clean" / fmt::format("{}.s", name));
  EXPECT_FALSE(text.empty()) << name;
  return text;
}

} // namespace interlock::lint
