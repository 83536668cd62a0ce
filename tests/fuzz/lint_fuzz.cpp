// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// libFuzzer entry of the whole lint, of PTX and of AMDGCN: any bytes must give a refusal, or findings that every format
// can show. Build with clang++ -fsanitize=fuzzer,address; the unit tests call the same function on a mutated corpus.
#include "analysis/AMDGCN/Reader.h"
#include "analysis/Lint/Render.h"
#include "analysis/LintAMDGCN/Lint.h"
#include "analysis/PTX/Reader.h"

#include <cstdlib>
#include <sstream>

using namespace interlock;

namespace {

void show(const lint::Judged &judged) {
  for (const scope::Finding &finding : judged.report.findings)
    if (finding.message.empty() || finding.place.line == 0 || finding.rule.empty())
      std::abort();
  lint::Summary summary;
  summary.count(judged.report);
  for (auto make : {lint::makeTextRenderer, lint::makeJsonRenderer, lint::makeSarifRenderer}) {
    std::ostringstream out;
    auto renderer = make(out);
    renderer->judged(judged);
    renderer->finish(summary);
  }
}

void judgePtx(std::string_view text) {
  auto module = ptx::read(text, "fuzz");
  if (!module)
    return;
  auto contract = lint::contractOfComments(text, *module, "fuzz");
  if (!contract)
    return;
  lint::Judged judged{"fuzz", text, module->version, {}, {}, {}};
  judged.report = lint::check(*module, {uint32_t(text.size() % 3), *contract});
  show(judged);
}

void judgeAmdgcn(std::string_view text) {
  auto module = amdgcn::read(text, "fuzz");
  if (!module)
    return;
  auto contract = lint::contractOfComments(*module, "fuzz");
  if (!contract)
    return;
  auto report = lint::check(*module, {0, *contract});
  if (!report)
    return;
  lint::Judged judged{"fuzz", text, 0, {std::string(module->processor())}, {}, {}, scope::Language::amdgcn};
  judged.report = std::move(*report);
  show(judged);
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  std::string_view text{reinterpret_cast<const char *>(data), size};
  text.find(".amdgcn_target") == text.npos ? judgePtx(text) : judgeAmdgcn(text);
  return 0;
}
