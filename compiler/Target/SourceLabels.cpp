// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// Works on the lines that LLVM's NVPTX back end prints: one instruction or directive each.
#include "compiler/Target/SourceLabels.h"

#include <charconv>

namespace interlock::target {
namespace {

bool startsWith(std::string_view text, std::string_view start) { return text.substr(0, start.size()) == start; }

std::string_view trimmed(std::string_view line) {
  size_t begin = line.find_first_not_of(" \t");
  return begin == std::string_view::npos ? std::string_view()
                                         : line.substr(begin, line.find_last_not_of(" \t") + 1 - begin);
}

/// The second number of `.loc FILE LINE COLUMN`; 0 where there is none.
uint32_t lineOf(std::string_view directive) {
  uint32_t numbers[2] = {0, 0};
  size_t at = 0;
  for (uint32_t &number : numbers) {
    at = directive.find_first_of("0123456789", at);
    if (at == std::string_view::npos)
      return 0;
    auto read = std::from_chars(directive.data() + at, directive.data() + directive.size(), number);
    at = size_t(read.ptr - directive.data());
  }
  return numbers[1];
}

/// Whether a line is an instruction that orders, signals or waits.
bool isStep(std::string_view line) {
  while (startsWith(line, "{") || startsWith(line, "@")) {
    size_t next = line.front() == '{' ? 1 : line.find_first_of(" \t");
    line = next == std::string_view::npos ? std::string_view() : trimmed(line.substr(next));
  }
  std::string_view mnemonic = line.substr(0, line.find_first_of(" \t;"));
  for (std::string_view start :
       {"fence.", "membar.", "mbarrier.", "bar.", "barrier.", "red.", "atom.", "st.async.", "red.async.", "cp.async.",
        "cp.reduce.async.", "clusterlaunchcontrol.", "griddepcontrol."})
    if (startsWith(mnemonic, start))
      return true;
  if (!startsWith(mnemonic, "ld.") && !startsWith(mnemonic, "st."))
    return false;
  for (std::string_view order : {".release", ".acquire", ".relaxed", ".volatile", ".mmio"})
    if (mnemonic.find(order) != std::string_view::npos)
      return true;
  return false;
}

/// Directives and labels that say where instructions came from; nothing branches to the labels.
bool isPlace(std::string_view line) {
  for (std::string_view start :
       {".loc", ".file", ".section\t.debug_macinfo", "$L__tmp", "$L__func_begin", "$L__func_end"})
    if (startsWith(line, start))
      return true;
  return false;
}

} // namespace

std::string labelSteps(std::string_view ptx, const StepNames &steps, bool keepLines) {
  std::string result;
  result.reserve(ptx.size() + ptx.size() / 16);
  const std::string *step = nullptr;
  while (!ptx.empty()) {
    size_t end = ptx.find('\n');
    std::string_view whole = ptx.substr(0, end), line = trimmed(whole);
    ptx.remove_prefix(end == std::string_view::npos ? ptx.size() : end + 1);
    if (startsWith(line, ".loc")) {
      auto named = steps.find(lineOf(line));
      step = named == steps.end() ? nullptr : &named->second;
    }
    if (!keepLines && isPlace(line))
      continue;
    result += whole;
    if (step && isStep(line))
      result.append(" // ").append(*step);
    result += '\n';
  }
  return result;
}

} // namespace interlock::target
