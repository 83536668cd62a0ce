// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// A result made by hand, so that the output formats are tested without the judgement.
#pragma once

#include "analysis/Lint/Render.h"

namespace interlock::lint::samples {

inline constexpr std::string_view ptx = ".version 8.6\n.target sm_90a\n.entry k() {\n"
                                        "\tst.release.cta.u32 [%rd1], 1;\r\n"
                                        "  ld.acquire.gpu.u32 %r1, [%rd1];\n}\n";

inline scope::Place place(uint32_t line, uint32_t column, std::string text, std::string file = "",
                          uint32_t source = 0) {
  return {line, column, std::move(text), std::move(file), source};
}

/// An error with a related place and a source line.
inline scope::Finding error() {
  scope::Finding f;
  f.rule = "SL01";
  f.severity = scope::Severity::error;
  f.function = "k";
  f.place = place(4, 2, "st.release.cta.u32 [%rd1], 1", "dir/my kernel.cu", 37);
  f.message = "expected a release at gpu scope, got cta";
  f.fix = "use st.release.gpu";
  f.related.push_back({"acquired here", place(5, 3, "ld.acquire.gpu.u32 %r1, [%rd1]")});
  return f;
}

inline scope::Finding note() {
  scope::Finding f;
  f.rule = "SL28";
  f.severity = scope::Severity::note;
  f.function = "k";
  f.place = place(5, 3, "ld.acquire.gpu.u32 %r1, [%rd1]");
  f.message = "expected cta scope to do, got gpu";
  return f;
}

inline Waiver waiver(std::string file, uint32_t line) {
  Waiver w;
  w.rule = "SL27";
  w.reason = "all CTAs are resident";
  w.writtenAt = {std::move(file), line, 1};
  return w;
}

inline Judged judged() {
  Judged input{"k.ptx", ptx, 99, {"sm_90a"}, {{"later", 1}}, {}};
  input.report.findings = {error(), note()};
  input.report.waived.push_back({note(), waiver("c.txt", 3)});
  input.report.unusedWaivers.push_back(waiver("k.ptx", 2));
  input.report.unknownOpcodes = {{"frob", 2}, {"twist", 1}};
  input.report.functions = 1;
  input.report.instructions = 2;
  return input;
}

/// The judged input, an unusable one and the summary.
inline void renderAll(Renderer &renderer) {
  Summary summary;
  Judged input = judged();
  summary.count(input.report);
  renderer.judged(input);
  ++summary.unusable;
  renderer.unusable({"bad.ptx", {"bad.ptx", 7, 3}, "expected ';', found 'x'"});
  summary.unusedWaivers.push_back(waiver("c.txt", 9));
  renderer.finish(summary);
}

} // namespace interlock::lint::samples
