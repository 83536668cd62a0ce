// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// hiprtc, found at run time and run in a process of its own.
#pragma once

#include "interlock/source.hpp"

#include <chrono>
#include <memory>
#include <string>

namespace interlock {

struct HiprtcOutput {
  std::string object;  ///< the code object
  std::string entry;   ///< the kernel's name in it
  std::string version; ///< "hiprtc 5.2.21153"
};

/// A place where hiprtc was found. Nothing of it is ever loaded into this process. Calls are thread safe.
class Hiprtc {
public:
  /// Looks for `options.hiprtcPath`, or, if it is empty, for libhiprtc.so and, before ROCm 6, libamdhip64.so, and for
  /// the program that runs it. `notFound`, in one sentence, if either is missing.
  static Result<std::shared_ptr<Hiprtc>> find(const SourceOptions &options);

  /// What a cache key needs to know of it: the builds of the libraries that it consists of.
  const std::string &identity() const { return build; }

  const std::string &path() const { return library; }
  const std::string &version() const { return versionName; }

  /// The first line of an error says what is wrong and where, the log follows. `unsupported`, before anything is
  /// started, for a chip that this version is not known to compile for (HiprtcTargets.def).
  Result<HiprtcOutput> compile(const SourceKernel &kernel) const;

private:
  Hiprtc() = default;
  Status checkTarget(const std::string &target) const;

  std::string library, helper, build, versionName;
  uint32_t major = 0, minor = 0; ///< of HIP, as the library's file name has it
  std::chrono::seconds limit{};
};

} // namespace interlock
