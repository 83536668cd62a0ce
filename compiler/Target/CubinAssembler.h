// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// PTX to cubin through nvJitLink, found at run time; without it the PTX is left to the driver.
#pragma once

#include "interlock/status.hpp"

#include <memory>
#include <string>
#include <string_view>

namespace interlock::target {

/// A loaded nvJitLink. Calls are thread safe.
class CubinAssembler {
public:
  /// Looks for libnvJitLink.so.13 and .12 by the loader's search path and under the toolkit's usual prefix
  /// (findNvJitLink). Fails with notFound and one sentence.
  static Result<std::shared_ptr<const CubinAssembler>> find();
  ~CubinAssembler();

  /// "nvJitLink 13.0".
  const std::string &identity() const { return name; }

  /// Assembles one PTX module for `chip` (sm_90a), with what its .loc directives say if `keepLines` is set. The error
  /// carries nvJitLink's log.
  Result<std::string> assemble(std::string_view ptx, std::string_view chip, bool keepLines = false) const;

private:
  struct Symbols;
  CubinAssembler(void *library, std::unique_ptr<Symbols> symbols, std::string name);
  void *library;
  std::unique_ptr<Symbols> symbols;
  std::string name;
};

} // namespace interlock::target
