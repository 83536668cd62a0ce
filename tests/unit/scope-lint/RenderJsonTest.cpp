// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// The JSON format: every field that docs/guide/scope-lint.md lists.
#include "Samples.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <sstream>

namespace interlock::lint {
namespace {

nlohmann::json rendered() {
  std::ostringstream out;
  samples::renderAll(*makeJsonRenderer(out));
  return nlohmann::json::parse(out.str());
}

TEST(RenderJson, EveryField) {
  EXPECT_EQ(rendered(), nlohmann::json::parse(R"({
    "format": "scope-lint", "version": 1,
    "inputs": [
      {"input": "k.ptx", "language": "ptx", "ptx_isa": "9.9", "isa_known": false, "targets": ["sm_90a"], "functions": 1, "instructions": 2,
       "unknown_directives": {"later": 1}, "unknown_opcodes": {"frob": 2, "twist": 1},
       "findings": [
         {"rule": "SL01", "severity": "error", "function": "k",
          "place": {"line": 4, "column": 2, "text": "st.release.cta.u32 [%rd1], 1",
                    "source": {"file": "dir/my kernel.cu", "line": 37}},
          "message": "expected a release at gpu scope, got cta", "fix": "use st.release.gpu",
          "related": [{"says": "acquired here",
                       "place": {"line": 5, "column": 3, "text": "ld.acquire.gpu.u32 %r1, [%rd1]"}}]},
         {"rule": "SL28", "severity": "note", "function": "k",
          "place": {"line": 5, "column": 3, "text": "ld.acquire.gpu.u32 %r1, [%rd1]"},
          "message": "expected cta scope to do, got gpu", "fix": "", "related": []}],
       "waived": [
         {"finding": {"rule": "SL28", "severity": "note", "function": "k",
                      "place": {"line": 5, "column": 3, "text": "ld.acquire.gpu.u32 %r1, [%rd1]"},
                      "message": "expected cta scope to do, got gpu", "fix": "", "related": []},
          "waiver": {"rule": "SL27", "function": "", "reason": "all CTAs are resident", "file": "c.txt", "line": 3}}],
       "unused_waivers": [
         {"rule": "SL27", "function": "", "reason": "all CTAs are resident", "file": "k.ptx", "line": 2}]},
      {"input": "bad.ptx", "unusable": "expected ';', found 'x'", "file": "bad.ptx", "line": 7, "column": 3}],
    "unused_waivers": [
      {"rule": "SL27", "function": "", "reason": "all CTAs are resident", "file": "c.txt", "line": 9}],
    "summary": {"errors": 1, "warnings": 2, "notes": 1, "waived": 1, "unusable": 1, "fail_on": "warning",
                "exit_code": 2}})"));
}

TEST(RenderJson, BytesThatAreNotTextBecomeReplacements) {
  std::ostringstream out;
  auto renderer = makeJsonRenderer(out);
  renderer->unusable({"\xff.ptx", {}, "found '\xc3\x28'"});
  renderer->finish({});
  EXPECT_EQ(nlohmann::json::parse(out.str())["inputs"][0]["input"], "\xef\xbf\xbd.ptx");
}

} // namespace
} // namespace interlock::lint
