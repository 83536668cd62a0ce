// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// Kernels given as source: CUDA C++, compiled in the process by NVRTC, or HIP C++, compiled in another one by hiprtc;
// judged by scope-lint, kept in the same cache as generated kernels.
#pragma once

#include "interlock/device.hpp"

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace interlock INTERLOCK_API {

class KernelCache;

/// A text, and its name as `#include`, `__FILE__` and messages have it: no path of this machine.
struct SourceText {
  std::string name;
  std::string text;
};

/// Everything that decides what the kernel becomes, but the compiler. Nothing is read from files.
struct SourceKernel {
  SourceText source{"kernel.cu", {}};
  std::string entry; ///< the kernel as the source would name it: `add`, `moe::add<float, 4>`
  /// As NVRTC or hiprtc takes them: `-DN=4`, `--use_fast_math`. Those that name files or another chip are refused.
  std::vector<std::string> options;
  std::vector<SourceText> headers; ///< whatever is included, each by the name that it is included by
  std::string target = "sm_90a";   ///< a chip of targets(); for one of AMD's the source is HIP C++
  /// What the source cannot say of itself, as scope-lint reads it from a contract file: who shares the memory behind a
  /// parameter, and findings that its author has weighed (`waive SL27 kernel add: all CTAs are resident`).
  std::string contract;
};

struct SourceOptions {
  std::string nvrtcPath; ///< of libnvrtc.so; empty: as the loader finds it, or in the toolkit's usual place
  /// Of ROCm's libhiprtc.so or, of ROCm 5, libamdhip64.so; empty: as the loader finds it, or in /opt/rocm.
  std::string hiprtcPath = {};
  std::string hiprtcHelper = {}; ///< the program that runs it; empty: interlock-hiprtc beside the library or in ../bin
  uint32_t hiprtcSeconds = 300;  ///< that one compilation may take there
};

struct CompiledSource {
  KernelImage image;         ///< what a driver loads
  uint32_t blockThreads = 0; ///< threads per CTA that it must be launched with; 0: the launch decides
  uint32_t maxThreads = 0;   ///< most of them; 0: no bound is stated
  uint32_t cluster = 1;      ///< CTAs per cluster
  uint32_t sharedBytes = 0;  ///< static shared memory per CTA
  std::string meta;          ///< JSON: what is above, findings, the compiler's time
  std::string_view outcome;  ///< "memory", "disk" or "miss"
  std::string reason;        ///< why it was not found at once
  double milliseconds = 0;   ///< that it took
};

/// From the cache, or compiled once, judged, and left there. What hiprtc makes is judged as the cache's compiler plugin
/// disassembles it. `compile` if the compiler refuses it, or if an access is
/// not ordered: the first line says which and where. What failed is tried again by the next call.
[[nodiscard]] Result<CompiledSource> compileSource(KernelCache &cache, const SourceKernel &kernel,
                                                   const SourceOptions &options = {});

/// Name of its entry on disk.
[[nodiscard]] Result<std::string> keyOfSource(KernelCache &cache, const SourceKernel &kernel,
                                              const SourceOptions &options = {});

} // namespace interlock INTERLOCK_API
