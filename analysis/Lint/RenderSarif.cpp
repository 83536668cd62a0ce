// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// Findings as SARIF 2.1.0 (OASIS), for code scanning services and editors.
#include "analysis/Lint/Explain.h"
#include "analysis/Lint/Render.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <ostream>

namespace interlock::lint {
namespace {

using Json = nlohmann::ordered_json;

/// A file name as a URI reference (RFC 3986): only what may stand in a path stays as it is.
std::string uriOf(std::string_view file) {
  if (file == "-")
    return "stdin";
  std::string uri = file.starts_with('/') ? "file://" : "";
  for (unsigned char c : file)
    if (std::isalnum(c) || std::string_view("-._~/").find(char(c)) != std::string_view::npos)
      uri += char(c);
    else
      uri += fmt::format("%{:02X}", c);
  return uri;
}

Json region(uint32_t line, uint32_t column) {
  Json json = {{"startLine", line}};
  if (column)
    json["startColumn"] = column;
  return json;
}

Json physical(std::string_view file, uint32_t line, uint32_t column, const std::string &snippet = {}) {
  Json json = {{"artifactLocation", {{"uri", uriOf(file)}}}};
  if (line) {
    json["region"] = region(line, column);
    if (!snippet.empty())
      json["region"]["snippet"] = {{"text", snippet}};
  }
  return json;
}

/// Says which finding this is, whatever the lines it moves to: FNV-1a over the rule, the function and the instructions,
/// and how many the same came before it.
class Fingerprints {
public:
  std::string of(const scope::Finding &finding) {
    uint64_t hash = 0xcbf29ce484222325;
    auto add = [&](std::string_view text) {
      for (unsigned char c : text)
        hash = (hash ^ c) * 0x100000001b3;
      hash = (hash ^ 0xff) * 0x100000001b3; // no byte of a text: fields stay apart
    };
    add(finding.rule);
    add(finding.function);
    add(finding.place.text);
    for (const auto &[says, place] : finding.related)
      add(place.text);
    return fmt::format("{:016x}:{}", hash, seen[hash]++);
  }

private:
  std::map<uint64_t, uint32_t> seen;
};

class SarifRenderer final : public Renderer {
public:
  explicit SarifRenderer(std::ostream &out) : out(out) {
    for (const scope::Rule &rule : scope::rules())
      rules.push_back({{"id", rule.id},
                       {"name", identifier(rule.title)},
                       {"shortDescription", {{"text", rule.title}}},
                       {"fullDescription", {{"text", rule.explanation}}},
                       {"help",
                        {{"text", fmt::format("{}\n\n{}, \"{}\"", rule.explanation, scope::documentOf(rule.language),
                                              rule.section)},
                         {"markdown", rulePage(rule)}}},
                       {"defaultConfiguration", {{"level", name(rule.severity)}}}});
    rules.push_back({{"id", unusedWaiverRule},
                     {"name", identifier("unused waiver")},
                     {"shortDescription", {{"text", "a waiver that covers no finding"}}},
                     {"defaultConfiguration", {{"level", "warning"}}}});
  }

  void judged(const Judged &input) override {
    Fingerprints fingerprints;
    for (const scope::Finding &finding : input.report.findings)
      results.push_back(resultOf(input.input, finding, fingerprints));
    for (const auto &[finding, waiver] : input.report.waived) {
      Json result = resultOf(input.input, finding, fingerprints);
      bool inSource = waiver.writtenAt.file == input.input;
      result["suppressions"] =
          Json::array({{{"kind", inSource ? "inSource" : "external"},
                        {"justification", waiver.reason},
                        {"location",
                         {{"physicalLocation",
                           physical(waiver.writtenAt.file, waiver.writtenAt.line, waiver.writtenAt.column)}}}}});
      results.push_back(std::move(result));
    }
    for (const Waiver &waiver : input.report.unusedWaivers)
      add(waiver);
  }

  void unusable(const Unusable &input) override {
    const std::string &file = input.at.file.empty() ? input.input : input.at.file;
    notifications.push_back(
        {{"level", "error"},
         {"message", {{"text", input.message}}},
         {"locations", Json::array({{{"physicalLocation", physical(file, input.at.line, input.at.column)}}})}});
  }

