// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// SARIF: held against what the standard asks (sarif.schema.json), and what stands where.
#include "Samples.h"
#include "SarifSchema.h"

#include "analysis/ScopeModel/Rules.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

namespace interlock::lint {
namespace {

using nlohmann::json;
using testing::IsEmpty;

json schema() { return json::parse(std::ifstream(SARIF_SCHEMA)); }

json rendered() {
  std::ostringstream out;
  samples::renderAll(*makeSarifRenderer(out));
  return json::parse(out.str());
}

TEST(Sarif, FitsTheStandard) {
  EXPECT_THAT(test::violations(rendered(), schema()), IsEmpty());
  std::ostringstream empty;
  makeSarifRenderer(empty)->finish({});
  EXPECT_THAT(test::violations(json::parse(empty.str()), schema()), IsEmpty());
}

TEST(Sarif, TheCheckSeesWhatDoesNotFit) {
  const json good = rendered();
  auto broken = [&](const char *pointer, const json &value) {
    json document = good;
    document[json::json_pointer(pointer)] = value;
    return test::violations(document, schema()).size();
  };
  EXPECT_EQ(broken("/version", "2.0.0"), 1u);
  EXPECT_EQ(broken("/runs/0/results/0/level", "fatal"), 1u);
  EXPECT_EQ(broken("/runs/0/results/0/message", json::object()), 1u);
  EXPECT_EQ(broken("/runs/0/results/0/locations/0/physicalLocation/artifactLocation/uri", "my kernel.cu"), 1u);
  EXPECT_EQ(broken("/runs/0/results/0/locations/0/physicalLocation/region/startLine", 0), 1u);
  EXPECT_EQ(broken("/runs/0/results/0/surprise", 1), 1u);
  EXPECT_EQ(broken("/runs/0/tool", json::object()), 1u);
  EXPECT_EQ(broken("/runs/0/invocations/0/executionSuccessful", "no"), 1u);
}

TEST(Sarif, HasEveryRule) {
  json rules = rendered()["runs"][0]["tool"]["driver"]["rules"];
  ASSERT_EQ(rules.size(), scope::rules().size() + 1);
  for (size_t i = 0; i < scope::rules().size(); ++i) {
    EXPECT_EQ(rules[i]["id"], scope::rules()[i].id);
    EXPECT_EQ(rules[i]["defaultConfiguration"]["level"], name(scope::rules()[i].severity));
    EXPECT_FALSE(rules[i]["help"]["markdown"].get<std::string>().empty());
  }
  EXPECT_EQ(rules.back()["id"], "unused-waiver");
}

TEST(Sarif, RuleIndicesLeadToTheRule) {
  const json run = rendered()["runs"][0];
  for (const json &result : run["results"])
    EXPECT_EQ(run["tool"]["driver"]["rules"][result["ruleIndex"].get<size_t>()]["id"], result["ruleId"]);
}

TEST(Sarif, AResultIsWhereItCanBeMended) {
  json result = rendered()["runs"][0]["results"][0];
  json at = result["locations"][0]["physicalLocation"];
  EXPECT_EQ(at["artifactLocation"]["uri"], "dir/my%20kernel.cu");
  EXPECT_EQ(at["region"]["startLine"], 37);
  EXPECT_EQ(result["analysisTarget"]["uri"], "k.ptx");
  ASSERT_EQ(result["relatedLocations"].size(), 2u);
  EXPECT_EQ(result["relatedLocations"][0]["physicalLocation"]["region"]["startLine"], 4);
  EXPECT_EQ(result["relatedLocations"][1]["message"]["text"], "acquired here");
  // Without a source line it is in the PTX.
  json inPtx = rendered()["runs"][0]["results"][1]["locations"][0]["physicalLocation"];
  EXPECT_EQ(inPtx["artifactLocation"]["uri"], "k.ptx");
  EXPECT_EQ(inPtx["region"]["startLine"], 5);
}

TEST(Sarif, AWaivedFindingIsSuppressedWithItsReason) {
  const json run = rendered()["runs"][0];
  std::vector<json> suppressed;
  for (const json &result : run["results"])
    if (result.contains("suppressions"))
      suppressed.push_back(result["suppressions"][0]);
  ASSERT_EQ(suppressed.size(), 1u);
  EXPECT_EQ(suppressed[0]["kind"], "external");
  EXPECT_EQ(suppressed[0]["justification"], "all CTAs are resident");
}

TEST(Sarif, AnUnusableInputIsANotification) {
  json invocation = rendered()["runs"][0]["invocations"][0];
  EXPECT_EQ(invocation["executionSuccessful"], false);
  EXPECT_EQ(invocation["exitCode"], 2);
  EXPECT_EQ(invocation["toolExecutionNotifications"][0]["message"]["text"], "expected ';', found 'x'");
}

std::vector<std::string> fingerprints(const std::vector<scope::Finding> &findings) {
  std::ostringstream out;
  auto renderer = makeSarifRenderer(out);
  Judged input{"k.ptx", "", 80, {}, {}, {}};
  input.report.findings = findings;
  renderer->judged(input);
  renderer->finish({});
  std::vector<std::string> found;
  const json document = json::parse(out.str());
  for (const json &result : document["runs"][0]["results"])
    found.push_back(result["partialFingerprints"]["scopeLint/v1"]);
  return found;
}

TEST(Sarif, FingerprintsOutliveNewLines) {
  scope::Finding a = samples::error(), moved = a, other = a;
  moved.place.line += 100;
  moved.place.sourceLine += 10;
  other.function = "k2";
  EXPECT_EQ(fingerprints({a}), fingerprints({moved}));
  EXPECT_NE(fingerprints({a}), fingerprints({other}));
  auto twice = fingerprints({a, moved});
  EXPECT_NE(twice[0], twice[1]);
}

} // namespace
} // namespace interlock::lint
