// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// Names of protocol steps in emitted text.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

namespace interlock::target {

/// Names of source lines: what `.loc` gives for a signal, a wait or a fence, as the protocol calls it.
using StepNames = std::map<uint32_t, std::string>;

/// Puts the step's name behind every instruction of a PTX text that orders or waits, as a comment. The directives that
/// say which instruction came from which line (.file, .loc, their labels) go, unless `keepLines` is set.
std::string labelSteps(std::string_view ptx, const StepNames &steps, bool keepLines);

} // namespace interlock::target
