// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// What the compiler makes of a spec and the cache keeps: the text, the binary, and what a launch needs to know.
#pragma once

#include "interlock/spec.hpp"

#include <nlohmann/json.hpp>

#include <string>

namespace interlock {

/// What a launch needs to know of a kernel.
struct LaunchFacts {
  std::string entry;                       ///< name of the kernel in the text
  std::string ptxIsa;                      ///< "8.6"; empty for AMD chips
  uint32_t blockThreads = 0;               ///< threads per CTA that the kernel was made for
  uint32_t cluster = 1;                    ///< CTAs per cluster
  uint32_t sharedBytes = 0;                ///< static shared memory per CTA
  bool cooperative = false;                ///< needs all its CTAs to be resident together: mode `cooperative`
  LaunchMode launchMode = LaunchMode::any; ///< what a launch must grant it, as the compiler derived it
};

struct Artifact {
  KernelSpec spec;
  /// The canonical form of the source that it was made of (SourceRequest.h), which takes the spec's place: of the spec
  /// only the target counts then. Empty: it was made of the spec.
  std::string source;
  std::string text;    ///< PTX, or AMDGCN assembly
  std::string binary;  ///< cubin, or empty: the driver assembles the text; or hsaco
  nlohmann::json meta; ///< the compiler's `meta` part: facts, remarks, findings, timings
  LaunchFacts facts;
};

/// What it was made of, as the key hashes it.
std::string formOf(const Artifact &artifact);

/// Puts the compiler's parts together. `internal` if the meta part is not what CompilerPlugin.h promises.
Result<Artifact> makeArtifact(const KernelSpec &spec, std::string text, std::string binary, const std::string &meta);

} // namespace interlock
