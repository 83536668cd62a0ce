// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// What makes kernels of sources in one language, with the gate behind it.
#pragma once

#include "analysis/Lint/Contract.h"
#include "interlock/source.hpp"
#include "runtime/Cache/Compiler.h"

#include <nlohmann/json.hpp>

#include <chrono>
#include <map>
#include <memory>
#include <string>

namespace interlock {

/// Calls are thread safe.
class SourceCompiler {
public:
  virtual ~SourceCompiler() = default;
  /// What a cache key needs to know of the compiler and of the gate: a JSON object.
  virtual std::string identity() const = 0;
  /// The parts text and binary, by the target's names for them, and meta. Fails if the compiler refuses the source or
  /// the gate what became of it.
  virtual Result<std::map<std::string, std::string>> make(const SourceKernel &kernel,
                                                          const lint::Contract &contract) const = 0;
};

/// NVRTC, for NVIDIA's chips.
Result<std::shared_ptr<SourceCompiler>> findCudaCompiler(const SourceOptions &options);
/// hiprtc, for AMD's, and what disassembles its code objects for the gate; a cache may have none of that.
Result<std::shared_ptr<SourceCompiler>> findHipCompiler(const SourceOptions &options, std::shared_ptr<Compiler> plugin);

/// What both write into `meta`, in milliseconds.
class StepTimes {
public:
  StepTimes();
  /// The time since the last step, or since the beginning.
  void step(const char *name);
  const nlohmann::json &json() const { return times; }

private:
  std::chrono::steady_clock::time_point last;
  nlohmann::json times = nlohmann::json::object();
};

} // namespace interlock
