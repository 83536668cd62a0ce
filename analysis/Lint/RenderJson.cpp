// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// Findings for programs: our own JSON, the fields of which docs/guide/scope-lint.md lists.
#include "analysis/Lint/Render.h"

#include <nlohmann/json.hpp>

#include <ostream>

namespace interlock::lint {
namespace {

using Json = nlohmann::ordered_json;

/// Grows when a field goes or changes its meaning; a new field leaves it as it is.
constexpr int formatVersion = 1;

Json toJson(const scope::Place &place) {
  Json json = {{"line", place.line}, {"column", place.column}, {"text", place.text}};
  if (!place.sourceFile.empty())
    json["source"] = {{"file", place.sourceFile}, {"line", place.sourceLine}};
  return json;
}

Json toJson(const scope::Finding &finding) {
  Json related = Json::array();
  for (const auto &[says, place] : finding.related)
    related.push_back({{"says", says}, {"place", toJson(place)}});
  return {{"rule", finding.rule},           {"severity", name(finding.severity)}, {"function", finding.function},
          {"place", toJson(finding.place)}, {"message", finding.message},         {"fix", finding.fix},
          {"related", std::move(related)}};
}

Json toJson(const Waiver &waiver) {
  return {{"rule", waiver.rule},
          {"function", waiver.function},
          {"reason", waiver.reason},
          {"file", waiver.writtenAt.file},
          {"line", waiver.writtenAt.line}};
}

template <class Items> Json arrayOf(const Items &items) {
  Json array = Json::array();
  for (const auto &item : items)
    array.push_back(toJson(item));
  return array;
}

class JsonRenderer final : public Renderer {
public:
  explicit JsonRenderer(std::ostream &out) : out(out) {}

  void judged(const Judged &input) override {
    Json waived = Json::array();
    for (const auto &[finding, waiver] : input.report.waived)
      waived.push_back({{"finding", toJson(finding)}, {"waiver", toJson(waiver)}});
    bool ptx = input.language == scope::Language::ptx;
    Json judged = {{"input", input.input}, {"language", ptx ? "ptx" : "amdgcn"}};
    if (ptx) {
      judged["ptx_isa"] = isaName(input.isa);
      judged["isa_known"] = input.isa <= newestKnownIsa;
    }
    judged.update({{"targets", input.targets},
                   {"functions", input.report.functions},
                   {"instructions", input.report.instructions},
                   {"unknown_directives", input.unknownDirectives},
                   {"unknown_opcodes", input.report.unknownOpcodes},
                   {"findings", arrayOf(input.report.findings)},
                   {"waived", std::move(waived)},
                   {"unused_waivers", arrayOf(input.report.unusedWaivers)}});
    inputs.push_back(std::move(judged));
  }
  void unusable(const Unusable &input) override {
    inputs.push_back({{"input", input.input},
                      {"unusable", input.message},
                      {"file", input.at.file.empty() ? input.input : input.at.file},
                      {"line", input.at.line},
                      {"column", input.at.column}});
  }
  void finish(const Summary &summary) override {
    Json document = {{"format", "scope-lint"},
                     {"version", formatVersion},
                     {"inputs", std::move(inputs)},
                     {"unused_waivers", arrayOf(summary.unusedWaivers)},
                     {"summary",
                      {{"errors", summary.errors},
                       {"warnings", summary.warnings + summary.unusedWaivers.size()},
                       {"notes", summary.notes},
                       {"waived", summary.waived},
                       {"unusable", summary.unusable},
                       {"fail_on", name(summary.failOn)},
                       {"exit_code", summary.exitCode()}}}};
    out << document.dump(2, ' ', false, Json::error_handler_t::replace) << std::endl;
  }

private:
  std::ostream &out;
  Json inputs = Json::array();
};

} // namespace

std::unique_ptr<Renderer> makeJsonRenderer(std::ostream &out) { return std::make_unique<JsonRenderer>(out); }

} // namespace interlock::lint
