// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// libFuzzer entry of the emulator for AMD chips: any bytes must be refused, or run to an end or an error. Instructions
// that can loop are left out. Build with clang++ -fsanitize=fuzzer,address; the unit tests call the same function on a
// mutated corpus.
#include "analysis/Emulator/Machine.h"

#include <array>
#include <cstdlib>
#include <string>

using namespace interlock::emu;

namespace {

/// Without the lines that may make a program run for ever.
std::string straight(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    size_t end = std::min(text.find('\n'), text.size() - 1) + 1;
    std::string_view line = text.substr(0, end);
    bool loops = false;
    for (std::string_view word : {"branch", "setpc", "set_pc", "swap_pc", "swappc", "s_call", "barrier", "s_sleep"})
      loops |= line.find(word) != line.npos;
    if (!loops)
      out += line;
    text.remove_prefix(end);
  }
  return out;
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  std::string text = straight({reinterpret_cast<const char *>(data), size});
  MachineOptions options;
  options.chip = "gfx942";
  for (const char *chip : {"gfx90a", "gfx950", "gfx1100", "gfx1201", "gfx1250"})
    if (text.find(chip) != text.npos)
      options.chip = chip;
  options.memory = size % 2 ? MemoryMode::cached : MemoryMode::sequential;
  auto machine = Machine::create(options);
  if (!machine)
    std::abort();
  auto module = (*machine)->load(0, text, "fuzz");
  if (!module) {
    if (module.error().message.empty())
      std::abort();
    return 0;
  }
  auto stream = (*machine)->createStream(0);
  uint64_t memory = *(*machine)->allocate(0, 65536);
  for (const char *name : {"k", "message_groups_agent", "message_waves_workgroup", "message_devices_system"}) {
    auto kernel = (*machine)->kernel(*module, name);
    if (!kernel)
      continue;
    std::array<uint64_t, 4> params{memory, memory + 16384, memory + 32768, 0};
    LaunchConfig config;
    config.grid.x = 2;
    config.block.x = 96;
    if ((*machine)->launch(*stream, *kernel, config, std::as_bytes(std::span(params))))
      (void)(*machine)->synchronizeAll();
  }
  return 0;
}