  void finish(const Summary &summary) override {
    for (const Waiver &waiver : summary.unusedWaivers)
      add(waiver);
    Json invocation = {{"executionSuccessful", summary.unusable == 0},
                       {"exitCode", summary.exitCode()},
                       {"toolExecutionNotifications", std::move(notifications)}};
    Json run = {
        {"tool", {{"driver", {{"name", "scope-lint"}, {"version", INTERLOCK_VERSION}, {"rules", std::move(rules)}}}}},
        {"invocations", Json::array({std::move(invocation)})},
        {"columnKind", "utf16CodeUnits"},
        {"results", std::move(results)}};
    Json document = {{"$schema", "https://json.schemastore.org/sarif-2.1.0.json"},
                     {"version", "2.1.0"},
                     {"runs", Json::array({std::move(run)})}};
    out << document.dump(2, ' ', false, Json::error_handler_t::replace) << std::endl;
  }

private:
  /// "release too narrow" as "ReleaseTooNarrow": what SARIF calls a name.
  static std::string identifier(std::string_view title) {
    std::string out;
    bool upper = true;
    for (unsigned char c : title) {
      if (std::isalnum(c))
        out += char(upper ? std::toupper(c) : c);
      upper = !std::isalnum(c);
    }
    return out;
  }

  static size_t ruleIndex(std::string_view id) {
    size_t index = 0;
    for (const scope::Rule &rule : scope::rules()) {
      if (rule.id == id)
        break;
      ++index;
    }
    return index; // of unused-waiver behind all others
  }

  /// A result is where a person can mend it: in the CUDA source where the PTX names it, else in the PTX.
  static Json resultOf(const std::string &file, const scope::Finding &finding, Fingerprints &fingerprints) {
    Json related = Json::array();
    auto relate = [&](std::string_view says, Json place) {
      related.push_back(
          {{"id", related.size() + 1}, {"physicalLocation", std::move(place)}, {"message", {{"text", says}}}});
    };
    const scope::Place &place = finding.place;
    Json inPtx = physical(file, place.line, place.column, place.text);
    Json location = {{"physicalLocation", inPtx},
                     {"logicalLocations", Json::array({{{"name", finding.function}, {"kind", "function"}}})}};
    if (!place.sourceFile.empty()) {
      location["physicalLocation"] = physical(place.sourceFile, place.sourceLine, 0);
      relate("the instruction that it was compiled to", std::move(inPtx));
    }
    for (const scope::RelatedPlace &other : finding.related) {
      if (!other.place.sourceFile.empty())
        relate(other.says, physical(other.place.sourceFile, other.place.sourceLine, 0));
      relate(other.says, physical(file, other.place.line, other.place.column, other.place.text));
    }
    std::string message = finding.message;
    if (!finding.fix.empty())
      message += "; " + finding.fix;
    Json result = {{"ruleId", finding.rule},
                   {"ruleIndex", ruleIndex(finding.rule)},
                   {"level", name(finding.severity)},
                   {"message", {{"text", std::move(message)}}},
                   {"analysisTarget", {{"uri", uriOf(file)}}},
                   {"locations", Json::array({std::move(location)})},
                   {"partialFingerprints", {{"scopeLint/v1", fingerprints.of(finding)}}}};
    if (!related.empty())
      result["relatedLocations"] = std::move(related);
    return result;
  }

  void add(const Waiver &waiver) {
    results.push_back(
        {{"ruleId", unusedWaiverRule},
         {"ruleIndex", scope::rules().size()},
         {"level", "warning"},
         {"message", {{"text", unusedWaiverMessage(waiver)}}},
         {"locations", Json::array({{{"physicalLocation", physical(waiver.writtenAt.file, waiver.writtenAt.line,
                                                                   waiver.writtenAt.column)}}})}});
  }

  std::ostream &out;
  Json rules = Json::array(), results = Json::array(), notifications = Json::array();
};

} // namespace

std::unique_ptr<Renderer> makeSarifRenderer(std::ostream &out) { return std::make_unique<SarifRenderer>(out); }

} // namespace interlock::lint
