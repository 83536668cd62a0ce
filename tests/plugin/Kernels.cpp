// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
#include "tests/plugin/Kernels.h"

#include "interlock/prepare.hpp"
#include "runtime/Cache/EntryFile.h"
#include "runtime/Spec/SpecList.h"
#include "tests/unit/cache/FakeCompiler.h"
#include "tests/unit/tool/Command.h"

namespace interlock::test {

std::vector<KernelSpec> kernels() {
  LayerSpec layer;
  layer.ranks = 4;
  layer.experts = 32;
  layer.topk = 4;
  layer.hidden = 512;
  layer.maxTokens = 64;
  OperationOptions claimed;
  claimed.schedule = Schedule::claimed;
  claimed.cluster = 4;
  auto all = enumerateKernels(
      {.layers = {layer}, .devices = {{"sm_90a", 132, 4}, {"sm_100a", 148, 4}}, .options = {{}, claimed}});
  return all ? *all : std::vector<KernelSpec>();
}

std::map<std::string, std::string> ptxOfTheCommand() {
  TempFolder folder;
  std::string list = writeFile(folder.string("list"), formatSpecList(kernels()));
  Outcome outcome = runCommand({"cache", "prewarm", "--specs", list},
                               {"INTERLOCK_CACHE_DIR=" + folder.string(), "INTERLOCK_COMPILER=" INTERLOCK_PLUGIN});
  std::map<std::string, std::string> ptx;
  if (outcome.code == 0)
    for (const auto &file : filesBelow(folder.path() / "cache/entries"))
      if (auto entry = decodeEntry(slurp(file)))
        ptx[canonicalForm(entry->artifact.spec)] = entry->artifact.text;
  return ptx;
}

} // namespace interlock::test
