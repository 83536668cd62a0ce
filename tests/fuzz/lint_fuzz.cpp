// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// libFuzzer entry of the whole lint: any bytes must give a refusal, or findings that every format can show. Build with
// clang++ -fsanitize=fuzzer,address; the unit tests call the same function on a mutated corpus.
#include "analysis/Lint/Render.h"
#include "analysis/PTX/Reader.h"

#include <cstdlib>
#include <sstream>

using namespace interlock;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  std::string_view text{reinterpret_cast<const char *>(data), size};
  auto module = ptx::read(text, "fuzz");
  if (!module)
    return 0;
  auto contract = lint::contractOfComments(text, *module, "fuzz");
  if (!contract)
    return 0;
  lint::Judged judged{"fuzz", text, module->version, {}, {}, {}};
  judged.report = lint::check(*module, {uint32_t(size % 3), *contract});
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
  return 0;
}
